import { namespaceAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { ipResource, subnetResource, vpcResource } from '@kube-ovn/kube-api'
import type { Subnet } from '@kube-ovn/kube-api'
import { events, namespaces, nodes, pods } from '@kube-ovn/kube-api/core'
import { namespace, node, pod, subnet } from '@kube-ovn/testing-builders'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from './testing/control-cluster.ts'
import type { Controller } from './testing/controller.ts'

let cluster: ControlCluster
beforeAll(async () => {
  cluster = await ControlCluster.start()
})
afterAll(() => cluster[Symbol.asyncDispose]())
beforeEach(() => cluster.reset())

const keys = podAnnotations()

async function start(): Promise<Controller> {
  await cluster.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11', 'fd00:18::11'] }))
  const control = await cluster.startController()
  await control.settle()
  await cluster.forgetCosts()
  return control
}

function edit(
  name: string,
  spec: Record<string, string | boolean | null | readonly (string | object)[]>,
): Promise<Subnet> {
  return cluster.client.patch(subnetResource, { name }, 'application/merge-patch+json', { spec })
}

async function read(name: string): Promise<Subnet | undefined> {
  return cluster.client.get(subnetResource, { name })
}

/** Conditions as `type=status`, and the message of the first. */
async function conditionsOf(name: string): Promise<readonly string[]> {
  const conditions = (await read(name))?.status?.conditions ?? []
  return conditions.map(({ type = '', status = '' }) => `${type}=${status}`)
}

async function messageOf(name: string): Promise<string> {
  const conditions = (await read(name))?.status?.conditions ?? []
  return conditions.find(({ type }) => type === 'Validated')?.message ?? ''
}

async function warnings(about: string): Promise<readonly string[]> {
  const { items } = await cluster.client.list(events)
  return items.filter((event) => event.involvedObject.name === about).map(({ message = '' }) => message)
}

function blueRows(control: Controller): readonly string[] {
  return [
    ...control.rows('Logical_Switch', 'name'),
    ...control.rows('Logical_Switch_Port', 'name'),
    ...control.rows('Logical_Router_Port', 'name'),
    ...control.rows('Logical_Router_Policy', 'match'),
    ...control.rows('Port_Group', 'name'),
    ...control.rows('Address_Set', 'addresses'),
  ]
    .map((row) => JSON.stringify(row))
    .filter((text) => /blue|10\.17\.|fd00:10:17/.test(text))
}

describe('a subnet', () => {
  it('is made, brought into its normal form, changed and removed without a trace', async () => {
    await using control = await start()
    await cluster.client.create(
      subnetResource,
      subnet({
        name: 'blue',
        cidrBlock: '10.17.3.4/24,fd00:10:17::9/120',
        excludeIps: ['10.17.3.5..10.17.3.9'],
      }),
    )
    await control.settle()
    expect((await cluster.costs()).transactions).toBeLessThanOrEqual(3)
    const made = await read('blue')
    expect(made?.spec).toMatchObject({
      cidrBlock: '10.17.3.0/24,fd00:10:17::/120',
      gateway: '10.17.3.1,fd00:10:17::1',
      excludeIps: ['10.17.3.1', '10.17.3.5..10.17.3.9', 'fd00:10:17::1'],
      protocol: 'Dual',
      provider: 'ovn',
      vpc: 'ovn-cluster',
      gatewayType: 'distributed',
    })
    expect(made?.metadata.finalizers).toEqual(['kubeovn.io/kube-ovn-controller'])
    expect(await conditionsOf('blue')).toEqual(['Validated=True', 'Ready=True', 'Error=Unknown'])
    expect(made?.status).toMatchObject({ v4availableIPs: 248, v4usingIPs: 0, v6availableIPs: 253 })
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks).toEqual([
      '10.17.3.1/24',
      'fd00:10:17::1/120',
    ])
    expect(blueRows(control)).toHaveLength(10)
    expect((await cluster.client.get(vpcResource, { name: 'ovn-cluster' }))?.status?.subnets).toContain(
      'blue',
    )

    const { mac } = control.named('Logical_Router_Port', 'ovn-cluster-blue') ?? {}
    await edit('blue', { cidrBlock: '10.17.4.0/24', gateway: '10.17.4.254', excludeIps: [] })
    await control.settle()
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')).toMatchObject({
      mac,
      networks: ['10.17.4.254/24'],
    })
    expect(
      blueRows(control).filter((text) => text.includes('fd00:10:17') || text.includes('10.17.3')),
    ).toEqual([])

    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(await read('blue')).toBeUndefined()
    expect(blueRows(control)).toEqual([])
    expect((await cluster.client.get(vpcResource, { name: 'ovn-cluster' }))?.status?.subnets).not.toContain(
      'blue',
    )
    expect(control.problems()).toEqual([])
  })

  it('keeps the order in which a user wrote its families', async () => {
    await using control = await start()
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'blue', cidrBlock: 'fd00:10:17::/120,10.17.0.0/24' }),
    )
    await cluster.client.create(
      pods,
      pod({ name: 'p', node: 'n1', annotations: { [keys.logicalSwitch.key]: 'blue' } }),
    )
    await control.settle()
    expect((await read('blue'))?.spec).toMatchObject({
      cidrBlock: 'fd00:10:17::/120,10.17.0.0/24',
      gateway: 'fd00:10:17::1,10.17.0.1',
    })
    const told = (await cluster.client.get(pods, { namespace: 'default', name: 'p' }))?.metadata.annotations
    expect(told?.[keys.ipAddress.key]).toBe('10.17.0.2,fd00:10:17::2')
  })

  it('counts the addresses of a /64 exactly', async () => {
    await using control = await start()
    await cluster.client.create(subnetResource, subnet({ name: 'wide', cidrBlock: 'fd00:64::/64' }))
    await cluster.client.create(
      pods,
      pod({ name: 'p', node: 'n1', annotations: { [keys.logicalSwitch.key]: 'wide' } }),
    )
    await control.settle()
    const status = (await read('wide'))?.status
    // 2^64 less a few; the API server keeps numbers beyond 2^63 as floats.
    expect(Number(status?.v6availableIPs)).toBe(2 ** 64)
    expect(status).toMatchObject({ v6usingIPs: 1, v6usingIPrange: 'fd00:64::2', v4availableIPs: 0 })
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  })

  it('tells of excluded addresses that it does not have, once, and works all the same', async () => {
    const excludeIps = ['10.17.0.5', '10.18.0.5', '10.19.0.1..10.19.0.9']
    for (let life = 0; life < 2; life++) {
      await using control = life === 0 ? await start() : await cluster.startController()
      if (life === 0)
        await cluster.client.create(
          subnetResource,
          subnet({ name: 'blue', cidrBlock: '10.17.0.0/24', excludeIps }),
        )
      await control.settle()
      expect(await warnings('blue')).toEqual([
        'spec.excludeIps "10.18.0.5,10.19.0.1..10.19.0.9": choose addresses of the subnet, or remove them; they exclude nothing',
      ])
      expect((await read('blue'))?.status).toMatchObject({ v4availableIPs: 252 })
    }
  })

  it('waits for its last address when it is deleted, and takes no new pod meanwhile', async () => {
    await using control = await start()
    const inBlue = { [keys.logicalSwitch.key]: 'blue' }
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
    await cluster.client.create(pods, pod({ name: 'old', node: 'n1', annotations: inBlue }))
    await control.settle()
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await cluster.client.create(pods, pod({ name: 'new', node: 'n1', annotations: inBlue }))
    await control.settle()
    expect((await read('blue'))?.metadata.deletionTimestamp).toBeDefined()
    expect(control.portsOf('Logical_Switch', 'blue')).toContain('old.default')
    expect((await warnings('new'))[0]).toContain('being deleted')
    const told = 'addresses of the subnet are held by pod/default/old: delete these first'
    expect(await warnings('blue')).toEqual([told])
    expect((await read('blue'))?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Error', status: 'True', reason: 'SubnetInUse', message: told }),
    )
    await cluster.removePod('old')
    await control.settle()
    expect(await read('blue')).toBeUndefined()
    expect(blueRows(control)).toEqual([])
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'blue')).toContain('new.default')
  })

  it('of every cluster comes back when it is deleted', async () => {
    await using control = await start()
    const before = (await read('ovn-default'))?.spec
    await cluster.client.remove(subnetResource, { name: 'ovn-default' })
    await control.settle()
    const after = await read('ovn-default')
    expect(after?.metadata.deletionTimestamp).toBeUndefined()
    expect(after?.spec).toEqual(before)
    await cluster.client.create(pods, pod({ name: 'p', node: 'n1' }))
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'ovn-default')).toContain('p.default')
  })
})

