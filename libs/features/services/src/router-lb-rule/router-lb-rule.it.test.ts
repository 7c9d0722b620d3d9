import { podAnnotations, serviceAnnotations } from '@kube-ovn/annotations'
import { apiVersion, routerLbRuleResource, subnetResource } from '@kube-ovn/kube-api'
import { endpoints, endpointSlices, namespaces, services } from '@kube-ovn/kube-api/core'
import { endpointSlice, namespace, service, subnet } from '@kube-ovn/testing-builders'
import { startNorthbound } from '@kube-ovn/testing-ovsdb'
import { describe, expect, it } from 'vitest'
import {
  mergePatch,
  onRouter,
  own,
  place,
  routerRuleScene,
  served,
  vipsOf,
} from './router-lb-rule.it-fixture.ts'

const { cluster, createVpc, createEip, create, fill, statusOf } = routerRuleScene()
const nothing = { transactions: 0, writes: [] }

describe('a RouterLBRule', () => {
  it('has a headless Service, is served at the router and inside, follows its changes, and leaves nothing behind', async () => {
    await using control = await cluster.startSettled()
    await createEip()
    await create()
    await control.settle()
    expect(await statusOf()).toMatch(/^default\/rlr-rule 80\/TCP False NoBackends .*; see that there are/)
    await fill()
    await control.settle()
    const made = await cluster.client.get(services, place)
    expect(made?.spec).toMatchObject({ clusterIP: 'None', selector: { app: 'web' } })
    expect(made?.metadata.ownerReferences).toMatchObject([{ apiVersion, kind: 'RouterLBRule', name: 'rule' }])
    expect(made?.metadata.annotations).toEqual({
      // The OvnEip chose its other one itself.
      'ovn.kubernetes.io/router_lb_vip': expect.stringMatching(/^10\.5\.204\.50,fd00:5::/),
      'ovn.kubernetes.io/logical_router': 'red',
      'ovn.kubernetes.io/vpc': 'red',
    })
    const entries = { '10.5.204.50:80': '10.30.0.2:8080' }
    expect(vipsOf(control, own)).toEqual(entries)
    expect(vipsOf(control, 'vpc-red-tcp-load')).toEqual(entries)
    expect(onRouter(control)).toEqual([own])
    expect(await statusOf()).toBe(served)
    const { metadata, status } = (await cluster.client.get(routerLbRuleResource, { name: 'rule' })) ?? {}
    expect(status?.observedGeneration).toBe(metadata?.generation)

    const ports = [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }]
    await cluster.user.edit(routerLbRuleResource, 'rule', { ports, sessionAffinity: 'ClientIP' })
    await control.settle()
    expect(vipsOf(control, own)).toEqual({ '10.5.204.50:81': '10.30.0.2:8080' })
    expect(control.named('Load_Balancer', own)?.options).toMatchObject({ affinity_timeout: '10800' })
    expect(vipsOf(control, 'vpc-red-tcp-load')).toEqual({})
    expect(vipsOf(control, 'vpc-red-tcp-sess-load')).toEqual({ '10.5.204.50:81': '10.30.0.2:8080' })

    await cluster.client.remove(routerLbRuleResource, { name: 'rule' })
    await control.settle()
    expect(await cluster.client.get(services, place)).toBeUndefined()
    expect(onRouter(control)).toEqual([])
    expect(control.named('Load_Balancer', own)).toBeUndefined()
    expect(vipsOf(control, 'vpc-red-tcp-sess-load')).toEqual({})
    expect(control.problems()).toEqual([])
  })

  it('shows no other Service of the VPC to the outside', async () => {
    const { logicalRouter, logicalSwitch } = serviceAnnotations
    await using control = await cluster.startSettled()
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'red1', vpc: 'red', cidrBlock: '10.30.0.0/24' }),
    )
    const annotations = { [logicalRouter.key]: 'red', [logicalSwitch.key]: 'red1' }
    await cluster.client.create(services, service({ annotations, clusterIP: '10.96.100.1' }))
    await cluster.client.create(endpointSlices, endpointSlice({ endpoints: ['10.30.0.9'] }))
    await createEip()
    await create()
    await fill()
    await control.settle()
    expect(Object.keys(vipsOf(control, 'vpc-red-tcp-load') ?? {}).sort()).toEqual([
      '10.5.204.50:80',
      '10.96.100.1:80',
    ])
    expect(onRouter(control)).toEqual([own])
    expect(vipsOf(control, own)).toEqual({ '10.5.204.50:80': '10.30.0.2:8080' })
  })

  it('is of the Vpc that it names, whatever its backends are, in both families', async () => {
    await using control = await cluster.startSettled()
    await createEip({ v6Ip: 'fd00:5::50' })
    // No Pod says of which VPC these are.
    await create({ endpoints: ['10.30.0.2', 'fd00:30::2'] })
    await fill()
    await fill('rlr-rule', ['fd00:30::2'], 'rlr-rule-2')
    await control.settle()
    const entries = { '10.5.204.50:80': '10.30.0.2:8080', '[fd00:5::50]:80': '[fd00:30::2]:8080' }
    expect(vipsOf(control, own)).toEqual(entries)
    expect(vipsOf(control, 'vpc-red-tcp-load')).toEqual(entries)
    expect(await cluster.client.get(endpoints, place)).toBeDefined()
    const { metadata, spec } = (await cluster.client.get(services, place)) ?? {}
    expect(metadata?.annotations?.[serviceAnnotations.routerLbVip.key]).toBe('10.5.204.50,fd00:5::50')
    expect(spec?.ipFamilies).toEqual(['IPv4', 'IPv6'])
    expect(await statusOf()).toBe(served)
    await cluster.client.remove(endpointSlices, { namespace: 'default', name: 'rlr-rule-2' })
    await control.settle()
    // Which addresses there are is up to the OvnEip: backends of one family are enough.
    expect(await statusOf()).toBe(served)
    expect(vipsOf(control, own)).toEqual({ '10.5.204.50:80': '10.30.0.2:8080' })
  })

  it('moves with its Vpc, its OvnEip and its namespace, and is not left where it was', async () => {
    await using control = await cluster.startSettled()
    await createVpc('blue')
    await createEip()
    await createEip({ name: 'other', v4Ip: '10.5.204.51' })
    await create()
    await fill()
    await control.settle()
    await cluster.user.edit(routerLbRuleResource, 'rule', { vpc: 'blue' })
    await control.settle()
    expect([onRouter(control), onRouter(control, 'blue')]).toEqual([[], [own]])
    expect(vipsOf(control, 'vpc-red-tcp-load')).toEqual({})
    expect(vipsOf(control, 'vpc-blue-tcp-load')).toEqual({ '10.5.204.50:80': '10.30.0.2:8080' })

    // Address and ports in one edit.
    const ports = [{ name: 'http', port: 90, targetPort: 8080 }]
    await cluster.user.edit(routerLbRuleResource, 'rule', { ovnEip: 'other', ports })
    await control.settle()
    expect(vipsOf(control, own)).toEqual({ '10.5.204.51:90': '10.30.0.2:8080' })
    expect(vipsOf(control, 'vpc-blue-tcp-load')).toEqual({ '10.5.204.51:90': '10.30.0.2:8080' })

    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    await cluster.user.edit(routerLbRuleResource, 'rule', { namespace: 'shop' })
    await control.settle()
    expect(await cluster.client.get(services, place)).toBeUndefined()
    expect(await cluster.client.get(services, { ...place, namespace: 'shop' })).toBeDefined()
    expect(onRouter(control, 'blue')).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('costs nothing at a restart, which catches up with what happened meanwhile', async () => {
    {
      await using control = await cluster.startSettled()
      await createEip()
      await create()
      await create({
        name: 'fixed',
        endpoints: ['10.30.0.2'],
        ports: [{ name: 'http', port: 81, targetPort: 8080 }],
      })
      await fill()
      await fill('rlr-fixed')
      await control.settle()
      expect(onRouter(control)).toEqual(['default/rlr-fixed/tcp', own])
    }
    {
      await using control = await cluster.startController()
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    await cluster.client.remove(routerLbRuleResource, { name: 'rule' })
    await cluster.client.remove(routerLbRuleResource, { name: 'fixed' })
    await cluster.client.remove(services, place)
    await using control = await cluster.startController()
    await control.settle()
    expect(onRouter(control)).toEqual([])
    expect(vipsOf(control, 'vpc-red-tcp-load')).toEqual({})
    expect(await cluster.client.get(services, { namespace: 'default', name: 'rlr-fixed' })).toBeUndefined()
    expect(await cluster.client.get(endpoints, { namespace: 'default', name: 'rlr-fixed' })).toBeUndefined()
  })

  it('takes over what the original made, and takes the shared load balancers off the router', async () => {
    await createEip()
    {
      await using control = await cluster.startSettled()
      await control.settle()
    }
    const { northbound } = cluster
    await northbound.nbctl('lr-lb-add', 'red', 'vpc-red-tcp-load')
    await northbound.nbctl('lr-lb-add', 'red', 'vpc-red-udp-load')
    const annotations = {
      [serviceAnnotations.routerLbVip.key]: '10.5.204.50',
      [serviceAnnotations.logicalRouter.key]: 'red',
    }
    const theirs = service({ name: 'rlr-rule', clusterIP: 'None', annotations, selector: { app: 'old' } })
    await cluster.client.create(services, theirs)
    await fill()
    await create()
    await using control = await cluster.startController()
    await control.settle()
    expect(onRouter(control)).toEqual([own])
    expect((await cluster.client.get(services, place))?.spec?.selector).toEqual({ app: 'web' })
    expect(await statusOf()).toBe(served)
  })

  it('is put back by whoever breaks what it made', async () => {
    await using control = await cluster.startSettled()
    await createEip()
    await create()
    await fill()
    await control.settle()
    await cluster.northbound.nbctl('lr-lb-del', 'red')
    await cluster.client.patch(services, place, mergePatch, {
      metadata: { annotations: { [serviceAnnotations.routerLbVip.key]: '10.5.204.77' } },
    })
    await control.settle()
    expect(onRouter(control)).toEqual([own])
    expect(vipsOf(control, own)).toEqual({ '10.5.204.50:80': '10.30.0.2:8080' })
    await cluster.northbound.nbctl('lb-del', own)
    await control.settle()
    expect(onRouter(control)).toEqual([own])
    await cluster.client.remove(services, place)
    await control.settle()
    expect(vipsOf(control, own)).toEqual({ '10.5.204.50:80': '10.30.0.2:8080' })
  })
})

it('leads who is outside to a backend by the flows that ovn-northd makes, in both families', async () => {
  await using control = await cluster.startSettled()
  const subnetOfPods = { name: 'red1', vpc: 'red', cidrBlock: '10.30.0.0/24,fd00:30::/120' }
  await cluster.client.create(subnetResource, subnet(subnetOfPods))
  await createEip({ v6Ip: 'fd00:5::50' })
  await control.settle()
  const annotations = { [podAnnotations().logicalSwitch.key]: 'red1' }
  await cluster.user.createPod({ name: 'w1', labels: { app: 'web' }, annotations })
  await create()
  await control.settle()
  const addresses = (await cluster.user.addressOf('w1')).split(',')
  for (const address of addresses) await fill('rlr-rule', [address], `w1-${address.includes(':') ? 6 : 4}`)
  await control.settle()
  const { mac } = control.named('Logical_Router_Port', 'red-external') ?? {}
  const { server } = cluster.northbound
  const rows = await cluster.northbound.script(
    `ovsdb-client backup ${server.socket} OVN_Northbound | base64 -w 0`,
  )

  await using northbound = await startNorthbound({ northd: true })
  const copy = '/run/ovn/copy.db'
  await northbound.script(
    `base64 -d > ${copy} <<'END'\n${rows}\nEND\novsdb-client restore ${northbound.server.socket} OVN_Northbound < ${copy}`,
  )
  const client = '02:00:00:00:00:09'
  await northbound.nbctl(
    ...['--wait=sb', 'lsp-add', 'external', 'client', '--', 'lsp-set-addresses', 'client', 'unknown'],
  )
  const trace = (flow: string): Promise<string> =>
    northbound.script(
      `ovn-trace --db=${northbound.southbound?.socket} --ct=new --ct=new --summary external ` +
        `'inport == "client" && eth.src == ${client} && ${flow}' 2>/dev/null`,
    )
  // Who asks for the address is told the router's.
  const asked = 'eth.dst == ff:ff:ff:ff:ff:ff && arp.op == 1 && arp.sha == 02:00:00:00:00:09'
  expect(await trace(`${asked} && arp.spa == 10.5.204.200 && arp.tpa == 10.5.204.50`)).toMatch(
    /output to "client"/,
  )
  for (const [ends, [backend]] of [
    ['ip4.src == 10.5.204.200 && ip4.dst == 10.5.204.50', addresses],
    ['ip6.src == fd00:5::c8 && ip6.dst == fd00:5::50', addresses.slice(1)],
  ] as const) {
    const out = await trace(
      `eth.dst == ${mac} && ${ends} && ip.ttl == 64 && tcp.src == 40000 && tcp.dst == 80`,
    )
    expect(out).toContain(`ct_lb_mark`)
    expect(out).toContain(`${backend}`)
    expect(out).toContain('output to "w1.default"')
    const elsewhere = await trace(
      `eth.dst == ${mac} && ${ends} && ip.ttl == 64 && tcp.src == 40000 && tcp.dst == 81`,
    )
    expect(elsewhere).not.toContain('output to "w1.default"')
  }
})
