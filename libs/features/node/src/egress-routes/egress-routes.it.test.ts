import type { KubeOvnError } from '@kube-ovn/errors'
import type { Subnet } from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { subnetOf, TestNode } from '../testing/test-node.ts'

const missing = missingForNamespaces('ip', 'nft')

type Egress = NonNullable<NonNullable<Subnet['status']>['egress']>

const outside: Egress = { nextHop: '192.0.2.254,2001:db8::fe', rulePriority: 1001, routeTable: 1002 }

function blue(egress: Egress | undefined, natOutgoing = false): Subnet {
  const made = subnetOf('blue', { cidrBlock: '10.16.0.0/16,fd00:10:16::/112', natOutgoing })
  return { ...made, status: { ...made.status, ...(egress === undefined ? {} : { egress }) } }
}

function podOf(name: string, addresses: string, phase: 'Running' | 'Succeeded' = 'Running'): Pod {
  const annotations = {
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/ip_address': addresses,
    'ovn.kubernetes.io/mac_address': '00:00:5e:00:53:01',
    'ovn.kubernetes.io/logical_switch': 'blue',
  }
  return {
    metadata: { namespace: 'shop', name, annotations },
    spec: { nodeName: 'n1', containers: [], restartPolicy: 'Never' },
    status: { phase },
  }
}

