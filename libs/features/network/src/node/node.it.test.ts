import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { node, pod } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

describe('a node', () => {
  it('is connected, moves and goes', async () => {
    await using control = await cluster.startSettled()
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
    await cluster.user.renumberNode('n2', '172.18.0.99')
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

  it('is connected again when somebody breaks it, and foreign rows beside it stay', async () => {
    await using control = await cluster.startSettled()
    const port = () => control.named('Logical_Switch_Port', 'node-n1')?.addresses
    const policies = () =>
      control
        .rows('Logical_Router_Policy', 'priority', 'match', 'nexthops', 'external_ids')
        .filter(({ external_ids }) => external_ids['node'] === 'n1')
    const before = [port(), policies(), control.portsOf('Port_Group', 'node.n1')]
    expect(policies()).toHaveLength(4)

    const { northbound } = cluster
    await northbound.nbctl('lr-policy-add', 'ovn-cluster', '30000', 'ip4.dst == 9.9.9.9', 'drop')
    await northbound.nbctl('lsp-add', 'join', 'theirs')
    await northbound.nbctl('set', 'Logical_Switch_Port', 'node-n1', 'addresses=unknown')
    await northbound.nbctl('lr-policy-del', 'ovn-cluster', '30000', 'ip4.dst == 172.18.0.11')
    await northbound.nbctl('pg-del', 'node.n1')
    await control.settle()
    expect([port(), policies(), control.portsOf('Port_Group', 'node.n1')]).toEqual(before)
    await northbound.nbctl('lsp-del', 'node-n1')
    await control.settle()
    expect([port(), policies(), control.portsOf('Port_Group', 'node.n1')]).toEqual(before)
    expect(await northbound.nbctl('lr-policy-list', 'ovn-cluster')).toContain('9.9.9.9')
    expect(control.portsOf('Logical_Switch', 'join')).toContain('theirs')
  })

  it('brings annotations from an earlier life, good or bad', async () => {
    await using control = await cluster.startSettled()
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

it.each([
  { gone: 'old', stays: 'new' },
  { gone: 'new', stays: 'old' },
])('leads to one of two nodes with an address, and to $stays when $gone is gone', async ({ gone, stays }) => {
  await using control = await cluster.startSettled()
  const way = () =>
    control
      .rows('Logical_Router_Policy', 'match', 'nexthops')
      .filter(({ match }) => match === 'ip4.dst == 172.18.0.12')
      .map(({ nexthops }) => nexthops.join())
  for (const name of ['old', 'new']) {
    await cluster.client.create(nodes, node({ name, addresses: ['172.18.0.12'] }))
    await control.settle()
    expect(way()).toHaveLength(1)
  }
  await cluster.client.remove(nodes, { name: gone })
  await control.settle()
  expect(way()).toEqual([{ old: '100.64.0.3', new: '100.64.0.4' }[stays]])
  expect(control.problems()).toEqual([])
})

it('moves nodes to another prefix of their network, with all that leads to them', async () => {
  await using control = await cluster.startSettled()
  await cluster.user.edit(subnetResource, 'join', {
    cidrBlock: '100.65.0.0/16,fd00:100:65::/112',
    gateway: '100.65.0.1,fd00:100:65::1',
  })
  await control.settle()
  const { annotations } = (await cluster.client.get(nodes, { name: 'n1' }))?.metadata ?? {}
  expect(annotations).toMatchObject({
    'ovn.kubernetes.io/ip_address': '100.65.0.2,fd00:100:65::2',
    'ovn.kubernetes.io/cidr': '100.65.0.0/16,fd00:100:65::/112',
    'ovn.kubernetes.io/gateway': '100.65.0.1,fd00:100:65::1',
  })
  expect((await cluster.client.get(ipResource, { name: 'node-n1' }))?.spec).toMatchObject({
    v4IpAddress: '100.65.0.2',
    v6IpAddress: 'fd00:100:65::2',
  })
  expect(control.named('Logical_Switch_Port', 'node-n1')?.addresses[0]).toMatch(
    / 100\.65\.0\.2 fd00:100:65::2$/,
  )
  const hops = control.rows('Logical_Router_Policy', 'nexthops').flatMap(({ nexthops }) => nexthops)
  expect(new Set(hops)).toEqual(new Set(['100.65.0.2', 'fd00:100:65::2']))
  const routes = control.rows('Logical_Router_Static_Route', 'nexthop').map(({ nexthop }) => nexthop)
  expect(new Set(routes)).toEqual(new Set(['100.65.0.1', 'fd00:100:65::1']))
  expect(control.problems()).toEqual([])
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
  {
    await using first = await cluster.startController({ settings: v4 })
    await cluster.client.create(pods, pod({ name: 'old', node: 'n1' }))
    await first.settle()
    expect(first.named('Logical_Switch_Port', 'old.default')?.addresses[0]).toMatch(/ 10\.16\.0\.2$/)
  }
  await using second = await cluster.startController()
  await second.settle()
  expect((await cluster.client.get(subnetResource, { name: 'join' }))?.spec?.cidrBlock).toBe(
    '100.64.0.0/16,fd00:100:64::/112',
  )
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
