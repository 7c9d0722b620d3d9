import type { Subnet } from '@kube-ovn/kube-api'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeOf, subnetOf, TestNode } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')

describe.skipIf(missing)(`the packet filter of a node${missing === undefined ? '' : ` (${missing})`}`, () => {
  let node: TestNode

  beforeEach(async () => {
    node = await TestNode.start()
  })
  afterEach(() => node?.[Symbol.asyncDispose]())

  function listed(...what: readonly string[]): string {
    return node.host.run('nft', 'list', ...what)
  }

  it('is made, follows the objects, and a restart writes nothing', async () => {
    const first = node.startAgent()
    expect(await first.settle()).toEqual([])
    expect(listed('table', 'inet', 'kube-ovn')).toContain('192.0.2.11')
    // What is as it should be is not written: rp_filter is 0.
    expect([...node.settings]).toEqual([['ipv4/ip_forward', '1']])
    const before = await first.writes()
    node.subnets.put('green', subnetOf('green', { cidrBlock: 'fd00:10:17::/112' }))
    expect(await first.settle()).toEqual([])
    expect(listed('set', 'inet', 'kube-ovn', 'subnets-6')).toContain('fd00:10:17::/112')
    expect(node.settings.get('ipv6/conf/all/forwarding')).toBe('1')
    // The table, and the setting.
    expect(await first.writes()).toBe(before + 2)
    await first.stop()
    const second = node.startAgent()
    expect(await second.settle()).toEqual([])
    expect(await second.writes()).toBe(0)
  })

  it('is not looked at for what does not concern it', async () => {
    const agent = node.startAgent()
    await agent.settle()
    let calls = 0
    const { hasDrifted } = node.netfilter
    node.netfilter.hasDrifted = (table) => {
      calls++
      return hasDrifted.call(node.netfilter, table)
    }
    const blue = node.subnets.store.get('blue')
    node.subnets.put('blue', { ...blue, metadata: { name: 'blue', resourceVersion: '7' } } satisfies Subnet)
    node.subnets.put('grey', subnetOf('grey', { cidrBlock: '10.99.0.0/16', vpc: 'other' }))
    node.nodes.put('n2', { ...nodeOf('n2', '192.0.2.11'), metadata: { name: 'n2', resourceVersion: '8' } })
    node.host.run('ip', 'link', 'add', '0123456789ab_h', 'type', 'bridge')
    await agent.kernel.quiet()
    expect(calls).toBe(0)
  })

  it('is put right when somebody touches it, and what others have stays', async () => {
    const agent = node.startAgent()
    await agent.settle()
    const chain = ['chain', 'inet', 'kube-ovn', 'drop-stray-resets']
    node.host.run('nft', 'add', 'table', 'ip', 'foreign')
    node.host.run('nft', 'flush', ...chain)
    await expect.poll(() => listed(...chain)).toContain('stray reset of a pod')
    node.host.run('nft', 'delete', 'table', 'inet', 'kube-ovn')
    await expect.poll(() => listed('tables')).toContain('table inet kube-ovn')
    expect(await agent.settle()).toEqual([])
    expect(listed('tables')).toContain('table ip foreign')
  })

  it('is not touched before the node is known', async () => {
    const own = node.nodes.store.get('n1')
    node.nodes.put('n1', undefined)
    node.host.run('nft', 'add', 'table', 'inet', 'kube-ovn')
    const agent = node.startAgent()
    expect(await agent.settle()).toEqual([])
    expect([listed('tables').trim(), [...node.settings], await agent.writes()]).toEqual([
      'table inet kube-ovn',
      [],
      0,
    ])
    node.nodes.put('n1', own)
    expect(await agent.settle()).toEqual([])
    expect(listed('table', 'inet', 'kube-ovn')).toContain('192.0.2.11')
  })
})
