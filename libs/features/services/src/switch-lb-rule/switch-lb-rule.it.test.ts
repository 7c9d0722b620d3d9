import { serviceAnnotations } from '@kube-ovn/annotations'
import {
  apiVersion,
  subnetResource,
  switchLbRuleResource,
  vipResource,
  vpcResource,
  type SwitchLbRule,
} from '@kube-ovn/kube-api'
import { endpoints, endpointSlices, namespaces, services } from '@kube-ovn/kube-api/core'
import {
  endpointSlice,
  namespace,
  service,
  subnet,
  switchLbRule,
  vip,
  vpc,
  type SwitchLbRuleFields,
} from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const tcp = 'cluster-tcp-loadbalancer'
const nothing = { transactions: 0, writes: [] }
const place = { namespace: 'default', name: 'slr-rule' }

/** Entries of a load balancer but for that of the API server. */
function vipsOf(control: Controller, name = tcp): Readonly<Record<string, string>> {
  const row = control.named('Load_Balancer', name)
  return Object.fromEntries(Object.entries(row?.vips ?? {}).filter(([key]) => !key.includes(':443')))
}

async function create(fields: SwitchLbRuleFields = {}): Promise<SwitchLbRule> {
  return cluster.client.create(switchLbRuleResource, switchLbRule(fields))
}

const port = { name: 'http', port: 8080, protocol: 'TCP' } as const

/** As the controllers of Kubernetes make one of a Service. */
async function fill(
  rule = 'rule',
  addresses: readonly string[] = ['10.16.0.2'],
  name = `${rule}-1`,
): Promise<void> {
  const addressType = addresses[0]?.includes(':') === true ? 'IPv6' : 'IPv4'
  const slice = { name, service: `slr-${rule}`, addressType, endpoints: addresses, ports: [port] } as const
  await cluster.client.create(endpointSlices, endpointSlice(slice))
}

async function statusOf(name = 'rule'): Promise<string> {
  const { status } = (await cluster.client.get(switchLbRuleResource, { name })) ?? {}
  const [ready] = status?.conditions ?? []
  return `${status?.service ?? ''} ${status?.ports ?? ''} ${ready?.status} ${ready?.reason} ${ready?.message ?? ''}`.trim()
}

