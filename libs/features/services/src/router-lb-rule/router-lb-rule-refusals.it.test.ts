import { serviceAnnotations } from '@kube-ovn/annotations'
import { ovnEipResource, routerLbRuleResource, vpcResource } from '@kube-ovn/kube-api'
import { endpointSlices, namespaces, nodes, services } from '@kube-ovn/kube-api/core'
import { endpointSlice, namespace, service, vpc, type RouterLbRuleFields } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import {
  mergePatch,
  onRouter,
  own,
  place,
  port,
  routerRuleScene,
  served,
  vipsOf,
} from './router-lb-rule.it-fixture.ts'

const { cluster, createVpc, createEip, create, fill, statusOf } = routerRuleScene()

describe('two that want one address and port', () => {
  it('are served as far as they do not: the older one has it, the other one says so, and gets it when it is free', async () => {
    await using control = await cluster.startSettled()
    await createEip()
    await create()
    await fill()
    await control.settle()
    // Times of creation are whole seconds: names decide within one. Another protocol is another port.
    const ports = [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'quic', port: 80, targetPort: 8080, protocol: 'UDP' },
    ]
    await create({ name: 'rule2', ports })
    const both = [port, { ...port, name: 'quic', protocol: 'UDP' }] as const
    await cluster.client.create(
      endpointSlices,
      endpointSlice({ name: 'rule2-1', service: 'rlr-rule2', endpoints: ['10.30.0.9'], ports: [...both] }),
    )
    await control.settle()
    expect(vipsOf(control, own)).toEqual({ '10.5.204.50:80': '10.30.0.2:8080' })
    expect(onRouter(control)).toEqual([own, 'default/rlr-rule2/udp'])
    expect(await statusOf()).toBe(served)
    expect(await statusOf('rule2')).toContain(
      'value=10.5.204.50:80/tcp holder=default/rlr-rule); choose another',
    )
    expect((await cluster.user.told('rule2')).filter((text) => text.includes('holder='))).toHaveLength(1)
    await cluster.client.remove(routerLbRuleResource, { name: 'rule' })
    await control.settle()
    expect(onRouter(control)).toEqual(['default/rlr-rule2/tcp', 'default/rlr-rule2/udp'])
    expect(await statusOf('rule2')).toBe('default/rlr-rule2 80/TCP,80/UDP True Served')
  })

  it('do not share an address between the routers of two VPCs', async () => {
    await using control = await cluster.startSettled()
    await createVpc('blue')
    await createEip()
    await create()
    await fill()
    await control.settle()
    await create({ name: 'rule2', vpc: 'blue', ports: [{ name: 'http', port: 81, targetPort: 8080 }] })
    await fill('rlr-rule2')
    await control.settle()
    expect(onRouter(control, 'blue')).toEqual([])
    expect(await statusOf('rule2')).toContain('value=10.5.204.50:81/tcp holder=default/rlr-rule)')
    await cluster.client.remove(routerLbRuleResource, { name: 'rule' })
    await control.settle()
    expect(onRouter(control, 'blue')).toEqual(['default/rlr-rule2/tcp'])
  })
})

