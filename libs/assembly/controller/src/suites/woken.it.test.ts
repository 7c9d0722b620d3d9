import { networkAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { ipPoolResource, ovnEipResource, subnetResource, vipResource, vpcResource } from '@kube-ovn/kube-api'
import type { JsonValue, ObjectRef, Resource } from '@kube-ovn/kube'
import { namespaces, networkPolicies, nodes, pods } from '@kube-ovn/kube-api/core'
import { ipPool, namespace, node, ovnEip, pod, subnet, vip, vpc } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()

/** Keys that changes concerned while something was done. */
async function wokenBy(control: Controller, act: () => Promise<unknown>): Promise<readonly string[]> {
  await control.settle()
  const before = control.logger.lines.length
  await act()
  await control.settle()
  return control.logger.lines
    .slice(before)
    .filter(({ message }) => message === 'keys woken')
    .flatMap(({ fields }) => fields['keys'] as readonly string[])
    .sort()
}

function patchStatus(resource: Resource, ref: ObjectRef, status: JsonValue): Promise<unknown> {
  const options = { subresource: 'status' }
  return cluster.client.patch(resource, ref, 'application/merge-patch+json', { status }, options)
}

it('what a kubelet writes of a pod and its node that nothing is decided by queues no key', async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop' }))
  await cluster.client.create(pods, pod({ name: 'web', namespace: 'shop', node: 'n1' }))
  await using control = await cluster.startController()
  const ref = { namespace: 'shop', name: 'web' }
  const podStatus = { hostIP: '172.18.0.11', startTime: '2026-01-01T00:00:00Z' }
  expect(await wokenBy(control, () => patchStatus(pods, ref, podStatus))).toEqual([])
  const condition = { type: 'MemoryPressure', status: 'False', lastHeartbeatTime: '2026-01-01T00:00:00Z' }
  expect(
    await wokenBy(control, () => patchStatus(nodes, { name: 'n1' }, { conditions: [condition] })),
  ).toEqual([])
  // Of what decides something it is not so.
  expect(await wokenBy(control, () => patchStatus(pods, ref, { phase: 'Succeeded' }))).toContain(
    'pod-port/shop/web',
  )
})

it('labels of a namespace that bind it to a subnet wake its pods that wait, and no others', async () => {
  await cluster.user.createNodes('n1')
  const selector = { matchLabels: { team: 'red' } }
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'red', cidrBlock: '10.20.0.0/24', namespaceSelectors: [selector] }),
  )
  const annotations = { [podAnnotations().ipAddress.key]: '10.20.0.9' }
  for (const name of ['shop', 'other']) {
    await cluster.client.create(namespaces, namespace({ name }))
    await cluster.client.create(pods, pod({ name: 'waits', namespace: name, node: 'n1', annotations }))
    await cluster.client.create(pods, pod({ name: 'runs', namespace: name, node: 'n1' }))
  }
  await using control = await cluster.startController()
  const label = (labels: Record<string, string>) => () =>
    cluster.client.patch(namespaces, { name: 'shop' }, 'application/merge-patch+json', {
      metadata: { labels },
    })
  expect(await wokenBy(control, label({ color: 'red' }))).toEqual(['namespace/shop'])
  const woken = new Set(await wokenBy(control, label({ team: 'red' })))
  expect(woken).toContain('pod-port/shop/waits')
  expect([...woken].filter((key) => key.includes('other') || key.includes('runs'))).toEqual([])
  expect(control.portsOf('Logical_Switch', 'red')).toContain('waits.shop')
})