describe('a SwitchLBRule', () => {
  it('has a headless Service, is served, follows its changes, and leaves nothing behind', async () => {
    await using control = await cluster.startSettled()
    const ports = [
      { name: 'http', port: 8888, targetPort: 8080, protocol: 'TCP' },
      { name: 'dns', port: 53, targetPort: 5353, protocol: 'UDP' },
    ]
    const { metadata } = await create({ sessionAffinity: 'ClientIP', ports })
    await control.settle()
    const made = await cluster.client.get(services, place)
    expect(made?.spec).toMatchObject({
      type: 'ClusterIP',
      clusterIP: 'None',
      selector: { app: 'web' },
      sessionAffinity: 'ClientIP',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports,
    })
    expect(made?.metadata.ownerReferences).toEqual([
      { apiVersion, kind: 'SwitchLBRule', name: 'rule', uid: metadata.uid },
    ])
    expect(await statusOf()).toMatch(
      /^default\/slr-rule 8888\/TCP,53\/UDP False NoBackends .*; see that there are/,
    )
    const dns = { name: 'dns', port: 5353, protocol: 'UDP' } as const
    const slice = { name: 'rule-1', service: 'slr-rule', endpoints: ['10.16.0.2', '10.16.0.3'] }
    await cluster.client.create(endpointSlices, endpointSlice({ ...slice, ports: [port, dns] }))
    await control.settle()
    expect(vipsOf(control, 'cluster-tcp-session-loadbalancer')).toEqual({
      '1.1.1.1:8888': '10.16.0.2:8080,10.16.0.3:8080',
    })
    expect(vipsOf(control, 'cluster-udp-session-loadbalancer')).toEqual({
      '1.1.1.1:53': '10.16.0.2:5353,10.16.0.3:5353',
    })
    expect(await statusOf()).toBe('default/slr-rule 8888/TCP,53/UDP True Served')

    const fewer = { selector: ['tier:front'], sessionAffinity: 'None', ports: [{ ...ports[0], port: 9999 }] }
    await cluster.user.edit(switchLbRuleResource, 'rule', fewer)
    await control.settle()
    expect(vipsOf(control, 'cluster-udp-session-loadbalancer')).toEqual({})
    expect(vipsOf(control)).toEqual({ '1.1.1.1:9999': '10.16.0.2:8080,10.16.0.3:8080' })
    expect((await cluster.client.get(services, place))?.spec?.selector).toEqual({ tier: 'front' })
    expect(await statusOf()).toBe('default/slr-rule 9999/TCP True Served')

    await cluster.client.remove(switchLbRuleResource, { name: 'rule' })
    await control.settle()
    expect(await cluster.client.get(services, place)).toBeUndefined()
    expect(vipsOf(control)).toEqual({})
    expect(control.problems()).toEqual([])
  })

  it('has addresses of both families', async () => {
    await using control = await cluster.startSettled()
    await create({ vip: '1.1.1.1,fd00:1::1' })
    await fill()
    await control.settle()
    expect(await statusOf()).toContain('for fd00:1::1 port 80')
    await fill('rule', ['fd00:10:16::2'], 'rule-2')
    await control.settle()
    expect(vipsOf(control)).toEqual({
      '1.1.1.1:80': '10.16.0.2:8080',
      '[fd00:1::1]:80': '[fd00:10:16::2]:8080',
    })
    const { spec } = (await cluster.client.get(services, place)) ?? {}
    expect([spec?.ipFamilies, spec?.ipFamilyPolicy]).toEqual([['IPv4', 'IPv6'], 'PreferDualStack'])
    // The first family of a Service can not be changed.
    await cluster.user.edit(switchLbRuleResource, 'rule', { vip: 'fd00:1::2' })
    await control.settle()
    expect(vipsOf(control)).toEqual({ '[fd00:1::2]:80': '[fd00:10:16::2]:8080' })
    expect((await cluster.client.get(services, place))?.spec?.ipFamilies).toEqual(['IPv6'])
    expect(await statusOf()).toBe('default/slr-rule 80/TCP True Served')
    expect(control.problems()).toEqual([])
  })

  it('has Endpoints where the backends are given by their addresses', async () => {
    await using control = await cluster.startSettled()
    await create({ endpoints: ['10.16.0.2', 'fd00:10:16::2'] })
    await control.settle()
    const made = await cluster.client.get(endpoints, place)
    expect(made?.subsets).toEqual([
      { addresses: [{ ip: '10.16.0.2' }, { ip: 'fd00:10:16::2' }], ports: [port] },
    ])
    const { selector } = (await cluster.client.get(services, place))?.spec ?? {}
    expect(selector).toBeUndefined()
    await cluster.user.edit(switchLbRuleResource, 'rule', { endpoints: ['10.16.0.3'] })
    await control.settle()
    expect((await cluster.client.get(endpoints, place))?.subsets?.[0]?.addresses).toEqual([
      { ip: '10.16.0.3' },
    ])

    const { metadata: before } = (await cluster.client.get(services, place)) ?? {}
    await cluster.user.edit(switchLbRuleResource, 'rule', { endpoints: null, selector: ['app:web'] })
    await control.settle()
    // Slices of the Service before are not those of this one.
    expect((await cluster.client.get(services, place))?.metadata.uid).not.toBe(before?.uid)
    expect(await cluster.client.get(endpoints, place)).toBeUndefined()
    expect(control.problems()).toEqual([])
  })

  it('moves to another namespace once it is there', async () => {
    await using control = await cluster.startSettled()
    await create()
    await fill()
    await control.settle()
    await cluster.user.edit(switchLbRuleResource, 'rule', { namespace: 'shop' })
    await control.settle()
    expect(await statusOf()).toMatch(
      /^default\/slr-rule .* NotAsWritten .*field=spec.namespace value=shop\); create the namespace/,
    )
    expect(vipsOf(control)).toEqual({ '1.1.1.1:80': '10.16.0.2:8080' })
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    await control.settle()
    expect(await cluster.client.get(services, place)).toBeUndefined()
    expect(await cluster.client.get(services, { ...place, namespace: 'shop' })).toBeDefined()
    expect(await statusOf()).toMatch(/^shop\/slr-rule .* NoBackends/)
    expect(vipsOf(control)).toEqual({})
  })

  it('is of the VPC that its annotations name, which may come later', async () => {
    const { logicalRouter, logicalSwitch } = serviceAnnotations
    await using control = await cluster.startSettled()
    const annotations = { [logicalRouter.key]: 'red', [logicalSwitch.key]: 'red1' }
    await create({ annotations })
    await fill('rule', ['10.30.0.2'])
    await control.settle()
    expect(await statusOf()).toContain(`field=${logicalRouter.key} value=red); create the Vpc`)
    await cluster.client.create(vpcResource, vpc({ name: 'red' }))
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'red1', vpc: 'red', cidrBlock: '10.30.0.0/24' }),
    )
    await control.settle()
    expect(vipsOf(control, 'vpc-red-tcp-load')).toEqual({ '1.1.1.1:80': '10.30.0.2:8080' })
    expect(await statusOf()).toBe('default/slr-rule 80/TCP True Served')
    const merge = { metadata: { annotations: { [logicalRouter.key]: null, [logicalSwitch.key]: null } } }
    await cluster.client.patch(switchLbRuleResource, { name: 'rule' }, 'application/merge-patch+json', merge)
    await control.settle()
    const { annotations: left = {} } = (await cluster.client.get(services, place))?.metadata ?? {}
    expect(Object.keys(left).sort()).toEqual([serviceAnnotations.switchLbVip.key, serviceAnnotations.vpc.key])
  })

  it('costs nothing at a restart, which catches up with what happened meanwhile', async () => {
    {
      await using control = await cluster.startSettled()
      await create()
      await create({ name: 'fixed', vip: '1.1.1.2', endpoints: ['10.16.0.2'] })
      await fill()
      await fill('fixed')
      await control.settle()
    }
    {
      await using control = await cluster.startController()
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    await cluster.client.remove(switchLbRuleResource, { name: 'rule' })
    await cluster.client.remove(switchLbRuleResource, { name: 'fixed' })
    await using control = await cluster.startController()
    await control.settle()
    expect(vipsOf(control)).toEqual({})
    expect(await cluster.client.get(services, place)).toBeUndefined()
    expect(await cluster.client.get(endpoints, { namespace: 'default', name: 'slr-fixed' })).toBeUndefined()
  })

  it('takes over the Service that the original made, and none of somebody else', async () => {
    const annotations = { [serviceAnnotations.switchLbVip.key]: '1.1.1.1' }
    const theirs = service({ name: 'slr-rule', clusterIP: 'None', annotations, selector: { app: 'old' } })
    await cluster.client.create(services, theirs)
    await cluster.client.create(services, service({ name: 'slr-other', selector: { app: 'mine' } }))
    await using control = await cluster.startSettled()
    await create()
    await create({ name: 'other' })
    await control.settle()
    const taken = await cluster.client.get(services, place)
    expect(taken?.spec?.selector).toEqual({ app: 'web' })
    expect(taken?.metadata.ownerReferences?.[0]?.name).toBe('rule')
    const other = await cluster.client.get(services, { namespace: 'default', name: 'slr-other' })
    expect(other?.spec?.selector).toEqual({ app: 'mine' })
    expect(await statusOf('other')).toContain('or delete the Service default/slr-other, which is another one')
  })

  it('is put back by whoever breaks what it made', async () => {
    await using control = await cluster.startSettled()
    await create()
    await fill()
    await control.settle()
    await cluster.client.patch(services, place, 'application/merge-patch+json', {
      metadata: { annotations: { [serviceAnnotations.switchLbVip.key]: 'nonsense' } },
      spec: { selector: { app: null, other: '1' } },
    })
    await control.settle()
    expect((await cluster.client.get(services, place))?.spec?.selector).toEqual({ app: 'web' })
    await cluster.client.remove(services, place)
    await control.settle()
    expect(await cluster.client.get(services, place)).toBeDefined()
    expect(vipsOf(control)).toEqual({ '1.1.1.1:80': '10.16.0.2:8080' })
  })
})

