import { nodeAnnotations, podAnnotations } from '@kube-ovn/annotations'
import type { Condition } from '@kube-ovn/kube-api/core'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { ManualClock } from '@kube-ovn/time'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { podTable } from '../tables.ts'
import { nodeOf, TestNode, type TestAgent } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')
const keys = podAnnotations()

const allocation = {
  [keys.allocated.key]: 'true',
  [keys.ipAddress.key]: '100.64.0.2',
  [keys.macAddress.key]: '00:00:00:00:64:02',
  [keys.cidr.key]: '100.64.0.0/16',
  [keys.gateway.key]: '100.64.0.1',
  [keys.logicalSwitch.key]: 'join',
}

describe.skipIf(missing)(`what a node tells of itself${missing === undefined ? '' : ` (${missing})`}`, () => {
  let node: TestNode
  let clock: ManualClock

  beforeEach(async () => {
    clock = new ManualClock()
    node = await TestNode.start()
    await node.database.vsctl('set', 'Open_vSwitch', '.', 'external_ids:system-id=chassis-1')
    await node.database.vsctl('add-br', 'br-int')
    await node.database.vsctl('add-port', 'br-int', 'ovn0')
    await install('true')
    node.nodes.put('n1', nodeOf('n1', '192.0.2.10', { ...allocation, foreign: 'stays' }))
  })
  afterEach(() => node?.[Symbol.asyncDispose]())

  /** Does what ovn-controller does. */
  async function install(is: 'true' | 'false'): Promise<void> {
    await node.database.vsctl('set', 'Interface', 'ovn0', `external_ids:ovn-installed=${is}`)
  }

  function condition(): Condition | undefined {
    return node.nodes.store.get('n1')?.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')
  }

  function annotations(): Readonly<Record<string, string>> {
    return node.nodes.store.get('n1')?.metadata.annotations ?? {}
  }

  async function started(): Promise<TestAgent> {
    const agent = node.startAgent({}, clock)
    expect(await agent.settle()).toEqual([])
    return agent
  }

  async function whenRead(agent: TestAgent, is: 'true' | 'false'): Promise<void> {
    await install(is)
    await expect
      .poll(() => node.ovs.cache.find('Interface', 'name', 'ovn0')[0]?.external_ids['ovn-installed'])
      .toBe(is)
    expect(await agent.settle()).toEqual([])
  }

  it('are chassis and condition, in a patch each, and a restart writes nothing', async () => {
    const first = await started()
    expect(annotations()).toMatchObject({ [nodeAnnotations.chassis.key]: 'chassis-1', foreign: 'stays' })
    expect(condition()).toEqual({
      type: 'NetworkUnavailable',
      status: 'False',
      reason: 'JoinSubnetGatewayReachable',
      message: 'ovn0 is bound and its flows are installed, OVN answers for gateway ip 100.64.0.1',
      lastTransitionTime: '2026-01-01T00:00:00Z',
      lastHeartbeatTime: '2026-01-01T00:00:00Z',
    })
    expect(node.patches).toBe(2)
    await first.stop()
    const second = await started()
    expect([node.patches, await second.writes()]).toEqual([2, 0])
  })

  it('is that it is unavailable only when that has been so for a while, and at once when it is not any more', async () => {
    const agent = await started()
    await whenRead(agent, 'false')
    clock.advance(14_999)
    expect(await agent.settle()).toEqual([])
    expect([condition()?.status, node.patches]).toEqual(['False', 2])
    // What differs in the meantime does not begin the while anew.
    const next = { ...annotations(), [keys.gateway.key]: '100.64.0.9' }
    node.nodes.put('n1', {
      ...node.nodes.store.get('n1'),
      metadata: { name: 'n1', annotations: next },
    })
    await agent.settle()
    clock.advance(1)
    expect(await agent.settle()).toEqual([])
    expect(condition()).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-01T00:00:15Z' })
    await whenRead(agent, 'true')
    expect([condition()?.status, node.patches, clock.pendingTimers]).toEqual(['False', 4, 0])
  })

  it('is not that it is unavailable after a restart of Open vSwitch', async () => {
    const agent = await started()
    await whenRead(agent, 'false')
    clock.advance(10_000)
    await whenRead(agent, 'true')
    await whenRead(agent, 'false')
    clock.advance(10_000)
    expect(await agent.settle()).toEqual([])
    expect([condition()?.status, node.patches]).toEqual(['False', 2])
  })

  it('is put right when somebody changes it, and what others tell stays', async () => {
    const agent = await started()
    const told = condition()
    const foreign = { type: 'Foreign', status: 'True' } as const
    expect(told?.status).toBe('False')
    node.nodes.put('n1', {
      metadata: { name: 'n1', annotations: { ...annotations(), [nodeAnnotations.chassis.key]: 'other' } },
      status: {
        ...node.nodes.store.get('n1')?.status,
        conditions: [foreign, { type: 'NetworkUnavailable', status: 'True' }],
      },
    })
    expect(await agent.settle()).toEqual([])
    expect([condition()?.status, annotations()[nodeAnnotations.chassis.key]]).toEqual(['False', 'chassis-1'])
    expect(node.nodes.store.get('n1')?.status?.conditions).toContainEqual(foreign)
    expect(node.patches).toBe(4)
  })

  it('is told beforehand, and does not change with pods', async () => {
    const agent = await started()
    expect(
      await agent.kernel.dryRun((fork) =>
        fork.put(podTable, 'shop/a', { metadata: { name: 'a' }, spec: { containers: [] } }),
      ),
    ).toEqual([])
    await node.database.vsctl('set', 'Open_vSwitch', '.', 'external_ids:system-id=chassis-2')
    await expect.poll(() => annotations()[nodeAnnotations.chassis.key]).toBe('chassis-2')
    expect(await agent.settle()).toEqual([])
    expect(node.patches).toBe(3)
  })
})