describe('labels and selectors of policies', () => {
  const selecting = (app: string) => ({
    podSelector: { matchLabels: { app } },
    ingress: [{ from: [{ podSelector: { matchLabels: { talks: app } } }] }],
  })
  const relabel = (name: string, labels: Readonly<Record<string, string>>) => () =>
    cluster.client.patch(pods, { namespace: 'shop', name }, 'application/merge-patch+json', {
      metadata: { labels },
    })

  /** Two pods under each of two policies, one under none, and a third policy that nobody is under. */
  async function start(): Promise<Controller> {
    await cluster.user.createNodes('n1')
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    for (const app of ['web', 'db', 'nobody'])
      await cluster.client.create(networkPolicies, {
        ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
        ...{ metadata: { namespace: 'shop', name: app }, spec: selecting(app) },
      })
    for (const [name, app] of Object.entries({
      web1: 'web',
      web2: 'web',
      db1: 'db',
      db2: 'db',
      free: 'none',
    }))
      await cluster.user.createPod({ name, namespace: 'shop', labels: { app } })
    return cluster.startController()
  }

  const ownKeys = (keys: readonly string[]): readonly string[] => [...new Set(keys)].sort()

  it('a label of a pod wakes no other pod, and of policies those alone that select somebody now, or nobody any more', async () => {
    await using control = await start()
    /** Beside the keys of the pod itself. */
    const wokenByLabels = async (name: string, labels: Readonly<Record<string, string>>) => {
      const keys = ownKeys(await wokenBy(control, relabel(name, labels)))
      expect(keys).toContain(`pod-port/shop/${name}`)
      return keys.filter((key) => !key.endsWith(`/shop/${name}`))
    }
    // No selector is about it, before or after.
    expect(await wokenByLabels('free', { color: 'red' })).toEqual([])
    // There are others under these policies already.
    expect(await wokenByLabels('free', { app: 'web' })).toEqual([])
    expect(await wokenByLabels('free', { app: 'db' })).toEqual([])
    expect(await wokenByLabels('free', { app: 'nobody' })).toEqual(['network-policy/shop/nobody'])
    expect(await wokenByLabels('free', { talks: 'web' })).toEqual(['network-policy/shop/web'])
    expect(await wokenByLabels('db1', { talks: 'web' })).toEqual([])
    expect(await wokenByLabels('free', { app: 'none', talks: 'none' })).toEqual([
      'network-policy/shop/nobody',
    ])
  })

  it('a selector that is edited wakes its policy, and the pods that it was for or is for now', async () => {
    await using control = await start()
    const select = (policy: string, app: string) => () =>
      cluster.client.patch(
        networkPolicies,
        { namespace: 'shop', name: policy },
        'application/merge-patch+json',
        { spec: { podSelector: { matchLabels: { app } } } },
      )
    const portsOf = (...names: readonly string[]) => names.map((name) => `pod-port/shop/${name}`)
    expect(ownKeys(await wokenBy(control, select('nobody', 'db')))).toEqual([
      'network-policy/shop/nobody',
      ...portsOf('db1', 'db2'),
    ])
    expect(ownKeys(await wokenBy(control, select('nobody', 'web')))).toEqual([
      'network-policy/shop/nobody',
      ...portsOf('db1', 'db2', 'web1', 'web2'),
    ])
  })

  it('a label of a namespace wakes the pods there that a selector is for by it, and no others', async () => {
    await using control = await start()
    await cluster.client.create(namespaces, namespace({ name: 'office' }))
    await cluster.user.createPod({ name: 'a', namespace: 'office' })
    await cluster.user.createPod({ name: 'b', namespace: 'office' })
    const from = [{ namespaceSelector: { matchLabels: { team: 'office' } } }]
    await cluster.client.patch(
      networkPolicies,
      { namespace: 'shop', name: 'web' },
      'application/merge-patch+json',
      { spec: { ingress: [{ from }] } },
    )
    const label = (labels: Readonly<Record<string, string>>) => () =>
      cluster.client.patch(namespaces, { name: 'office' }, 'application/merge-patch+json', {
        metadata: { labels },
      })
    expect(ownKeys(await wokenBy(control, label({ color: 'red' })))).toEqual(['namespace/office'])
    expect(ownKeys(await wokenBy(control, label({ team: 'office' })))).toEqual([
      ...['namespace/office', 'network-policy/shop/web', 'pod-port/office/a', 'pod-port/office/b'],
    ])
  })
})