describe('two that want one address and port', () => {
  it('are served as far as they do not: the older one has it, the other one says so, and gets it when it is free', async () => {
    await using control = await cluster.startSettled()
    await create()
    await fill()
    await control.settle()
    const ports = [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'more', port: 81, targetPort: 8080 },
    ]
    // Times of creation are whole seconds: names decide within one.
    await create({ name: 'rule2', ports })
    const slice = { name: 'rule2-1', service: 'slr-rule2', endpoints: ['10.16.0.9'] }
    await cluster.client.create(
      endpointSlices,
      endpointSlice({ ...slice, ports: [port, { ...port, name: 'more' }] }),
    )
    await control.settle()
    expect(vipsOf(control)).toEqual({ '1.1.1.1:80': '10.16.0.2:8080', '1.1.1.1:81': '10.16.0.9:8080' })
    expect(await statusOf()).toBe('default/slr-rule 80/TCP True Served')
    expect(await statusOf('rule2')).toContain(
      'value=1.1.1.1:80/tcp holder=default/slr-rule); choose another address or port',
    )
    expect(await cluster.user.told('rule2')).toHaveLength(1)
    await cluster.client.remove(switchLbRuleResource, { name: 'rule' })
    await control.settle()
    expect(vipsOf(control)).toEqual({ '1.1.1.1:80': '10.16.0.9:8080', '1.1.1.1:81': '10.16.0.9:8080' })
    expect(await statusOf('rule2')).toBe('default/slr-rule2 80/TCP,81/TCP True Served')
  })

  it('leave it to the Service whose cluster address it is, and have other ports of it', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(services, service({ clusterIP: '10.96.100.1' }))
    await cluster.client.create(endpointSlices, endpointSlice({ endpoints: ['10.16.0.5'] }))
    await create({ vip: '10.96.100.1' })
    await fill()
    await control.settle()
    expect(vipsOf(control)).toEqual({ '10.96.100.1:80': '10.16.0.5:8080' })
    expect(await statusOf()).toContain('holder=default/web')
    await cluster.user.edit(switchLbRuleResource, 'rule', {
      ports: [{ name: 'http', port: 90, targetPort: 8080 }],
    })
    await control.settle()
    expect(vipsOf(control)).toEqual({
      '10.96.100.1:80': '10.16.0.5:8080',
      '10.96.100.1:90': '10.16.0.2:8080',
    })
    expect(await statusOf()).toBe('default/slr-rule 90/TCP True Served')
    await cluster.client.remove(switchLbRuleResource, { name: 'rule' })
    await control.settle()
    expect(vipsOf(control)).toEqual({ '10.96.100.1:80': '10.16.0.5:8080' })
  })
})

