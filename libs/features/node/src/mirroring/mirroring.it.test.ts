import { podAnnotations } from '@kube-ovn/annotations'
import type { Pod } from '@kube-ovn/kube-api/core'
import { systemClock } from '@kube-ovn/process'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeOf, TestNode, type TestAgent } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')

const keys = podAnnotations()

/** A node of which it is known what all features want. */
const allocated = nodeOf('n1', '192.0.2.10', {
  [keys.allocated.key]: 'true',
  [keys.ipAddress.key]: '100.64.0.2',
  [keys.macAddress.key]: '00:00:00:00:64:02',
  [keys.cidr.key]: '100.64.0.0/16',
  [keys.gateway.key]: '100.64.0.1',
})

describe.skipIf(missing)(`mirroring${missing === undefined ? '' : ` (${missing})`}`, () => {
  let node: TestNode
  let agent: TestAgent

  beforeEach(async () => {
    node = await TestNode.start()
    await node.database.vsctl('add-br', 'br-int')
    node.nodes.put('n1', allocated)
    agent = node.startAgent()
    for (const [name, pod, id] of [
      ['a_h', 'web-0', 'web-0.shop'],
      ['a_net1_h', 'web-0', 'web-0.shop.net.shop.ovn'],
      ['b_h', 'web-1', 'web-1.shop'],
    ] as const)
      await node.addPodPort(name, pod, `uid-${pod}`, { 'iface-id': id })
  })
  afterEach(() => node?.[Symbol.asyncDispose]())

  function ask(name: string, annotations: Record<string, string>): void {
    const metadata = { namespace: 'shop', name, uid: `uid-${name}`, annotations }
    const pod: Pod = { metadata, spec: { containers: [] } }
    node.pods.put(`shop/${name}`, pod)
  }

  async function settle(): Promise<void> {
    expect(await agent.settle()).toEqual([])
  }

  function nameOf(uuid: string | undefined): string | undefined {
    return uuid === undefined ? undefined : node.ovs.cache.get('Port', uuid)?.name
  }

  /** Mirrors of the integration bridge: name, where packets come out, of all, of which ports in either direction. */
  function mirrors(): readonly unknown[] {
    const ids = node.ovs.cache.find('Bridge', 'name', 'br-int')[0]?.mirrors ?? []
    return ids.map((id) => {
      const row = node.ovs.cache.get('Mirror', id)
      const [to, from] = [row?.select_dst_port, row?.select_src_port].map((ports) =>
        (ports ?? []).map(nameOf).sort().join(),
      )
      return [row?.name, nameOf(row?.output_port), row?.select_all, to, from]
    })
  }

  it('is of the NICs whose Pods say so, each by itself, for as long as they do', async () => {
    ask('web-0', { 'ovn.kubernetes.io/mirror': 'true' })
    ask('web-1', { 'ovn.kubernetes.io/mirror': 'false' })
    await settle()
    expect(mirrors()).toEqual([['m0', 'mirror0', false, 'a_h', 'a_h']])
    ask('web-0', { 'net.shop.ovn.kubernetes.io/mirror': 'true' })
    ask('web-1', { 'ovn.kubernetes.io/mirror': 'true' })
    await settle()
    expect(mirrors()).toEqual([['m0', 'mirror0', false, 'a_net1_h,b_h', 'a_net1_h,b_h']])
    await node.podNics.removePort('b_h')
    await settle()
    expect(mirrors()).toEqual([['m0', 'mirror0', false, 'a_net1_h', 'a_net1_h']])
    ask('web-0', { 'net.shop.ovn.kubernetes.io/mirror': 'copy' })
    await settle()
    expect([mirrors(), await node.database.vsctl('list-ports', 'br-int')]).toEqual([
      [],
      'a_h\na_net1_h\novn0',
    ])
  })

  it('is put right, stays over a restart without a write, and leaves mirrors of others alone', async () => {
    await node.database.vsctl(
      ...[
        '--',
        '--id=@m',
        'create',
        'Mirror',
        'name=theirs',
        '--',
        'add',
        'Bridge',
        'br-int',
        'mirrors',
        '@m',
      ],
    )
    ask('web-0', { 'ovn.kubernetes.io/mirror': 'true' })
    await settle()
    const theirs = ['theirs', undefined, false, '', '']
    const ours = ['m0', 'mirror0', false, 'a_h', 'a_h']
    expect(mirrors()).toEqual(expect.arrayContaining([theirs, ours]))
    await node.database.vsctl('clear', 'Mirror', 'm0', 'select_src_port')
    await expect.poll(() => mirrors()).toContainEqual(ours)
    await settle()
    await agent.stop()
    agent = node.startAgent()
    await settle()
    expect([mirrors().length, await agent.writes()]).toEqual([2, 0])
    ask('web-0', {})
    await settle()
    expect(mirrors()).toEqual([theirs])
  })

  it('is of all where the agent was started so, whatever Pods say', async () => {
    ask('web-0', { 'ovn.kubernetes.io/mirror': 'false' })
    await agent.stop()
    agent = node.startAgent({}, systemClock, { isMirroredWhole: true })
    await settle()
    expect(mirrors()).toEqual([['m0', 'mirror0', true, '', '']])
    await agent.stop()
    agent = node.startAgent()
    await settle()
    expect(mirrors()).toEqual([])
  })
})
