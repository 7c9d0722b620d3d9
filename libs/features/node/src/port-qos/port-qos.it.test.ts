import type { Pod } from '@kube-ovn/kube-api/core'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeOf, TestNode, type TestAgent } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')

const shape = 'ovn.kubernetes.io/ingress_rate'
const police = 'ovn.kubernetes.io/egress_rate'
const bothRates = { [shape]: '300', [police]: '200' }

describe.skipIf(missing)(`quality of service${missing === undefined ? '' : ` (${missing})`}`, () => {
  let node: TestNode
  let agent: TestAgent

  beforeEach(async () => {
    node = await TestNode.start()
    await node.database.vsctl('add-br', 'br-int')
    agent = node.startAgent()
  })
  afterEach(() => node?.[Symbol.asyncDispose]())

  function ask(annotations: Record<string, string>, name = 'web-0'): void {
    const pod: Pod = {
      metadata: { namespace: 'shop', name, uid: `uid-${name}`, annotations },
      spec: { containers: [] },
    }
    node.pods.put(`shop/${name}`, pod)
  }

  async function settle(): Promise<void> {
    expect(await agent.settle()).toEqual([])
  }

  async function addPort(name: string, ifaceId: string, pod = 'web-0'): Promise<void> {
    await node.addPodPort(name, pod, `uid-${pod}`, { 'iface-id': ifaceId })
    await settle()
  }

  /** What a port is like: policing, then type, configuration and queue of what shapes it. */
  function portIs(name: string): readonly unknown[] {
    const { cache } = node.ovs
    const row = cache.find('Interface', 'name', name)[0]
    const port = cache.find('Port', 'name', name)[0]
    const qos = port?.qos === undefined ? undefined : cache.get('QoS', port.qos)
    const queues = Object.entries(qos?.queues ?? {}).map(([id, uuid]) => [
      id,
      cache.get('Queue', uuid)?.other_config,
    ])
    return [
      row?.ingress_policing_rate,
      row?.ingress_policing_burst,
      ...(qos === undefined ? [] : [qos.type, qos.other_config, ...queues]),
    ]
  }

  function countRows(): readonly number[] {
    return [node.ovs.cache.count('QoS'), node.ovs.cache.count('Queue')]
  }

  function told(): readonly unknown[] {
    return agent.log.lines
      .filter(({ level }) => level === 'warn' || level === 'error')
      .map(({ fields }) => fields['err'] ?? fields)
      .map((err) => (err as { readonly details?: unknown }).details)
  }

  it('is as the Pod says from its port on, in one transaction, and in rows that upstream would write', async () => {
    ask(bothRates)
    await addPort('a_h', 'web-0.shop')
    expect(portIs('a_h')).toEqual([
      ...[200_000, 160_000, 'linux-htb', {}],
      ['0', { 'max-rate': '300000000', burst: '30000000' }],
    ])
    for (const table of ['QoS', 'Queue'] as const)
      for (const row of node.ovs.cache.scan(table))
        expect(row.external_ids).toEqual({ 'iface-id': 'web-0.shop', pod: 'shop/web-0' })
    expect(agent.log.lines.filter(({ fields }) => fields['sink'] === 'port-qos')).toHaveLength(1)
  })

  it('follows the Pod, takes bursts as they are given, and goes with the annotations', async () => {
    ask({ ...bothRates, 'ovn.kubernetes.io/ingress_burst': '8', 'ovn.kubernetes.io/egress_burst': '0' })
    await addPort('a_h', 'web-0.shop')
    const queue = { 'max-rate': '300000000', burst: '1000000' }
    expect(portIs('a_h')).toEqual([200_000, 0, 'linux-htb', {}, ['0', queue]])
    const [before] = node.ovs.cache.scan('Queue')
    ask({ [shape]: '50' })
    await settle()
    expect(portIs('a_h')).toEqual([
      0,
      0,
      'linux-htb',
      {},
      ['0', { 'max-rate': '50000000', burst: '5000000' }],
    ])
    const [after] = node.ovs.cache.scan('Queue')
    expect(after?._uuid).toBe(before?._uuid)
    ask({ 'ovn.kubernetes.io/latency': '100', 'ovn.kubernetes.io/jitter': '10' })
    await settle()
    expect(portIs('a_h')).toEqual([0, 0, 'linux-netem', { latency: '100000', jitter: '10000' }])
    ask({ 'ovn.kubernetes.io/loss': '10', 'ovn.kubernetes.io/limit': '20' })
    await settle()
    expect(portIs('a_h')).toEqual([0, 0, 'linux-netem', { loss: '10', limit: '20' }])
    expect(countRows()).toEqual([1, 0])
    ask({ [shape]: '50' })
    await settle()
    expect(portIs('a_h')).toEqual([
      0,
      0,
      'linux-htb',
      {},
      ['0', { 'max-rate': '50000000', burst: '5000000' }],
    ])
    ask({})
    await settle()
    expect([portIs('a_h'), countRows()]).toEqual([
      [0, 0],
      [0, 0],
    ])
  })

  it('is of each network by itself', async () => {
    ask({ [shape]: '10', 'net.shop.ovn.kubernetes.io/egress_rate': '20' })
    await addPort('a_h', 'web-0.shop')
    await addPort('a_net1_h', 'web-0.shop.net.shop.ovn')
    expect(portIs('a_h').slice(0, 3)).toEqual([0, 0, 'linux-htb'])
    expect(portIs('a_net1_h')).toEqual([20_000, 16_000])
  })

  it('of garbage is told with key, value and cure, and what can be read is done', async () => {
    ask({
      [shape]: 'fast',
      [police]: '-1',
      'ovn.kubernetes.io/loss': '101',
      'ovn.kubernetes.io/latency': '5',
    })
    await addPort('a_h', 'web-0.shop')
    expect(portIs('a_h')).toEqual([0, 0, 'linux-netem', { latency: '5000' }])
    expect(told()).toEqual([
      {
        ...{ pod: 'shop/web-0', stage: 'bandwidth', value: 'fast; -1; 101' },
        field: [shape, police, 'ovn.kubernetes.io/loss'].join('; '),
        cure:
          'write a whole number of Mbit/s from 0 to 4294967, or remove it; ' +
          'write a whole number of percent from 0 to 100, or remove it',
      },
    ])
    ask({ [shape]: '10' })
    await settle()
    expect(told()).toHaveLength(1)
    expect(portIs('a_h').slice(2)).toEqual([
      ...['linux-htb', {}],
      ['0', { 'max-rate': '10000000', burst: '1000000' }],
    ])
  })

  it('has a rate or is bad on purpose: the rate goes first, and that is told', async () => {
    ask({ [shape]: '10', 'ovn.kubernetes.io/latency': '5' })
    await addPort('a_h', 'web-0.shop')
    expect(portIs('a_h')[2]).toBe('linux-htb')
    expect(told()).toMatchObject([
      {
        field: 'ovn.kubernetes.io/latency',
        value: '5',
        cure: `remove it, or ${shape}: a port has one of the two`,
      },
    ])
  })

  it('of others stays, and is told', async () => {
    await addPort('a_h', 'web-0.shop')
    await node.database.vsctl(
      ...['--', 'set', 'Port', 'a_h', 'qos=@mine', '--', '--id=@mine', 'create', 'QoS', 'type=linux-sfq'],
    )
    ask(bothRates)
    await settle()
    expect(portIs('a_h')).toEqual([200_000, 160_000, 'linux-sfq', {}])
    expect(told()).toMatchObject([{ field: 'qos of port a_h', value: 'linux-sfq' }])
    await node.database.vsctl('--', 'clear', 'Port', 'a_h', 'qos')
    await expect.poll(() => portIs('a_h')[2]).toBe('linux-htb')
    await settle()
  })

  it('is put right, and stays over a restart without a write', async () => {
    ask(bothRates)
    await addPort('a_h', 'web-0.shop')
    const was = portIs('a_h')
    await node.database.vsctl('set', 'Interface', 'a_h', 'ingress_policing_rate=1')
    await expect.poll(() => portIs('a_h')).toEqual(was)
    await node.database.vsctl('--', 'clear', 'Port', 'a_h', 'qos')
    await expect.poll(() => portIs('a_h')).toEqual(was)
    await settle()
    await agent.stop()
    agent = node.startAgent()
    await settle()
    expect([
      portIs('a_h'),
      await agent.writes(),
      agent.log.lines.filter(({ fields }) => fields['sink'] === 'port-qos'),
    ]).toEqual([was, 0, []])
  })

  it('leaves no row behind: of a port that goes, of one that others took away, of an earlier agent', async () => {
    ask(bothRates)
    ask(bothRates, 'web-1')
    await addPort('a_h', 'web-0.shop')
    await addPort('b_h', 'web-1.shop', 'web-1')
    expect(countRows()).toEqual([2, 2])
    await node.podNics.removePort('a_h')
    expect(countRows()).toEqual([1, 1])
    await node.database.vsctl('del-port', 'br-int', 'b_h')
    await expect.poll(() => countRows()).toEqual([0, 0])
    await agent.stop()
    await node.database.vsctl(
      ...['--', '--id=@q', 'create', 'Queue', 'external_ids:iface-id=x.y', '--'],
      ...['create', 'QoS', 'type=linux-htb', 'external_ids:iface-id=x.y', 'queues:0=@q'],
    )
    await node.database.vsctl('create', 'QoS', 'type=linux-htb', 'external_ids:whose=another')
    await addPolicedPort()
    agent = node.startAgent()
    await settle()
    expect([countRows(), portIs('c_h')]).toEqual([
      [1, 0],
      [0, 0],
    ])
  })

  async function addPolicedPort(): Promise<void> {
    await node.addPodPort('c_h', 'web-2', 'uid-web-2', { 'iface-id': 'web-2.shop' })
    await node.database.vsctl('set', 'Interface', 'c_h', 'ingress_policing_rate=1000')
  }

  it('of the node is that of ovn0, by annotations of the Node', async () => {
    await node.database.vsctl(
      ...['add-port', 'br-int', 'ovn0', '--', 'set', 'Interface', 'ovn0', 'type=internal'],
      ...['external_ids:iface-id=node-n1', 'external_ids:vendor=kube-ovn'],
    )
    node.nodes.put(
      'n1',
      nodeOf('n1', '192.0.2.10', { ...bothRates, 'ovn.kubernetes.io/egress_burst': 'much' }),
    )
    await settle()
    expect(portIs('ovn0')).toEqual([
      ...[200_000, 160_000, 'linux-htb', {}],
      ['0', { 'max-rate': '300000000', burst: '30000000' }],
    ])
    expect(told()).toMatchObject([{ field: 'ovn.kubernetes.io/egress_burst', value: 'much', pod: '' }])
    node.nodes.put('n1', nodeOf('n1', '192.0.2.10'))
    await settle()
    expect([portIs('ovn0'), countRows()]).toEqual([
      [0, 0],
      [0, 0],
    ])
  })

  it('costs a Pod without annotations nothing', async () => {
    await settle()
    const before = await agent.writes()
    ask({ 'ovn.kubernetes.io/ip_address': '10.16.0.5' })
    await addPort('a_h', 'web-0.shop')
    expect([portIs('a_h'), (await agent.writes()) - before]).toEqual([[0, 0], 0])
  })
})