it('an address that comes free wakes one of the pods that wait in its subnet', async () => {
  await cluster.user.createNodes('n1')
  const keys = podAnnotations()
  for (const [name, cidrBlock] of [
    ['small', '10.20.0.0/30'],
    ['full', '10.21.0.0/30'],
  ] as const) {
    await cluster.client.create(subnetResource, subnet({ name, cidrBlock }))
    for (const count of [1, 2, 3, 4]) {
      const annotations = { [keys.logicalSwitch.key]: name }
      await cluster.client.create(pods, pod({ name: `${name}-${count}`, node: 'n1', annotations }))
    }
  }
  await using control = await cluster.startController()
  await control.settle()
  const [runs = ''] = control.portsOf('Logical_Switch', 'small').filter((port) => port.startsWith('small-'))
  const [name = ''] = runs.split('.')
  const woken = new Set(await wokenBy(control, () => cluster.removePod(name)))
  const others = [...woken].filter((key) => key.startsWith('pod-port/') && key !== `pod-port/default/${name}`)
  const [taken] = control.portsOf('Logical_Switch', 'small').filter((port) => port.startsWith('small-'))
  expect(others).toEqual([`pod-port/default/${taken?.split('.')[0]}`])
})

describe('pods that no address can help', () => {
  const keys = podAnnotations()
  const mac = '00:00:5e:00:53:01'
  const waiting: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'an address that is none': { [keys.ipAddress.key]: '10.20.0.300' },
    'a MAC address that is none': { [keys.macAddress.key]: 'none' },
    'networks that can not be read': { [networkAnnotations.further.key]: '[{' },
    'an address that is not of the subnet': {
      [keys.logicalSwitch.key]: 'small',
      [keys.ipAddress.key]: '10.99.0.9',
    },
    'a subnet that is not there': { [keys.logicalSwitch.key]: 'later' },
    'an IPPool that is not there': { [keys.ipPool.key]: 'later' },
    'a MAC address that is in use': { [keys.logicalSwitch.key]: 'wide', [keys.macAddress.key]: mac },
  }
  const count = 3
  const nameOf = (index: number, copy: number) => `waits-${index}-${copy}`

  /** Some of each, a pod in the only address of `small`, one in `wide`, and one there that has the MAC address. */
  const start = async (): Promise<Controller> => {
    await cluster.user.createNodes('n1')
    await cluster.client.create(subnetResource, subnet({ name: 'small', cidrBlock: '10.20.0.0/30' }))
    await cluster.client.create(subnetResource, subnet({ name: 'wide', cidrBlock: '10.21.0.0/24' }))
    const create = (name: string, annotations: Readonly<Record<string, string>>) =>
      cluster.client.create(pods, pod({ name, node: 'n1', annotations }))
    for (const place of ['small', 'wide']) await create(place, { [keys.logicalSwitch.key]: place })
    await create('mac', { [keys.logicalSwitch.key]: 'wide', [keys.macAddress.key]: mac })
    const control = await cluster.startController()
    await control.settle()
    for (const [index, annotations] of Object.values(waiting).entries())
      for (let copy = 0; copy < count; copy++) await create(nameOf(index, copy), annotations)
    await control.settle()
    return control
  }

  const waitingOf = (keysWoken: readonly string[]): readonly string[] =>
    [...new Set(keysWoken)].filter((key) => key.startsWith('pod-port/default/waits-'))

  it('are not looked at when an address comes free', async () => {
    await using control = await start()
    for (const gone of ['small', 'wide']) {
      const woken = await wokenBy(control, () => cluster.removePod(gone))
      expect(woken).toContain(`pod-port/default/${gone}`)
      expect(waitingOf(woken)).toEqual([])
    }
  })

  it('are served when what they name comes', async () => {
    await using control = await start()
    const indexOf = (what: string) => Object.keys(waiting).indexOf(what)
    const served = (what: string): Promise<readonly string[]> =>
      cluster.user.addressesOf(...Array.from({ length: count }, (_, copy) => nameOf(indexOf(what), copy)))
    await cluster.client.create(subnetResource, subnet({ name: 'later', cidrBlock: '10.22.0.0/24' }))
    await control.settle()
    expect(new Set(await served('a subnet that is not there'))).toEqual(
      new Set(['10.22.0.2', '10.22.0.3', '10.22.0.4']),
    )
    await cluster.client.create(
      ipPoolResource,
      ipPool({ name: 'later', subnet: 'wide', ips: ['10.21.0.50..10.21.0.59'] }),
    )
    await control.settle()
    expect(new Set(await served('an IPPool that is not there'))).toEqual(
      new Set(['10.21.0.50', '10.21.0.51', '10.21.0.52']),
    )
  })

  it('and wait for a MAC address are looked at one for each time that it comes free', async () => {
    await using control = await start()
    const what = Object.keys(waiting).indexOf('a MAC address that is in use')
    let holder = 'mac'
    for (let times = 0; times < count; times++) {
      const woken = await wokenBy(control, () => cluster.removePod(holder))
      const next = waitingOf(woken).filter((key) => key !== `pod-port/default/${holder}`)
      expect(next).toHaveLength(1)
      holder = next[0]?.replace('pod-port/default/', '') ?? ''
      expect(holder).toMatch(new RegExp(`^waits-${what}-`))
      expect((await cluster.user.annotationsOf({ name: holder }))[keys.macAddress.key]).toBe(mac)
      expect(await cluster.user.addressOf(holder)).toMatch(/^10\.21\.0\./)
    }
  })
})