describe('a subnet that can not be used', () => {
  it.each([
    [
      { cidrBlock: '10.16.128.0/24' },
      'spec.cidrBlock',
      'does not overlap 10.16.0.0/16 of subnet ovn-default',
    ],
    [{ cidrBlock: '172.18.0.0/24' }, 'spec.cidrBlock', 'does not contain the address 172.18.0.11 of node n1'],
    [{ cidrBlock: '127.0.0.0/24' }, 'spec.cidrBlock', 'reserved'],
    [{ cidrBlock: '10.17.0.0/32' }, 'spec.cidrBlock', 'at most /31'],
    [{ cidrBlock: '10.17.0.0/24', gateway: '10.18.0.1' }, 'spec.gateway', 'inside 10.17.0.0/24'],
    [
      { cidrBlock: '10.17.0.0/24', excludeIps: ['10.17.0.9..10.17.0.5'] },
      'spec.excludeIps',
      '10.17.0.9..10.17.0.5',
    ],
    [{ cidrBlock: '10.17.0.0/24', vpc: 'other' }, 'spec.vpc', 'ovn-cluster'],
    [{ cidrBlock: '10.17.0.0/24', vlan: 'v10' }, 'spec.vlan', 'not served'],
    [{ cidrBlock: '10.17.0.0/24', gatewayType: 'centralized' }, 'spec.gatewayType', 'distributed'],
  ])('says why, and disturbs nothing: %j', async (spec, field, cure) => {
    await using control = await start()
    await cluster.client.create(subnetResource, subnet({ name: 'blue', ...spec }))
    await control.settle()
    expect(await conditionsOf('blue')).toEqual(['Validated=False', 'Ready=False', 'Error=True'])
    const message = await messageOf('blue')
    expect(message).toContain(field)
    expect(message).toContain(cure)
    expect(await warnings('blue')).toEqual([message])
    expect(blueRows(control)).toEqual([])
    expect((await cluster.costs()).transactions).toBe(0)
    // It can go: nothing of it is in use.
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(await read('blue')).toBeUndefined()
  })

  it('after an edit keeps its pods running, and recovers', async () => {
    await using control = await start()
    const inBlue = { [keys.logicalSwitch.key]: 'blue' }
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
    await cluster.client.create(pods, pod({ name: 'old', node: 'n1', annotations: inBlue }))
    await control.settle()
    const before = blueRows(control)
    await cluster.forgetCosts()
    await edit('blue', { cidrBlock: '10.16.99.0/24', gateway: '' })
    await control.settle()
    expect(await conditionsOf('blue')).toEqual(['Validated=False', 'Ready=False', 'Error=True'])
    expect(blueRows(control)).toEqual(before)
    expect((await cluster.costs()).transactions).toBe(0)
    {
      // A restart finds it in this state.
      await control[Symbol.asyncDispose]()
      await cluster.forgetCosts()
      await using second = await cluster.startController()
      await second.settle()
      expect(blueRows(second)).toEqual(before)
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      await edit('blue', { cidrBlock: '10.17.0.0/24' })
      await second.settle()
      expect(await conditionsOf('blue')).toEqual(['Validated=True', 'Ready=True', 'Error=False'])
      await cluster.client.create(pods, pod({ name: 'new', node: 'n1', annotations: inBlue }))
      await second.settle()
      expect(second.portsOf('Logical_Switch', 'blue')).toEqual([
        'blue-ovn-cluster',
        'new.default',
        'old.default',
      ])
    }
  })

  it('takes effect once the other one goes', async () => {
    await using control = await start()
    await cluster.client.create(subnetResource, subnet({ name: 'red', cidrBlock: '10.17.0.0/16' }))
    await control.settle()
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.1.0/24' }))
    await control.settle()
    expect(await messageOf('blue')).toContain('10.17.0.0/16 of subnet red')
    await cluster.client.remove(subnetResource, { name: 'red' })
    await control.settle()
    expect(await conditionsOf('blue')).toEqual(['Validated=True', 'Ready=True', 'Error=False'])
    expect(control.named('Logical_Switch', 'blue')).toBeDefined()
  })
})

