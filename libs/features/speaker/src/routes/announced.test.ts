import { join } from 'node:path'
import type { Vip } from '@kube-ovn/kube-api'
import type { Service } from '@kube-ovn/kube-api/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { desiredPrefixes } from './desired.ts'
import {
  annotationsOf,
  bgpPeer,
  node,
  otherSpeaker,
  pod,
  policies,
  subnet,
  tableOf,
} from './objects-fixture.ts'
import type { SpeakerSnapshot } from './snapshot.ts'

it('is what this table says, for each policy of a Subnet and of its Pod', async () => {
  const head = ['NODE', 'AGGREGATES', 'SUBNET', 'POD', 'POD IS', 'ANNOUNCED'] as const
  const rows: (readonly string[])[] = [head]
  for (const isDrained of [false, true])
    for (const aggregates of [false, true])
      for (const ofSubnet of policies)
        for (const ofPod of policies)
          for (const where of ['node-1', 'node-2']) {
            const { prefixes } = desiredPrefixes({
              ...{ nodeName: 'node-1', aggregates, services: [], vips: [], bgpPeers: [] },
              nodes: [node('node-1', isDrained), node('node-2', false)],
              subnets: [subnet('red', '10.16.0.0/16', ofSubnet)],
              pods: [pod('web', where, 'red', '10.16.0.5', ofPod), otherSpeaker],
            })
            rows.push([
              ...[
                isDrained ? 'drained' : 'serving',
                aggregates ? 'yes' : 'no',
                ofSubnet ?? '-',
                ofPod ?? '-',
              ],
              ...[where === 'node-1' ? 'here' : 'there', [...prefixes].toSorted().join(' ') || '-'],
            ])
          }
  await expect(tableOf(rows)).toMatchFileSnapshot(join(import.meta.dirname, '__golden__/announced.txt'))
})

const policy = fc.constantFrom(...policies)
const nodeName = fc.constantFrom('node-1', 'node-2', 'node-3')
const session = fc.constantFrom('up', 'down', 'untold')
const names = ['red', 'blue'] as const

const world: fc.Arbitrary<SpeakerSnapshot> = fc
  .record({
    aggregates: fc.boolean(),
    subnets: fc.tuple(policy, policy),
    drained: fc.tuple(fc.boolean(), fc.boolean()),
    /** Of either node; of some nothing is told. */
    sessions: fc.tuple(session, session),
    pods: fc.array(fc.record({ node: nodeName, policy, isRed: fc.boolean(), isDual: fc.boolean() }), {
      maxLength: 8,
    }),
    services: fc.array(policy, { maxLength: 3 }),
    vips: fc.array(fc.record({ policy, isRed: fc.boolean(), sharers: fc.subarray([0, 1, 2]) }), {
      maxLength: 3,
    }),
  })
  .map(({ aggregates, subnets, drained, sessions, pods, services, vips }) => ({
    ...{ aggregates, nodeName: 'node-1' },
    nodes: [node('node-1', drained[0]), node('node-2', drained[1])],
    bgpPeers: sessions.flatMap((state, index) =>
      state === 'untold' ? [] : [bgpPeer(`node-${index + 1}`, state === 'up')],
    ),
    subnets: names.map((name, index) =>
      subnet(name, `10.${16 + index}.0.0/16,fd00:10:${16 + index}::/112`, subnets[index]),
    ),
    pods: [
      otherSpeaker,
      ...pods.map(({ node, policy, isRed, isDual }, index) => {
        const second = isRed ? 16 : 17
        const v4 = `10.${second}.0.${index + 1}`
        const addresses = isDual ? `${v4},fd00:10:${second}::${index + 1}` : v4
        const made = pod(`pod-${index}`, node, isRed ? 'red' : 'blue', addresses, policy)
        const shared = vips.flatMap(({ sharers }, vip) => (sharers.includes(index) ? [`vip-${vip}`] : []))
        const annotations = { ...made.metadata.annotations, 'ovn.kubernetes.io/aaps': shared.join(',') }
        return { ...made, metadata: { ...made.metadata, annotations } }
      }),
    ],
    vips: vips.map(({ policy, isRed }, index): Vip => ({
      metadata: { name: `vip-${index}`, annotations: annotationsOf(policy) },
      spec: { subnet: isRed ? 'red' : 'blue', namespace: 'shop' },
      status: { v4ip: `10.${isRed ? 16 : 17}.1.${index + 1}` },
    })),
    services: services.map((policy, index): Service => ({
      metadata: { name: `svc-${index}`, namespace: 'shop', annotations: annotationsOf(policy) },
      spec: { type: 'ClusterIP', clusterIPs: [`10.96.0.${index + 1}`] },
    })),
  }))

function shown(snapshot: SpeakerSnapshot): unknown {
  const { prefixes, problems } = desiredPrefixes(snapshot)
  const sorted = problems.toSorted((a, b) => a.object.localeCompare(b.object))
  return { prefixes: [...prefixes].toSorted(), problems: sorted }
}

it('depends neither on the order of objects nor on what was computed before', () => {
  fc.assert(
    fc.property(world, world, (before, snapshot) => {
      const { nodes, subnets, pods, services, vips } = snapshot
      const expected = shown(structuredClone(snapshot))
      shown(before)
      expect(shown(snapshot)).toEqual(expected)
      const reversed = <T>(objects: Iterable<T>): readonly T[] => [...objects].toReversed()
      expect(
        shown({
          ...snapshot,
          ...{ nodes: reversed(nodes), subnets: reversed(subnets) },
          ...{ pods: reversed(pods), services: reversed(services), vips: reversed(vips) },
        }),
      ).toEqual(expected)
    }),
  )
})

it('is told by one speaker at least with a session whatever any could tell, however many nodes are drained', () => {
  fc.assert(
    fc.property(world, (snapshot) => {
      fc.pre(!snapshot.aggregates)
      // Either node has a speaker that is Ready.
      const speakers = ['node-1', 'node-2'].map((nodeName) => ({
        ...otherSpeaker,
        metadata: { ...otherSpeaker.metadata, name: `speaker-${nodeName}` },
        spec: { ...otherSpeaker.spec, nodeName },
      }))
      const given = { ...snapshot, pods: [...snapshot.pods, ...speakers] }
      const isMute = (nodeName: string): boolean =>
        [...(snapshot.bgpPeers ?? [])].some(
          ({ spec, status }) => spec?.node === nodeName && status?.state !== 'Established',
        )
      // A router hears nothing of what is told without a session.
      const by = (nodeName: string, nodes: SpeakerSnapshot['nodes']): ReadonlySet<string> =>
        isMute(nodeName) ? new Set() : desiredPrefixes({ ...given, nodeName, nodes }).prefixes
      const undrained = [node('node-1', false), node('node-2', false)]
      const all = new Set([...by('node-1', undrained), ...by('node-2', undrained)])
      const drained = new Set([...by('node-1', given.nodes), ...by('node-2', given.nodes)])
      expect([...drained].toSorted()).toEqual([...all].toSorted())
    }),
  )
})