describe('what is not as it is written', () => {
  it.each<[string, RouterLbRuleFields, string]>([
    ['no OvnEip', { ovnEip: '' }, 'field=spec.ovnEip); name an OvnEip'],
    ['an OvnEip that is not there', { ovnEip: 'none' }, 'field=spec.ovnEip value=none); create an OvnEip'],
    ['one of a node', { ovnEip: 'n1' }, 'field=spec.ovnEip value=n1); name an OvnEip of type nat'],
    [
      'one of another router',
      { ovnEip: 'blue-external' },
      'value=blue-external); name an OvnEip of type nat',
    ],
  ])('is %s: nothing is left until it is there', async (_what, edit, told) => {
    await using control = await cluster.startSettled()
    await createVpc('blue')
    await createEip()
    await createEip({ name: 'n1', type: 'lsp', v4Ip: '10.5.204.60' })
    await create()
    await fill()
    await control.settle()
    expect(await statusOf()).toBe(served)
    await cluster.user.edit(routerLbRuleResource, 'rule', edit)
    await control.settle()
    expect(await statusOf()).toMatch(/^False NotAsWritten/)
    expect(await statusOf()).toContain(told)
    expect((await cluster.user.told('rule')).filter((text) => text.includes(told))).toHaveLength(1)
    expect(onRouter(control)).toEqual([])
    expect(await cluster.client.get(services, place)).toBeUndefined()
    await cluster.user.edit(routerLbRuleResource, 'rule', { ovnEip: 'eip' })
    await control.settle()
    expect(onRouter(control)).toEqual([own])
    expect(await statusOf()).toBe(served)
  })

  it('is an OvnEip that goes, comes back with another address, or waits for one', async () => {
    await using control = await cluster.startSettled()
    await createEip({ externalSubnet: 'later' })
    await create()
    await fill()
    await control.settle()
    expect(await statusOf()).toContain('value=eip); see the conditions of the OvnEip')
    await cluster.client.remove(ovnEipResource, { name: 'eip' })
    await control.settle()
    expect(await statusOf()).toContain('value=eip); create an OvnEip of this name')
    // Without a subnet it is of the one that leads out of the cluster by default.
    await createEip({ externalSubnet: '', v4Ip: '10.5.204.70' })
    await control.settle()
    expect(vipsOf(control, own)).toEqual({ '10.5.204.70:80': '10.30.0.2:8080' })
    expect(await statusOf()).toBe(served)
    await cluster.client.remove(ovnEipResource, { name: 'eip' })
    await control.settle()
    expect(onRouter(control)).toEqual([])
  })

  it('is a Vpc that is not there, or not connected', async () => {
    await using control = await cluster.startSettled()
    await createEip()
    await create({ vpc: 'blue' })
    await control.settle()
    expect(await statusOf()).toContain('field=spec.vpc value=blue); create the Vpc')
    await cluster.client.create(vpcResource, vpc({ name: 'blue' }))
    await fill()
    await control.settle()
    expect(await statusOf()).toContain('value=blue subnet=external); connect the Vpc to the subnet')
    expect(vipsOf(control, 'vpc-blue-tcp-load')).toEqual({ '10.5.204.50:80': '10.30.0.2:8080' })
    await cluster.user.edit(vpcResource, 'blue', { enableExternal: true })
    await control.settle()
    expect(await statusOf()).toBe(served)
    await cluster.client.patch(nodes, { name: 'n1' }, mergePatch, {
      metadata: { labels: { 'ovn.kubernetes.io/external-gw': null } },
    })
    await control.settle()
    expect(await statusOf()).toContain('there is no gateway node')
  })

  it('keeps what it had while an edit can not be used, and tells so once', async () => {
    await using control = await cluster.startSettled()
    await createEip()
    await create()
    await fill()
    await control.settle()
    await cluster.user.edit(routerLbRuleResource, 'rule', { vpc: 'nowhere' })
    await control.settle()
    expect(await statusOf()).toMatch(/^default\/rlr-rule 80\/TCP False NotAsWritten .*value=nowhere/)
    // Its Service says another one than the rule, as if its namespace had written that.
    expect(onRouter(control)).toEqual([])
    await cluster.user.edit(routerLbRuleResource, 'rule', { vpc: 'red', ports: [] })
    await control.settle()
    expect(await statusOf()).toMatch(/False NotAsWritten .*field=spec.ports/)
    expect(onRouter(control)).toEqual([own])
    const told = await cluster.user.told('rule')
    expect(told.filter((text) => text.includes('value=nowhere'))).toHaveLength(1)
    expect(told.filter((text) => text.includes('field=spec.ports'))).toHaveLength(1)
  })

  it('is a Service that takes an address of the outside without a rule', async () => {
    const { routerLbVip, logicalRouter } = serviceAnnotations
    const annotations = { [routerLbVip.key]: '10.5.204.50', [logicalRouter.key]: 'red' }
    await using control = await cluster.startSettled()
    await createEip()
    await cluster.client.create(services, service({ clusterIP: 'None', annotations }))
    await cluster.client.create(endpointSlices, endpointSlice({ endpoints: ['10.30.0.9'] }))
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    const forged = { name: 'rlr-rule', namespace: 'shop', clusterIP: 'None', annotations }
    await cluster.client.create(services, service(forged))
    await cluster.client.create(endpointSlices, {
      ...endpointSlice({ name: 'rlr-rule-1', service: 'rlr-rule', endpoints: ['10.30.0.9'], ports: [port] }),
      metadata: {
        name: 'rlr-rule-1',
        namespace: 'shop',
        labels: { 'kubernetes.io/service-name': 'rlr-rule' },
      },
    })
    await control.settle()
    expect(onRouter(control)).toEqual([])
    expect(vipsOf(control, 'vpc-red-tcp-load')).toEqual({})
    expect(await cluster.user.told('web')).toContainEqual(expect.stringContaining('make a RouterLBRule'))
    await create()
    await fill()
    await control.settle()
    expect(onRouter(control)).toEqual([own])
    expect(vipsOf(control, own)).toEqual({ '10.5.204.50:80': '10.30.0.2:8080' })
  })

  it.each<[string, Readonly<Record<string, string>>, object, object]>([
    ['a foreign address', { routerLbVip: '10.5.204.77' }, {}, { ports: [] }],
    ['the router of another VPC', { logicalRouter: 'blue' }, {}, { ports: [] }],
    [
      'both, while a finalizer holds what the rule deletes',
      { routerLbVip: '10.5.204.77', logicalRouter: 'blue' },
      { metadata: { finalizers: ['example.com/held'] }, spec: { selector: null } },
      {},
    ],
    [
      'its own address, while a finalizer holds what the rule deletes',
      {},
      { metadata: { finalizers: ['example.com/held'] }, spec: { selector: null } },
      {},
    ],
  ])('is the Service of a rule whose namespace gives it %s', async (_what, written, further, edit) => {
    await using control = await cluster.startSettled()
    await createVpc('blue')
    await createEip()
    await create()
    await fill()
    await control.settle()
    expect(onRouter(control)).toEqual([own])
    // It writes its Service no more, and nothing else.
    await cluster.user.edit(routerLbRuleResource, 'rule', edit)
    await control.settle()
    expect(onRouter(control)).toEqual([own])
    const { routerLbVip, logicalRouter } = serviceAnnotations
    const annotations = {
      [routerLbVip.key]: written.routerLbVip ?? '10.5.204.50',
      [logicalRouter.key]: written.logicalRouter ?? 'red',
    }
    await cluster.client.patch(services, place, mergePatch, further)
    await cluster.client.patch(services, place, mergePatch, { metadata: { annotations } })
    await control.settle()
    const tenants = await cluster.client.get(services, place)
    expect(tenants?.metadata.annotations).toMatchObject(annotations)
    expect([onRouter(control), onRouter(control, 'blue')]).toEqual([[], []])
    expect(vipsOf(control, own) ?? {}).toEqual({})
    expect(vipsOf(control, 'vpc-red-tcp-load')).toEqual({})
    expect(vipsOf(control, 'vpc-blue-tcp-load')).toEqual({})
    if ('metadata' in further)
      expect(await statusOf()).toContain(
        '(field=metadata.finalizers of the Service default/rlr-rule value=example.com/held); have whoever put them there take them away',
      )
    await cluster.client.patch(services, place, mergePatch, { metadata: { finalizers: null } })
    const ports = [{ name: 'http', port: 80, targetPort: 8080 }]
    await cluster.user.edit(routerLbRuleResource, 'rule', { ports })
    await control.settle()
    expect(onRouter(control)).toEqual([own])
    expect(vipsOf(control, own)).toEqual({ '10.5.204.50:80': '10.30.0.2:8080' })
    expect(await statusOf()).toBe(served)
  })
})