describe('a namespace', () => {
  async function annotationsOf(name: string): Promise<Readonly<Record<string, string>>> {
    return (await cluster.client.get(namespaces, { name }))?.metadata.annotations ?? {}
  }
  const { logicalSwitch, cidr, excludeIps } = namespaceAnnotations

  it('follows the subnets that are bound to it', async () => {
    await using control = await start()
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    await cluster.client.create(
      namespaces,
      namespace({
        name: 'odd',
        annotations: { [logicalSwitch.key]: 'nowhere', [cidr.key]: ';;;', [excludeIps.key]: '?' },
      }),
    )
    await control.settle()
    const byDefault = {
      [logicalSwitch.key]: 'ovn-default',
      [cidr.key]: '10.16.0.0/16,fd00:10:16::/112',
      [excludeIps.key]: '10.16.0.1,fd00:10:16::1',
    }
    expect(await annotationsOf('shop')).toEqual(byDefault)
    expect(await annotationsOf('odd')).toEqual(byDefault)
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'b', cidrBlock: '10.17.0.0/24', namespaces: ['shop'] }),
    )
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'a', cidrBlock: '10.18.0.0/24', namespaces: ['shop'] }),
    )
    await control.settle()
    expect(await annotationsOf('shop')).toEqual({
      [logicalSwitch.key]: 'a,b',
      [cidr.key]: '10.18.0.0/24;10.17.0.0/24',
      [excludeIps.key]: '10.18.0.1;10.17.0.1',
    })
    expect(await warnings('shop')).toEqual([
      expect.stringContaining('from the subnets a, b, tried in this order'),
    ])
    for (const name of ['a', 'b'])
      expect(await warnings(name)).toEqual([
        expect.stringContaining('from the subnets a, b, tried in this order'),
      ])
    await edit('b', { namespaces: [] })
    await cluster.client.remove(subnetResource, { name: 'a' })
    await control.settle()
    expect(await annotationsOf('shop')).toEqual(byDefault)
  })
})

