import { podAnnotations } from '@kube-ovn/annotations'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeOf, subnetOf, TestNode, type TestAgent } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')
const keys = podAnnotations()

const allocation = {
  [keys.allocated.key]: 'true',
  [keys.ipAddress.key]: '100.64.0.2,fd00:100:64::2',
  [keys.macAddress.key]: '00:00:00:00:64:02',
  [keys.cidr.key]: '100.64.0.0/16,fd00:100:64::/112',
  [keys.gateway.key]: '100.64.0.1,fd00:100:64::1',
  [keys.logicalSwitch.key]: 'join',
}

describe.skipIf(missing)(`ovn0${missing === undefined ? '' : ` (${missing})`}`, () => {
  let node: TestNode

  beforeEach(async () => {
    node = await TestNode.start()
    await node.database.vsctl('add-br', 'br-int')
    node.nodes.put('n1', nodeOf('n1', '192.0.2.10', allocation))
  })
  afterEach(() => node?.[Symbol.asyncDispose]())

  /** Does what ovs-vswitchd does with the port. */
  function makeDevice(): void {
    node.host.run('ip', 'link', 'add', 'ovn0', 'type', 'bridge')
  }

  function routes(): string {
    return node.host.run('ip', 'route', 'show', 'dev', 'ovn0')
  }

  async function startedAgent(): Promise<TestAgent> {
    const agent = node.startAgent()
    await agent.settle()
    makeDevice()
    await expect.poll(routes).toContain('10.16.0.0/16 via 100.64.0.1 proto static src 192.0.2.10')
    expect(await agent.settle()).toEqual([])
    return agent
  }

  it('has port, MAC, addresses and routes, follows the subnets, and a restart writes nothing', async () => {
    const first = await startedAgent()
    expect(await node.database.vsctl('get', 'Interface', 'ovn0', 'type', 'mac', 'mtu_request')).toBe(
      'internal\n"00:00:00:00:64:02"\n1400',
    )
    expect(node.host.run('ip', 'addr', 'show', 'ovn0')).toMatch(
      /00:00:00:00:64:02[^]*100\.64\.0\.2\/16[^]*fd00:100:64::2\/112/,
    )
    node.subnets.put('green', subnetOf('green', { cidrBlock: '10.17.0.0/16' }))
    expect(await first.settle()).toEqual([])
    expect(routes()).toContain('10.17.0.0/16 via 100.64.0.1')
    node.subnets.put('blue', undefined)
    expect(await first.settle()).toEqual([])
    expect(routes()).not.toContain('10.16.0.0/16')
    await first.stop()
    const second = node.startAgent()
    expect(await second.settle()).toEqual([])
    expect(await second.writes()).toBe(0)
  })

  it('is put right when somebody changes port, address or route, and the routes of others stay', async () => {
    const agent = await startedAgent()
    // With the last address of a link all its routes go.
    node.host.run('ip', 'addr', 'del', '100.64.0.2/16', 'dev', 'ovn0')
    await expect.poll(routes).toMatch(/10\.16\.0\.0\/16 via 100\.64\.0\.1[^]*100\.64\.0\.0\/16/)
    node.host.run('ip', 'route', 'add', '10.99.0.0/16', 'dev', 'ovn0')
    node.host.run('ip', 'route', 'del', '10.16.0.0/16')
    await expect.poll(routes).toMatch(/10\.16\.0\.0\/16 via 100\.64\.0\.1[^]*100\.64\.0\.0\/16/)
    await node.database.vsctl('set', 'Interface', 'ovn0', 'mtu_request=1234')
    await expect.poll(() => node.database.vsctl('get', 'Interface', 'ovn0', 'mtu_request')).toBe('1400')
    expect(await agent.settle()).toEqual([])
    expect(routes()).toContain('10.99.0.0/16')
  })

  it('gets all back when vswitchd makes the device anew', async () => {
    const agent = await startedAgent()
    node.host.run('ip', 'link', 'del', 'ovn0')
    makeDevice()
    await expect.poll(routes).toContain('10.16.0.0/16 via 100.64.0.1')
    expect(await agent.settle()).toEqual([])
  })

  it('leaves a destination to another link that has it, until that lets go', async () => {
    node.host.run('ip', 'route', 'add', '10.16.0.0/16', 'via', '192.0.2.1')
    node.subnets.put('green', subnetOf('green', { cidrBlock: '10.17.0.0/16' }))
    const agent = node.startAgent()
    await agent.settle()
    makeDevice()
    await expect.poll(routes).toContain('10.17.0.0/16 via 100.64.0.1')
    expect(await agent.settle()).toEqual([])
    expect(routes()).not.toContain('10.16.0.0/16')
    node.host.run('ip', 'route', 'del', '10.16.0.0/16')
    await expect.poll(routes).toContain('10.16.0.0/16 via 100.64.0.1')
    expect(await agent.settle()).toEqual([])
  })

  it('announces new addresses once their flows are there, and says nothing after a restart', async () => {
    const first = await startedAgent()
    expect(node.announced).toEqual([])
    await node.database.vsctl('set', 'Interface', 'ovn0', 'external_ids:ovn-installed=true')
    // A frame may be lost.
    await expect.poll(() => node.announced).toHaveLength(3)
    for (const told of node.announced) expect(told).toContain('00:00:00:00:64:02 100.64.0.2 fd00:100:64::2')
    await first.stop()
    const second = node.startAgent()
    expect(await second.settle()).toEqual([])
    expect([node.announced.length, await second.writes()]).toEqual([3, 0])
  })
})
