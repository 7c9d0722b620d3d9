import {
  addressesOfPod,
  applyAll,
  askHere,
  deleteAll,
  furtherNetwork,
  idlePod,
  namespaceOf,
  ofStack,
  placeOf,
  takeDownPod,
  untilPodsReady,
  type AddressPair,
  type ApiObject,
  type Outcome,
  type Place,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import type { Ferry } from './ferry.ts'

const port = 18_200
/** How long an answer may take that does not come. */
const timeoutMs = 2000

/** Two further networks of the first VPC, and the addresses that a pod has in each. */
const networks = {
  dinghy: {
    cidrs: { ipv4: '10.51.0.0/24', ipv6: 'fd00:10:51::/112' },
    gateways: { ipv4: '10.51.0.1', ipv6: 'fd00:10:51::1' },
    own: { ipv4: '10.51.0.5', ipv6: 'fd00:10:51::5' },
  },
  raft: {
    cidrs: { ipv4: '10.52.0.0/24', ipv6: 'fd00:10:52::/112' },
    gateways: { ipv4: '10.52.0.1', ipv6: 'fd00:10:52::1' },
    own: { ipv4: '10.52.0.5', ipv6: 'fd00:10:52::5' },
  },
} as const
type NetworkName = keyof typeof networks

/** Somebody who asks, or is asked, with addresses of each family. */
interface End {
  readonly name: string
  readonly place: Place
  readonly addresses: readonly string[]
}

/** Who asks whom. */
type Pair = readonly [End, End]

/** What pods do by the NICs that they have in a VPC beside their first ones. */
export function vpcNics(given: () => Ferry): void {
  it('reach pods of their VPC by a further NIC, whose first one may be in another VPC, and nobody else', async () => {
    const { cluster, pods, podCidrs } = given()
    const { stack: families } = cluster.topology
    const inStack = (pair: AddressPair): readonly string[] => ofStack(families, pair)
    await using stack = new AsyncDisposableStack()
    const described = Object.fromEntries(
      Object.entries(networks).map(([name, { cidrs }]) => [
        name,
        furtherNetwork(name, inStack(cidrs).join(), { vpc: 'ferry' }),
      ]),
    )
    const objects = Object.values(described).flatMap((network) => network.objects)
    stack.defer(() => deleteAll(cluster.api, objects))
    await applyAll(cluster.api, objects)

    /** One with a further NIC, by which it sends what is for some prefixes. */
    const withNic = async (namespace: string, name: string, network: NetworkName, to: readonly string[]) => {
      const { gateways, own } = networks[network]
      const prefix = `${described[network]?.provider}.kubernetes.io`
      const routes = to.map((dst) => ({ dst, gw: gateways[dst.includes(':') ? 'ipv6' : 'ipv4'] }))
      const pod: ApiObject = idlePod({
        ...{ name, namespace },
        annotations: {
          'k8s.v1.cni.cncf.io/networks': `default/${network}`,
          [`${prefix}/ip_address`]: inStack(own).join(),
          [`${prefix}/routes`]: JSON.stringify(routes),
        },
      })
      stack.defer(() => takeDownPod(cluster.api, pod))
      await applyAll(cluster.api, [pod])
      const [made] = await untilPodsReady(cluster.api, namespace, `app=${name}`, 1)
      return made ?? expect.unreachable('one was waited for')
    }
    const guest = await withNic('default', 'guest', 'dinghy', [
      ...inStack(podCidrs.ferry),
      ...inStack(networks.raft.cidrs),
    ])
    const sailor = await withNic('ferry', 'sailor', 'raft', inStack(networks.dinghy.cidrs))

    const ends = (pod: typeof guest | undefined): Omit<End, 'name'> =>
      pod === undefined
        ? expect.unreachable('it is there')
        : { place: placeOf(cluster, pod), addresses: addressesOfPod(pod) }
    const [first, second] = pods.ferry
    const peers = [
      { name: 'the first peer', ...ends(first) },
      { name: 'the second peer', ...ends(second) },
    ]
    const [peer] = peers
    const atFirst: End = { name: 'the guest', ...ends(guest) }
    const further: End = { ...atFirst, addresses: inStack(networks.dinghy.own) }
    const aboard: End = { name: 'the sailor', ...ends(sailor), addresses: inStack(networks.raft.own) }
    // Its address is of the prefix that both VPCs have.
    const stranger: End = { name: 'a pod of another VPC', ...ends(pods.twin.at(-1)) }
    const [node] = cluster.nodes
    if (peer === undefined || node === undefined) return expect.unreachable('both are there')
    // As whom it asks depends on the routes of the node.
    const host: End = { name: 'a node', place: node.place, addresses: [] }
    const reached: readonly Pair[] = [
      ...[...peers, aboard].flatMap((one): readonly Pair[] => [
        [further, one],
        [one, further],
      ]),
      [host, atFirst],
    ]
    const lost: readonly Pair[] = [
      [further, stranger],
      [host, further],
      [peer, atFirst],
    ]
    const wanted = [
      ...reached.flatMap(([from, to]) => to.addresses.map((at) => told(from, to, at, sourceOf(from, at)))),
      ...lost.flatMap(([from, to]) => to.addresses.map((at) => told(from, to, at, undefined))),
    ]
    await expect.poll(() => ask([...reached, ...lost]), { timeout: 120_000 }).toEqual(wanted)
  })
}

/** All at once, each at every address. */
async function ask(pairs: readonly Pair[]): Promise<readonly string[]> {
  const asked = pairs.flatMap(([from, to]) => to.addresses.map((at) => ({ from, to, at })))
  const outcomes = await askHere(
    asked.map(({ from, to, at }) => ({
      ...{ target: at, port, protocol: 'tcp', isOurs: true, timeoutMs },
      netns: namespaceOf(from.place),
      listeners: [{ netns: namespaceOf(to.place), address: at, port, protocol: 'tcp' }],
    })),
  )
  return asked.map(({ from, to, at }, index) => told(from, to, at, seenSource(from, outcomes[index])))
}

function seenSource({ addresses }: End, outcome: Outcome | undefined): string | undefined {
  if (outcome?.kind !== 'reached') return undefined
  return addresses.length === 0 ? 'somebody' : (outcome.seen?.source ?? 'nobody')
}

/** The address as which somebody asks at another one. */
function sourceOf({ addresses }: End, at: string): string {
  return addresses.length === 0
    ? 'somebody'
    : (addresses.find((own) => own.includes(':') === at.includes(':')) ?? '')
}

function told(from: End, to: End, at: string, source: string | undefined): string {
  return `${from.name} to ${to.name} at ${at}: ${source === undefined ? 'no answer' : `is seen as ${source}`}`
}