describe('a namespace that a subnet selects by label', () => {
  const selecting = { namespaceSelectors: [{ matchLabels: { team: 'red' } }] }
  async function subnets(): Promise<string | undefined> {
    const { key } = namespaceAnnotations.logicalSwitch
    return (await cluster.client.get(namespaces, { name: 'shop' }))?.metadata.annotations?.[key]
  }
  function label(team: string | null): Promise<unknown> {
    return cluster.client.patch(namespaces, { name: 'shop' }, 'application/merge-patch+json', {
      metadata: { labels: { team } },
    })
  }

  it('is bound while selector and label are there, or it is named', async () => {
    await using control = await start()
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    await cluster.client.create(subnetResource, subnet({ name: 'b', cidrBlock: '10.17.0.0/24' }))
    const steps: readonly (readonly [what: () => Promise<unknown>, want: string])[] = [
      [() => edit('b', selecting), 'ovn-default'],
      [() => label('red'), 'b'],
      [() => edit('b', { namespaces: ['shop'] }), 'b'],
      [() => edit('b', { namespaceSelectors: [] }), 'b'],
      [() => edit('b', selecting), 'b'],
      [() => edit('b', { namespaces: [] }), 'b'],
      [() => label('blue'), 'ovn-default'],
      [() => label('red'), 'b'],
      [() => label(null), 'ovn-default'],
      [() => edit('b', { namespaces: ['shop'] }), 'b'],
      [() => edit('b', { namespaces: [], namespaceSelectors: [] }), 'ovn-default'],
    ]
    for (const [act, want] of steps) {
      await act()
      await control.settle()
      expect(await subnets()).toBe(want)
    }
    const { key } = namespaceAnnotations.logicalSwitch
    await cluster.client.patch(namespaces, { name: 'shop' }, 'application/merge-patch+json', {
      metadata: { annotations: { [key]: null } },
    })
    await control.settle()
    expect(await subnets()).toBe('ovn-default')
  })
})