describe('of those who wait for addresses, one alone is woken for each that comes free', () => {
  /** One of each subnet has its only address. */
  const places = ['small', 'full']
  const crowd = places.flatMap((place) => [1, 2, 3, 4].map((count) => ({ place, name: `${place}-${count}` })))
  const createPlaces = async (): Promise<void> => {
    for (const [index, name] of places.entries())
      await cluster.client.create(subnetResource, subnet({ name, cidrBlock: `10.2${index}.0.0/30` }))
  }

  it.each([
    {
      feature: 'vip',
      resource: vipResource,
      create: ({ name, place }: (typeof crowd)[number]) =>
        cluster.client.create(vipResource, vip({ name, subnet: place })),
      has: async (name: string) =>
        (await cluster.client.get(vipResource, { name }))?.status?.v4ip !== undefined,
    },
    {
      feature: 'ovn-eip',
      resource: ovnEipResource,
      create: ({ name, place }: (typeof crowd)[number]) =>
        cluster.client.create(ovnEipResource, ovnEip({ name, externalSubnet: place })),
      has: async (name: string) =>
        (await cluster.client.get(ovnEipResource, { name }))?.status?.ready === true,
    },
  ])('$feature', async ({ feature, resource, create, has }) => {
    await createPlaces()
    for (const one of crowd) await create(one)
    await using control = await cluster.startController()
    await control.settle()
    const served = async (): Promise<readonly string[]> => {
      const names = crowd.filter(({ place }) => place === 'small').map(({ name }) => name)
      const all = await Promise.all(names.map(async (name) => ((await has(name)) ? [name] : [])))
      return all.flat()
    }
    const [first = ''] = await served()
    const woken = new Set(await wokenBy(control, () => cluster.client.remove(resource, { name: first })))
    const others = [...woken].filter((key) => key.startsWith(`${feature}/`) && key !== `${feature}/${first}`)
    const now = await served()
    expect(now).toHaveLength(1)
    expect(others).toEqual(now.map((name) => `${feature}/${name}`))
  })

  it('node', async () => {
    const settings = { nodeSwitch: { name: 'join', cidrBlock: '100.64.0.0/30', gateway: '', excludeIps: [] } }
    await cluster.user.createNodes('n1', 'n2', 'n3', 'n4')
    await using control = await cluster.startController({ settings })
    await control.settle()
    const served = (): readonly string[] =>
      control.portsOf('Logical_Switch', 'join').filter((port) => port.startsWith('node-'))
    const [first = ''] = served().map((port) => port.replace('node-', ''))
    const woken = new Set(await wokenBy(control, () => cluster.client.remove(nodes, { name: first })))
    const others = [...woken].filter((key) => key.startsWith('node/') && key !== `node/${first}`)
    expect(others).toEqual(served().map((port) => port.replace('node-', 'node/')))
    expect(others).toHaveLength(1)
  })
})

