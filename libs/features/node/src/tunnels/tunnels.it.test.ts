import { nodeAnnotations } from '@kube-ovn/annotations'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeOf, TestNode } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')

describe.skipIf(missing)(`the end of tunnels${missing === undefined ? '' : ` (${missing})`}`, () => {
  let node: TestNode

  beforeEach(async () => {
    node = await TestNode.start()
  })
  afterEach(() => node?.[Symbol.asyncDispose]())

  async function encapIp(): Promise<string> {
    const ids = await node.database.vsctl('get', 'Open_vSwitch', '.', 'external_ids')
    return /ovn-encap-ip="?([^",}]+)/.exec(ids)?.[1] ?? ''
  }

  it('is told to Open vSwitch, follows the link, and a restart writes nothing', async () => {
    await node.database.vsctl('set', 'Open_vSwitch', '.', 'external_ids:foreign=stays')
    const first = node.startAgent()
    expect(await first.settle()).toEqual([])
    expect([await encapIp(), first.tunnelMtu.value]).toEqual(['192.0.2.10', 1400])
    node.host.run('ip', 'link', 'set', 'eth0', 'mtu', '9000')
    await expect.poll(() => first.tunnelMtu.value).toBe(8900)
    expect(await first.settle()).toEqual([])
    await first.stop()
    const second = node.startAgent()
    expect(await second.settle()).toEqual([])
    expect([await second.writes(), second.tunnelMtu.value]).toEqual([0, 8900])
    expect(await node.database.vsctl('get', 'Open_vSwitch', '.', 'external_ids:foreign')).toBe('stays')
  })

  it('is put right when somebody changes it', async () => {
    const agent = node.startAgent()
    await agent.settle()
    await node.database.vsctl('remove', 'Open_vSwitch', '.', 'external_ids', 'ovn-encap-ip')
    await expect.poll(encapIp).toBe('192.0.2.10')
    expect(await agent.settle()).toEqual([])
  })

  it('stays as it was, and is told once, when it can not be found any more, and nothing else waits for it', async () => {
    const agent = node.startAgent()
    await agent.settle()
    const { key } = nodeAnnotations.tunnelInterface
    node.nodes.put('n1', nodeOf('n1', '192.0.2.10', { [key]: 'eth7' }))
    node.nodes.put('n3', nodeOf('n3', '192.0.2.12'))
    expect(await agent.settle()).toEqual([])
    expect([await encapIp(), agent.tunnelMtu.value]).toEqual(['192.0.2.10', 1400])
    expect(node.host.run('nft', 'list', 'table', 'inet', 'kube-ovn')).toContain('192.0.2.12')
    const told = agent.log.lines.filter(({ level }) => level === 'warn')
    expect(told).toMatchObject([{ fields: { feature: 'tunnels', err: { code: 'tunnel-nic-not-found' } } }])
    // As soon as there is one.
    node.host.run('ip', 'link', 'add', 'eth7', 'type', 'bridge')
    node.host.run('ip', 'addr', 'add', '198.51.100.10/24', 'dev', 'eth7')
    await expect.poll(encapIp).toBe('198.51.100.10')
    expect(await agent.settle()).toEqual([])
  })
})