describe('rows of others and rows of ours that others change', () => {
  it('are left alone, and put right', async () => {
    await using control = await start()
    const { northbound } = cluster
    const tables = [
      'Logical_Router',
      'Logical_Router_Port',
      'Logical_Router_Static_Route',
      'Logical_Router_Policy',
      'ACL',
      'Address_Set',
      'Port_Group',
      'Logical_Switch',
      'Logical_Switch_Port',
    ] as const
    const shape = () => tables.map((table) => control.rows(table, 'external_ids').length)
    const before = shape()
    const mac = control.named('Logical_Router_Port', 'ovn-cluster-join')?.mac
    await northbound.nbctl('lr-policy-del', 'ovn-cluster')
    await northbound.nbctl('lr-route-del', 'ovn-cluster')
    await northbound.nbctl('lrp-del', 'ovn-cluster-join')
    await northbound.nbctl('pg-del', 'ovn.default.n1', '--', 'pg-del', 'ovn.sg.kubeovn_deny_all')
    await northbound.nbctl('clear', 'NB_Global', '.', 'options')
    await control.settle()
    expect(shape()).toEqual(before)
    expect(control.named('Logical_Router_Port', 'ovn-cluster-join')?.mac).toBe(mac)
    await northbound.nbctl('ls-del', 'join')
    await northbound.nbctl('lr-del', 'ovn-cluster')
    await control.settle()
    expect(shape()).toEqual(before)
    expect(control.named('Logical_Router_Port', 'ovn-cluster-join')?.mac).toBe(mac)
    await northbound.nbctl('set', 'NB_Global', '.', 'options:foreign=kept')
    await northbound.nbctl('lr-policy-add', 'ovn-cluster', '7', 'ip4.src == 9.9.9.9', 'drop')
    await edit('ovn-default', { natOutgoing: false })
    await control.settle()
    expect(await northbound.nbctl('get', 'NB_Global', '.', 'options:foreign')).toBe('kept')
    expect(await northbound.nbctl('get', 'NB_Global', '.', 'options:use_ct_inv_match')).toBe('"false"')
    expect(await northbound.nbctl('lr-policy-list', 'ovn-cluster')).toContain('9.9.9.9')
    expect(control.problems()).toEqual([])
  })
})

