import { podAnnotations } from '@kube-ovn/annotations'
import { InvalidFragmentError } from '@kube-ovn/fragments'
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

const one = '192.0.2.5:4739'
const other = '[2001:db8::5]:4739'

describe.skipIf(missing)(`collectors of samples${missing === undefined ? '' : ` (${missing})`}`, () => {
  let node: TestNode
  let agent: TestAgent | undefined

  beforeEach(async () => {
    node = await TestNode.start()
    await node.database.vsctl('add-br', 'br-int')
    node.nodes.put('n1', allocated)
  })
  afterEach(() => node?.[Symbol.asyncDispose]())

  async function restart(...sampleTargets: readonly string[]): Promise<readonly unknown[]> {
    await agent?.stop()
    agent = node.startAgent({}, systemClock, { sampleTargets })
    return agent.settle()
  }

  /** Sets of the integration bridge: number, and who is told. */
  function sets(): readonly string[] {
    const [bridge] = node.ovs.cache.find('Bridge', 'name', 'br-int')
    return [...node.ovs.cache.scan('Flow_Sample_Collector_Set')]
      .filter((row) => row.bridge === bridge?._uuid)
      .map(({ id, ipfix }) => {
        const targets = ipfix === undefined ? [] : node.ovs.cache.get('IPFIX', ipfix)?.targets
        return `${id} ${[...(targets ?? [])].sort().join()}`
      })
  }

  it('are there as long as they are wanted, follow edits, and cost nothing over a restart', async () => {
    expect(await restart()).toEqual([])
    expect(sets()).toEqual([])
    expect(await restart(one)).toEqual([])
    expect(sets()).toEqual([`142 ${one}`])
    expect(await restart(one)).toEqual([])
    expect(await agent?.writes()).toBe(0)
    expect(await restart(other, one)).toEqual([])
    expect(sets()).toEqual([`142 ${one},${other}`])
    await node.database.vsctl('--', '--all', 'destroy', 'Flow_Sample_Collector_Set')
    await expect.poll(sets).toEqual([`142 ${one},${other}`])
    expect(await restart()).toEqual([])
    expect(sets()).toEqual([])
  })

  it('are put right when somebody has changed them', async () => {
    expect(await restart(one)).toEqual([])
    const [row] = node.ovs.cache.scan('IPFIX')
    await node.database.vsctl('set', 'IPFIX', row?._uuid ?? '', 'targets="192.0.2.99:1"')
    await expect.poll(sets).toEqual([`142 ${one}`])
  })

  it('of others are left alone, also where they have the number', async () => {
    const own = ['--', '--id=@br', 'get', 'Bridge', 'br-int', '--', '--id=@ipfix', 'create', 'IPFIX']
    const set = ['--', 'create', 'Flow_Sample_Collector_Set', 'bridge=@br', 'id=142', 'ipfix=@ipfix']
    await node.database.vsctl(...own, 'targets="192.0.2.77:4739"', ...set)
    expect(await restart(one)).toEqual([])
    expect(sets()).toEqual(['142 192.0.2.77:4739'])
    expect(await restart()).toEqual([])
    expect(sets()).toEqual(['142 192.0.2.77:4739'])
  })

  it.each(['192.0.2.5', 'collector:4739', '2001:db8::5:4739', '192.0.2.5:0', '[192.0.2.999]:4739'])(
    'are none for what is no target, which is told: %s',
    async (target) => {
      await restart(target)
      const told = agent?.log.lines.flatMap(({ fields }) =>
        fields['err'] instanceof InvalidFragmentError ? [fields['err'].details.value] : [],
      )
      expect([told, sets()]).toEqual([[target], []])
    },
  )
})