describe.skipIf(missing)(`egress of subnets on a node${missing === undefined ? '' : ` (${missing})`}`, () => {
  let node: TestNode

  beforeEach(async () => {
    node = await TestNode.start()
    node.host.run('ip', 'addr', 'add', '2001:db8::10/64', 'dev', 'eth0', 'nodad')
  })
  afterEach(() => node?.[Symbol.asyncDispose]())

  /** Rules of the table, and its routes, in the words of ip(8) without devices and marks. */
  function routed(): readonly string[] {
    return ['-4', '-6'].flatMap((family) => {
      const rules = node.host.run('ip', family, 'rule', 'show').split('\n')
      const routes = node.host.run('ip', family, 'route', 'show', 'table', 'all').split('\n')
      return [
        ...rules.filter((line) => line.includes('lookup 1002')).map((line) => line.replace(/\s+/g, ' ')),
        ...routes.filter((line) => line.includes('table 1002')),
      ].map((line) => line.replace(/ (dev|proto|metric|pref) \S+/g, '').trim())
    })
  }

  const byGateway = [
    '1001: from 10.16.0.0/16 lookup 1002',
    'default via 192.0.2.254 table 1002',
    '1001: from fd00:10:16::/112 lookup 1002',
    'default via 2001:db8::fe table 1002',
  ]
  const gateways = [{ node: 'n1', addresses: [] }]

  it('is led to a gateway outside where this node is a gateway, until it is not, and a restart writes nothing', async () => {
    node.subnets.put('blue', blue({ ...outside, gateways }))
    const first = node.startAgent()
    expect(await first.settle()).toEqual([])
    expect(routed()).toEqual(byGateway)
    await first.stop()
    const second = node.startAgent()
    expect(await second.settle()).toEqual([])
    expect(await second.writes()).toBe(0)
    node.subnets.put('blue', blue({ ...outside, nextHop: '192.0.2.253', gateways }))
    expect(await second.settle()).toEqual([])
    expect(routed()).toEqual([byGateway[0], 'default via 192.0.2.253 table 1002'])
    node.subnets.put('blue', blue({ ...outside, gateways: [{ node: 'n2', addresses: [] }] }))
    expect(await second.settle()).toEqual([])
    expect(routed()).toEqual([])
  })

  it('is led there from the pods that are at work here, as they come and go', async () => {
    node.subnets.put('blue', blue(outside))
    node.pods.put('shop/a', podOf('a', '10.16.0.5,fd00:10:16::5'))
    node.pods.put('shop/done', podOf('done', '10.16.0.6', 'Succeeded'))
    const agent = node.startAgent()
    expect(await agent.settle()).toEqual([])
    expect(routed()).toEqual([
      '1001: from 10.16.0.5 lookup 1002',
      byGateway[1],
      '1001: from fd00:10:16::5 lookup 1002',
      byGateway[3],
    ])
    node.pods.put('shop/b', podOf('b', '10.16.0.7'))
    node.pods.put('shop/a', undefined)
    expect(await agent.settle()).toEqual([])
    expect(routed()).toEqual(['1001: from 10.16.0.7 lookup 1002', byGateway[1]])
    node.subnets.put('blue', blue(undefined))
    expect(await agent.settle()).toEqual([])
    expect(routed()).toEqual([])
  })

  it('waits for its gateway to be a neighbour', async () => {
    node.subnets.put('blue', blue({ ...outside, nextHop: '198.51.100.1', gateways }))
    const agent = node.startAgent()
    expect(await agent.settle()).toEqual([])
    expect(routed()).toEqual([])
    node.host.run('ip', 'addr', 'add', '198.51.100.2/24', 'dev', 'eth0')
    await expect.poll(routed).toEqual([byGateway[0], 'default via 198.51.100.1 table 1002'])
  })

  it('has no gateway that the node does not reach, which is told once, while the other family goes by its own', async () => {
    node.subnets.put('blue', blue({ ...outside, nextHop: '198.51.100.1,2001:db8::fe', gateways }))
    const agent = node.startAgent()
    const told = () =>
      agent.log.lines
        .filter(({ level }) => level === 'warn' || level === 'error')
        .map(({ fields }) => (fields['err'] as KubeOvnError).details)
    expect(await agent.settle()).toEqual([])
    expect(routed()).toEqual(byGateway.slice(2))
    const stray = { subnet: 'blue', field: 'spec.externalEgressGateway', value: '198.51.100.1' }
    expect(told()).toEqual([expect.objectContaining(stray)])
    node.host.run('ip', 'addr', 'add', '203.0.113.2/24', 'dev', 'eth0')
    expect(await agent.settle()).toEqual([])
    expect(told()).toHaveLength(1)
    node.host.run('ip', 'addr', 'add', '198.51.100.2/24', 'dev', 'eth0')
    await expect.poll(routed).toContain('default via 198.51.100.1 table 1002')
    node.host.run('ip', 'addr', 'del', '198.51.100.2/24', 'dev', 'eth0')
    await expect.poll(told).toHaveLength(2)
  })

  it('comes back when somebody takes it away, takes over what another release left, and leaves rules of others', async () => {
    node.host.run('ip', 'rule', 'add', 'from', '10.16.0.0/16', 'lookup', '1002', 'priority', '1001')
    node.host.run('ip', 'rule', 'add', 'from', '10.16.0.99', 'lookup', '1002', 'priority', '1001')
    node.host.run('ip', 'rule', 'add', 'from', '10.16.0.98', 'lookup', '1002', 'priority', '900')
    node.subnets.put('blue', blue({ ...outside, nextHop: '192.0.2.254', gateways }))
    const agent = node.startAgent()
    expect(await agent.settle()).toEqual([])
    const expected = ['900: from 10.16.0.98 lookup 1002', ...byGateway.slice(0, 2)]
    expect(routed()).toEqual(expected)
    node.host.run('ip', 'route', 'flush', 'table', '1002')
    await expect.poll(routed).toEqual(expected)
    node.host.run('ip', 'rule', 'del', 'from', '10.16.0.0/16', 'lookup', '1002')
    await expect.poll(routed).toEqual(expected)
  })

  it.each([
    { what: 'the NIC goes down and comes up', steps: ['link set eth0 down', 'link set eth0 up'] },
    {
      what: 'the NIC is given its address anew',
      steps: ['addr flush dev eth0', 'addr add 192.0.2.10/24 dev eth0'],
    },
  ])('is led there again when $what, which Linux does not tell of its routes', async ({ steps }) => {
    node.subnets.put('blue', blue({ ...outside, nextHop: '192.0.2.254', gateways }))
    const agent = node.startAgent()
    expect(await agent.settle()).toEqual([])
    expect(routed()).toEqual(byGateway.slice(0, 2))
    for (const step of steps) node.host.run('ip', ...step.split(' '))
    await expect.poll(routed).toEqual(byGateway.slice(0, 2))
    expect(await agent.settle()).toEqual([])
  })

  it('is taken away by an agent that comes after the subnet went', async () => {
    node.subnets.put('blue', blue({ ...outside, gateways }))
    await using stack = new AsyncDisposableStack()
    const first = node.startAgent()
    stack.defer(() => first.stop())
    await first.settle()
    await stack.disposeAsync()
    node.subnets.put('blue', undefined)
    const second = node.startAgent()
    expect(await second.settle()).toEqual([])
    await expect.poll(routed).toEqual([])
  })

  it('gets the address that is the subnet’s on the active node alone', async () => {
    const fixed = [{ node: 'n1', addresses: ['192.0.2.30'] }]
    node.subnets.put('blue', blue({ gateways: fixed, active: ['n1'] }, true))
    const agent = node.startAgent()
    expect(await agent.settle()).toEqual([])
    const table = () => node.host.run('nft', 'list', 'table', 'inet', 'kube-ovn')
    expect(table()).toMatch(/ip saddr 10\.16\.0\.0\/16 ip daddr != @subnets-4 snat ip to 192\.0\.2\.30/)
    expect(table()).toContain('chain drop-unknown-flows')
    node.subnets.put('blue', blue({ gateways: fixed, active: ['n2'] }, true))
    expect(await agent.settle()).toEqual([])
    expect(table()).not.toMatch(/192\.0\.2\.30|drop-unknown-flows/)
  })
})