describe('a node', () => {
  it('is connected, moves and goes', async () => {
    await using control = await start()
    await cluster.client.create(nodes, node({ name: 'n2', addresses: ['172.18.0.12', 'fd00:18::12'] }))
    await control.settle()
    expect(await cluster.costs()).toEqual({
      transactions: 1,
      writes: ['create ips', 'patch nodes', 'patch subnets/status'],
    })
    const annotations = (await cluster.client.get(nodes, { name: 'n2' }))?.metadata.annotations
    expect(annotations).toMatchObject({
      'ovn.kubernetes.io/ip_address': '100.64.0.3,fd00:100:64::3',
      'ovn.kubernetes.io/port_name': 'node-n2',
      'ovn.kubernetes.io/allocated': 'true',
    })
    const policies = () =>
      control
        .rows('Logical_Router_Policy', 'priority', 'match', 'nexthops', 'external_ids')
        .filter(({ external_ids }) => external_ids['node'] === 'n2')
        .map(({ priority, match, nexthops }) => `${priority} ${match} ${nexthops.join()}`)
    expect(policies()).toEqual([
      '29000 ip4.src == $ovn.default.n2_ip4 100.64.0.3',
      '29000 ip6.src == $ovn.default.n2_ip6 fd00:100:64::3',
      '30000 ip4.dst == 172.18.0.12 100.64.0.3',
      '30000 ip6.dst == fd00:18::12 fd00:100:64::3',
    ])
    const status = { addresses: [{ type: 'InternalIP', address: '172.18.0.99' }] }
    await cluster.client.patch(
      nodes,
      { name: 'n2' },
      'application/merge-patch+json',
      { status },
      { subresource: 'status' },
    )
    await cluster.client.patch(nodes, { name: 'n2' }, 'application/merge-patch+json', {
      metadata: {
        annotations: { 'ovn.kubernetes.io/ip_address': 'nonsense', 'ovn.kubernetes.io/allocated': null },
      },
    })
    await control.settle()
    expect(policies().filter((text) => text.startsWith('30000'))).toEqual([
      '30000 ip4.dst == 172.18.0.99 100.64.0.3',
    ])
    expect((await cluster.client.get(nodes, { name: 'n2' }))?.metadata.annotations).toEqual(annotations)

    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
    expect(policies()).toEqual([])
    expect(control.named('Logical_Switch_Port', 'node-n2')).toBeUndefined()
    expect(control.named('Port_Group', 'node.n2')).toBeUndefined()
    expect(control.named('Port_Group', 'ovn.default.n2')).toBeUndefined()
    expect(await cluster.client.get(ipResource, { name: 'node-n2' })).toBeUndefined()
    await cluster.client.create(nodes, node({ name: 'n2', addresses: ['172.18.0.12'] }))
    await control.settle()
    expect(policies()).toHaveLength(3)
    expect(control.problems()).toEqual([])
  })

  it('brings annotations from an earlier life, good or bad', async () => {
    await using control = await start()
    const recorded = (address: string) => ({
      'ovn.kubernetes.io/allocated': 'true',
      'ovn.kubernetes.io/ip_address': address,
      'ovn.kubernetes.io/mac_address': '00:00:5e:00:53:42',
    })
    await cluster.client.create(
      nodes,
      node({ name: 'n2', addresses: ['172.18.0.12'], annotations: recorded('100.64.0.77,fd00:100:64::77') }),
    )
    await cluster.client.create(
      nodes,
      node({ name: 'n3', addresses: ['172.18.0.13'], annotations: recorded('10.0.0.1') }),
    )
    await cluster.client.create(
      nodes,
      node({ name: 'n4', addresses: ['not an address'], annotations: recorded('?') }),
    )
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'node-n2')?.addresses).toEqual([
      '00:00:5e:00:53:42 100.64.0.77 fd00:100:64::77',
    ])
    for (const name of ['n3', 'n4']) {
      expect(control.named('Logical_Switch_Port', `node-${name}`)?.addresses[0]).toMatch(
        / 100\.64\.0\.\d fd00:100:64::\d$/,
      )
    }
  })
})

it('gives nodes and pods the second family once the flags have it', async () => {
  const v4 = {
    defaultSubnet: {
      name: 'ovn-default',
      cidrBlock: '10.16.0.0/16',
      gateway: '',
      excludeIps: [],
      disableGatewayCheck: false,
    },
    nodeSwitch: { name: 'join', cidrBlock: '100.64.0.0/16', gateway: '', excludeIps: [] },
  }
  await cluster.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11', 'fd00:18::11'] }))
  {
    await using first = await cluster.startController({ settings: v4 })
    await cluster.client.create(pods, pod({ name: 'old', node: 'n1' }))
    await first.settle()
    expect(first.named('Logical_Switch_Port', 'old.default')?.addresses[0]).toMatch(/ 10\.16\.0\.2$/)
  }
  await using second = await cluster.startController()
  await second.settle()
  expect((await read('join'))?.spec?.cidrBlock).toBe('100.64.0.0/16,fd00:100:64::/112')
  expect(second.named('Logical_Switch_Port', 'node-n1')?.addresses[0]).toMatch(
    / 100\.64\.0\.2 fd00:100:64::2$/,
  )
  // A pod that runs keeps what it was told.
  expect(second.named('Logical_Switch_Port', 'old.default')?.addresses[0]).toMatch(/ 10\.16\.0\.2$/)
  await cluster.client.create(pods, pod({ name: 'new', node: 'n1' }))
  await second.settle()
  expect(second.named('Logical_Switch_Port', 'new.default')?.addresses[0]).toMatch(
    / 10\.16\.0\.3 fd00:10:16::2$/,
  )
})