describe('an address inside of a subnet', () => {
  it('is found there by a Vip for which the router answers, and must be the own one of nobody', async () => {
    await using control = await cluster.startSettled()
    await create({ vip: '10.16.0.77' })
    await fill()
    await control.settle()
    expect(await statusOf()).toContain(
      'value=10.16.0.77 subnet=ovn-default); create a Vip of type switch_lb_vip',
    )
    const answering = { name: 'answers', subnet: 'ovn-default', type: 'switch_lb_vip', v4ip: '10.16.0.77' }
    await cluster.client.create(vipResource, vip({ ...answering, namespace: 'default' }))
    await control.settle()
    expect(await statusOf()).toBe('default/slr-rule 80/TCP True Served')
    const ports = control.portsOf('Logical_Switch', 'ovn-default')
    expect(ports.filter((name) => name.startsWith('answers'))).toEqual([])
    const toRouter = control.named('Logical_Switch_Port', 'ovn-default-ovn-cluster')
    expect(toRouter?.options['arp_proxy']).toBe('10.16.0.77 fd00:10:16::2')
    // A Vip follows no edit of what it has.
    await cluster.user.edit(vipResource, 'answers', { type: '' })
    await control.settle()
    expect(await statusOf()).toBe('default/slr-rule 80/TCP True Served')
    expect(toRouter?.options).toEqual(
      control.named('Logical_Switch_Port', 'ovn-default-ovn-cluster')?.options,
    )
    await cluster.client.remove(vipResource, { name: 'answers' })
    await cluster.client.create(
      vipResource,
      vip({ name: 'plain', subnet: 'ovn-default', v4ip: '10.16.0.77' }),
    )
    await control.settle()
    expect(await statusOf()).toContain('holder=vip plain); choose an address that nobody has')
    await cluster.user.edit(switchLbRuleResource, 'rule', { vip: '10.16.0.1' })
    await control.settle()
    expect(await statusOf()).toContain('holder=the gateway')
    await cluster.user.edit(switchLbRuleResource, 'rule', { vip: '9.9.9.9' })
    await control.settle()
    expect(await statusOf()).toBe('default/slr-rule 80/TCP True Served')
  })
})

it('keeps what it had while an edit can not be used, and tells so once', async () => {
  await using control = await cluster.startSettled()
  await create()
  await fill()
  await control.settle()
  await cluster.user.edit(switchLbRuleResource, 'rule', { vip: 'nonsense' })
  await control.settle()
  expect(await statusOf()).toMatch(
    /^default\/slr-rule 80\/TCP False NotAsWritten .*field=spec.vip value=nonsense/,
  )
  expect(await cluster.user.told('rule')).toHaveLength(1)
  expect(vipsOf(control)).toEqual({ '1.1.1.1:80': '10.16.0.2:8080' })
})

it('is served by the address that a user wrote on a headless Service of his own', async () => {
  const annotations = { [serviceAnnotations.switchLbVip.key]: '2.2.2.2' }
  await cluster.client.create(services, service({ clusterIP: 'None', annotations }))
  await cluster.client.create(endpointSlices, endpointSlice({ endpoints: ['10.16.0.2'] }))
  await using control = await cluster.startSettled()
  expect(vipsOf(control)).toEqual({ '2.2.2.2:80': '10.16.0.2:8080' })
  await cluster.client.patch(
    services,
    { namespace: 'default', name: 'web' },
    'application/merge-patch+json',
    {
      metadata: { annotations: { [serviceAnnotations.switchLbVip.key]: '2.2.2.2,3.3.3.3' } },
    },
  )
  await control.settle()
  expect(vipsOf(control)).toEqual({ '2.2.2.2:80': '10.16.0.2:8080' })
  expect(await cluster.user.told('web')).toContainEqual(
    expect.stringContaining('give at most one value per family'),
  )
})