it('a node that comes wakes no subnet that has no pods there, where rows are for pairs with pods', async () => {
  await cluster.user.createNodes('n1')
  for (const place of [1, 2, 3])
    await cluster.client.create(
      subnetResource,
      subnet({ name: `blue-${place}`, cidrBlock: `10.20.${place}.0/24` }),
    )
  await using control = await cluster.startController({ flags: { gatewayRowsByPods: true } })
  const pairsOf = (keys: readonly string[]): readonly string[] =>
    [...new Set(keys)].filter((key) => key.startsWith('subnet-gw/'))
  const create = () => cluster.client.create(nodes, node({ name: 'n2', addresses: ['172.18.0.12'] }))
  expect([...new Set(await wokenBy(control, create))]).toEqual([
    ...['chassis-variables/n2', 'node/n2', 'own-node/n2'],
    // It has an address in the network of the nodes.
    ...['subnet-status/join', 'subnet/join'],
  ])
  const annotations = { [podAnnotations().logicalSwitch.key]: 'blue-2' }
  expect(
    pairsOf(await wokenBy(control, () => cluster.user.createPod({ name: 'a', node: 'n2', annotations }))),
  ).toEqual(['subnet-gw/blue-2/n2'])
})

describe('an edit wakes those alone who go by what is edited', () => {
  const rule = (port: number) => ({
    direction: 'to-lport',
    priority: 1001,
    match: `tcp.dst == ${port}`,
    action: 'drop',
  })
  const policyRoute = (source: string) => ({ priority: 10, match: `ip4.src == ${source}`, action: 'drop' })
  const staticRoute = (cidr: string) => ({ cidr, nextHopIP: '10.30.0.254' })

  it.each([
    { name: 'a rule', of: 'blue', spec: { acls: [rule(80)] }, want: ['subnet-acl/blue', 'subnet/blue'] },
    {
      name: 'an excluded address',
      of: 'blue',
      spec: { excludeIps: ['10.20.0.9'] },
      want: ['subnet-status/blue', 'subnet/blue'],
    },
    {
      name: 'natOutgoing',
      of: 'blue',
      spec: { natOutgoing: true },
      want: ['subnet/blue'],
    },
    { name: 'the MTU', of: 'blue', spec: { mtu: 1300 }, want: ['subnet/blue'] },
    {
      name: 'the MTU of the subnet that serves every namespace',
      of: 'ovn-default',
      spec: { mtu: 1300 },
      want: ['subnet/ovn-default'],
    },
    { name: 'the MTU of the network of nodes', of: 'join', spec: { mtu: 1300 }, want: ['subnet/join'] },
    {
      name: 'a policy route',
      of: 'red',
      spec: { policyRoutes: [policyRoute('10.30.0.9')] },
      want: ['vpc-policy/red', 'vpc/red'],
    },
    {
      name: 'a static route',
      of: 'red',
      spec: { staticRoutes: [staticRoute('10.9.0.0/16')] },
      want: ['vpc-route/red', 'vpc/red'],
    },
  ])('$name', async ({ of, spec, want }) => {
    await cluster.user.createNodes('n1', 'n2')
    await cluster.client.create(vpcResource, vpc({ name: 'red' }))
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'blue', cidrBlock: '10.20.0.0/24', acls: [rule(81)] }),
    )
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'red-1', vpc: 'red', cidrBlock: '10.30.0.0/24' }),
    )
    for (const name of ['a', 'b'])
      await cluster.user.createPod({ name, annotations: { [podAnnotations().logicalSwitch.key]: 'blue' } })
    await using control = await cluster.startController()
    const resource: Resource = of === 'red' ? vpcResource : subnetResource
    expect([...new Set(await wokenBy(control, () => cluster.user.edit(resource, of, spec)))]).toEqual(want)
  })
})
