import {
  addressesOfPod,
  askHere,
  namespaceOf,
  nbctl,
  ovnCentral,
  placeOf,
  type Outcome,
  type PodObject,
  type Question,
} from '@kube-ovn/lab'
import pMap from 'p-map'
import { expect, it } from 'vitest'
import type { Ferry, FerryVpc } from './ferry.ts'
import { koOf } from './kubectl-ko/run-program.ts'
import { nameOf, portOf } from './kubectl-ko/suite.ts'
import { tracesAtOnce, traceTcp, type TraceVerdict } from './kubectl-ko/trace-verdict.ts'

const patience = { timeout: 180_000 }
/** How long an answer may take that does not come. */
const timeoutMs = 3000
const firstPort = 18_100

/** Whom pods of a VPC reach, and whether they reach what is outside. */
const reached: Readonly<Record<FerryVpc, { readonly vpcs: readonly FerryVpc[]; readonly outside: boolean }>> =
  {
    ferry: { vpcs: ['ferry', 'quay'], outside: true },
    twin: { vpcs: ['twin'], outside: false },
    quay: { vpcs: ['quay', 'ferry'], outside: false },
  }

/** A packet that is traced and sent. */
interface Pair {
  readonly from: PodObject
  readonly address: string
}

/** Compares what `kubectl ko trace` tells of packets in VPCs, between them and out of them with what becomes of these. */
export function vpcTraces(given: () => Ferry): void {
  const trace = ({ from, address }: Pair): Promise<TraceVerdict> =>
    traceTcp(koOf(given().cluster.kubeconfig), from, address, firstPort)

  it('are traced as packets go, also where two VPCs have one address', async () => {
    const { pods } = given()
    const all = (Object.keys(pods) as readonly FerryVpc[]).flatMap((vpc) =>
      pods[vpc].map((pod) => ({ vpc, pod })),
    )
    const senders = [pods.ferry[0], pods.twin[1], pods.quay[0]].flatMap((pod) => pod ?? [])
    expect(senders).toHaveLength(3)
    const pairs = senders.flatMap((from) =>
      [...new Set(all.flatMap(({ pod }) => addressesOfPod(pod)))]
        .filter((address) => !addressesOfPod(from).includes(address))
        .map((address) => ({ from, address })),
    )
    const vpcOf = (pod: PodObject): FerryVpc => pod.metadata.namespace as FerryVpc
    const wanted = pairs.map(({ from, address }) => {
      const ends = all.filter(
        ({ vpc, pod }) => reached[vpcOf(from)].vpcs.includes(vpc) && addressesOfPod(pod).includes(address),
      )
      return told(
        { from, address },
        ends.map(({ pod }) => portOf(pod)),
      )
    })
    // It says nothing where all is allowed, or nothing.
    for (const end of [/: reaches /, /: is lost$/])
      expect(wanted.filter((text) => end.test(text)).length).toBeGreaterThan(2 * given().families.length)
    const holders = all.map(({ pod }) => pod)
    await expect.poll(() => probe(given(), pairs, holders), patience).toEqual(wanted)
    const endOf = async (pair: Pair): Promise<string> => {
      const { outcome, ports } = await trace(pair)
      return told(pair, outcome === 'delivered' ? ports : [])
    }
    const traced = await pMap(pairs, endOf, tracesAtOnce)
    expect(traced).toEqual(wanted)
  })

  it('are traced out of a VPC with the address that is seen outside: its own, or that of a NAT', async () => {
    const { cluster, families, pods, targets, own, podCidrs } = given()
    const senders = [pods.ferry[0], pods.twin[1], pods.quay[0]].flatMap((pod) => pod ?? [])
    const pairs = senders.flatMap((from) =>
      targets.slice(0, families.length).map((address) => ({ from, address })),
    )
    const sourceOf = async (pair: Pair): Promise<string> => {
      const { outcome, wayOut: { source = '' } = {} } = await trace(pair)
      if (outcome !== 'leaves') return told(pair, [])
      return told(pair, [
        source === 'own' ? addressOfFamily(addressesOfPod(pair.from), pair.address) : source,
      ])
    }
    const expectBoth = async (sources: readonly string[]): Promise<void> => {
      const wanted = pairs.map((pair) => {
        const isOut = reached[pair.from.metadata.namespace as FerryVpc].outside
        return told(pair, isOut ? [addressOfFamily(sources, pair.address)] : [])
      })
      await expect.poll(() => seenOutside(given(), pairs), patience).toEqual(wanted)
      await expect.poll(() => pMap(pairs, sourceOf, tracesAtOnce), patience).toEqual(wanted)
    }
    const [sender] = pods.ferry
    if (sender === undefined) return expect.unreachable()
    await expectBoth(addressesOfPod(sender))
    // Nobody of ours makes rows of NAT yet; whoever writes them has them kept.
    const central = await ovnCentral(cluster)
    const nats = families.map((family) => [own[family], podCidrs.ferry[family]] as const)
    for (const [external, internal] of nats)
      await nbctl(central, 'lr-nat-add', 'ferry', 'snat', external, internal)
    try {
      await expectBoth(nats.map(([external]) => external))
    } finally {
      for (const [, internal] of nats) await nbctl(central, 'lr-nat-del', 'ferry', 'snat', internal)
    }
  })
}

