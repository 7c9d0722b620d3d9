import type { Pod } from '@kube-ovn/kube-api/core'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { ManualClock } from '@kube-ovn/time'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestNode, type TestAgent } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')

describe.skipIf(missing)(`ports of pods that are gone${missing === undefined ? '' : ` (${missing})`}`, () => {
  let node: TestNode
  let clock: ManualClock

  beforeEach(async () => {
    clock = new ManualClock()
    node = await TestNode.start()
    await node.database.vsctl('add-br', 'br-int')
    await node.addPodPort('a_h', 'web-0', 'uid-1')
    node.pods.put('shop/web-0', pod('web-0', 'uid-1'))
  })
  afterEach(() => node?.[Symbol.asyncDispose]())

  function pod(name: string, uid: string, machine?: string): Pod {
    const annotations = machine === undefined ? {} : { 'ovn.kubernetes.io/virtualmachine': machine }
    return { metadata: { namespace: 'shop', name, uid, annotations }, spec: { containers: [] } }
  }

  async function started(): Promise<TestAgent> {
    const agent = node.startAgent({}, clock)
    expect(await agent.settle()).toEqual([])
    return agent
  }

  /** Lets time pass, and what follows from it happen. */
  async function pass(agent: TestAgent, ms: number): Promise<void> {
    clock.advance(ms)
    expect(await agent.settle()).toEqual([])
  }

  function ports(): Promise<string> {
    return node.database.vsctl('list-ports', 'br-int')
  }

  it('go when the runtime has had its time, and not before', async () => {
    const agent = await started()
    const before = await agent.writes()
    node.pods.put('shop/web-0', undefined)
    await pass(agent, 0)
    await pass(agent, 29_999)
    expect(node.podNics.removed).toEqual([])
    await pass(agent, 1)
    expect([node.podNics.removed, await ports()]).toEqual([['a_h'], ''])
    await pass(agent, 0)
    expect([clock.pendingTimers, (await agent.writes()) - before]).toEqual([0, 1])
  })

  it('stay when the pod comes back in time, and have all their time when it goes again', async () => {
    const agent = await started()
    node.pods.put('shop/web-0', undefined)
    await pass(agent, 0)
    await pass(agent, 20_000)
    node.pods.put('shop/web-0', pod('web-0', 'uid-1'))
    await pass(agent, 60_000)
    node.pods.put('shop/web-0', undefined)
    await pass(agent, 0)
    await pass(agent, 29_999)
    expect(node.podNics.removed).toEqual([])
  })

  it('of an earlier pod of the same name go, and a restart gives them their time anew', async () => {
    await node.addPodPort('b_h', 'web-0', 'uid-0')
    const first = await started()
    await pass(first, 20_000)
    await first.stop()
    const second = await started()
    await pass(second, 20_000)
    expect(node.podNics.removed).toEqual([])
    await pass(second, 10_000)
    expect(node.podNics.removed).toEqual(['b_h'])
    await second.stop()
    const third = await started()
    await pass(third, 60_000)
    expect([node.podNics.removed, await third.writes()]).toEqual([['b_h'], 0])
  })

  it('stay while they are worked on, and those of others stay', async () => {
    await node.database.vsctl(
      ...['add-port', 'br-int', 'foreign', '--', 'set', 'Interface', 'foreign'],
      ...['external_ids:pod_name=x', 'external_ids:pod_namespace=y'],
    )
    node.podNics.busy.add('a_h')
    node.pods.put('shop/web-0', undefined)
    const agent = await started()
    await pass(agent, 60_000)
    expect(node.podNics.removed).toEqual([])
    node.podNics.release('a_h')
    await pass(agent, 60_000)
    expect([node.podNics.removed, await ports()]).toEqual([['a_h'], 'foreign'])
  })

  it('of a machine stay as long as a pod runs it', async () => {
    node.pods.put('shop/web-0', undefined)
    node.pods.put('shop/launcher-a', pod('launcher-a', 'uid-1', 'vm'))
    await node.database.vsctl('del-port', 'br-int', 'a_h')
    await node.addPodPort('a_h', 'vm', 'uid-1')
    await node.addPodPort('b_h', 'vm', '')
    await node.addPodPort('c_h', 'other', 'uid-2')
    const agent = await started()
    await pass(agent, 30_000)
    expect(node.podNics.removed).toEqual(['c_h'])
    node.pods.put('shop/launcher-a', undefined)
    await pass(agent, 0)
    await pass(agent, 30_000)
    expect(node.podNics.removed).toEqual(['c_h', 'a_h', 'b_h'])
  })

  it('that could not be removed go as soon as they can, and the others meanwhile', async () => {
    node.pods.put('shop/web-0', undefined)
    await node.addPodPort('b_h', 'web-1', 'uid-2')
    node.podNics.held.add('a_h')
    const agent = await started()
    clock.advance(30_000)
    await agent.kernel.quiet()
    expect(node.podNics.removed).toEqual(['b_h'])
    const told = agent.log.lines.filter(({ fields }) => fields['sink'] === 'port-removals')
    expect(told).toMatchObject([{ fields: { changes: ['no port b_h of shop/web-1: pod is gone'] } }])
    node.podNics.held.clear()
    // Nothing changes in the meantime: neither a pod nor a row.
    await pass(agent, 1_000)
    expect(node.podNics.removed).toEqual(['b_h', 'a_h'])
    await pass(agent, 0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('are told beforehand, and nothing is done', async () => {
    const agent = await started()
    node.pods.put('shop/web-0', undefined)
    await pass(agent, 0)
    await pass(agent, 29_999)
    expect(await agent.kernel.dryRun()).toEqual([])
    node.podNics.held.add('a_h')
    clock.advance(1)
    await agent.kernel.quiet()
    expect(await agent.kernel.dryRun()).toEqual([
      { sink: 'port-removals', target: 'a_h', changes: ['no port a_h of shop/web-0: pod is gone'] },
    ])
    expect(await ports()).toBe('a_h')
  })
})