function told({ from, address }: Pair, ends: readonly string[]): string {
  const what = ends.length === 0 ? 'is lost' : `reaches ${ends.toSorted().join(', ')}`
  return `${nameOf(from)} to ${address}: ${what}`
}

/** That of several addresses which is of the family of another one. */
function addressOfFamily(addresses: readonly string[], other: string): string {
  const isOfFamily = (address: string): boolean => address.includes(':') === other.includes(':')
  return addresses.find(isOfFamily) ?? ''
}

/** Opens a connection to each pod that has the address, each at a port of its own: which of them it comes to is who answers. */
async function probe(
  { cluster }: Ferry,
  pairs: readonly Pair[],
  holders: readonly PodObject[],
): Promise<readonly string[]> {
  const asked = pairs.flatMap((pair) =>
    holders.flatMap((pod, index) =>
      addressesOfPod(pod).includes(pair.address) ? [{ pair, pod, port: firstPort + index }] : [],
    ),
  )
  const outcomes = await askHere(
    asked.map(({ pair: { from, address }, pod, port }): Question => ({
      ...{ target: address, port, protocol: 'tcp', isOurs: true, timeoutMs },
      netns: namespaceOf(placeOf(cluster, from)),
      listeners: [{ netns: namespaceOf(placeOf(cluster, pod)), address, port, protocol: 'tcp' }],
    })),
  )
  return pairs.map((pair) =>
    told(
      pair,
      asked.flatMap((one, index) =>
        one.pair === pair && seenSource(outcomes[index]) !== undefined ? [portOf(one.pod)] : [],
      ),
    ),
  )
}

/** Opens a connection to what both routers have, and tells the address that they see. */
async function seenOutside(
  { cluster, frr, bird }: Ferry,
  pairs: readonly Pair[],
): Promise<readonly string[]> {
  const outcomes = await askHere(
    pairs.map(({ from, address }): Question => ({
      ...{ target: address, port: firstPort, protocol: 'tcp', isOurs: true, timeoutMs },
      netns: namespaceOf(placeOf(cluster, from)),
      listeners: [frr, bird].map(({ place }) => ({
        ...{ netns: namespaceOf(place), address, port: firstPort, protocol: 'tcp' },
      })),
    })),
  )
  return pairs.map((pair, index) => {
    const source = seenSource(outcomes[index])
    return told(pair, source === undefined ? [] : [source])
  })
}

function seenSource(outcome: Outcome | undefined): string | undefined {
  return outcome?.kind === 'reached' ? outcome.seen?.source : undefined
}
