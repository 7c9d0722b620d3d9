import {
  applyAll,
  deleteAll,
  eventually,
  idlePod,
  pingAll,
  killAt,
  startPing,
  startPrometheus,
  takeDownPod,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type LabNode,
  type PodObject,
  type Prometheus,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  annotation,
  cidrs,
  namespace,
  nobodyOf,
  objects,
  prepareRouters,
  routersOf,
  speakerValues,
  patience,
} from './bgp-lab.ts'
import { startLimited } from './bgp-limited.ts'
import { speakerMetrics } from './bgp-metrics.ts'
import {
  askBird,
  askFrr,
  birdConfiguration,
  configureBird,
  configureFrr,
  frrLines,
  learned,
  startLearning,
  type LearningHost,
  type Router,
} from './bgp-routers.ts'
import type { Routed } from './bgp-routed.ts'
import { Speakers } from './bgp-speakers.ts'
import { countEntering, expectEachWithin, sendFlows, timed, type Seen } from './bgp-traffic.ts'
import { aggregatedSubnets } from './bgp-aggregates.ts'
import { announcedServices } from './bgp-services.ts'
import { exchangedSpeakers } from './bgp-exchange.ts'
import { lostNodes } from './bgp-lost-nodes.ts'
import { announcedVips } from './bgp-vips.ts'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('has routers around its nodes')

interface ServiceObject extends ApiObject {
  readonly spec: { readonly clusterIPs?: readonly string[] }
}

const lab = useSuiteLab(
  { id: 'bgp', nodes: 2, stack: 'dual', routers: ['frr', 'bird'] },
  {
    values: (cluster) => ({ features: { enableSecureServing: true }, bgpSpeaker: speakerValues(cluster) }),
    beforeChart: prepareRouters,
  },
)

let cluster: Cluster
let prometheus: Prometheus
let frr: Router
let bird: Router
/** Hears of pods from the routers. */
let host: LearningHost
const atEnd = new AsyncDisposableStack()
let speakers: Speakers
let nodes: readonly [LabNode, LabNode]
/** One on each node. */
let pods: readonly [PodObject, PodObject]

beforeAll(async () => {
  ;({ cluster } = lab)
  prometheus = await startPrometheus(cluster)
  ;({ frr, bird } = routersOf(cluster))
  const [first, second] = cluster.nodes
  if (first === undefined || second === undefined) expect.unreachable('there are two nodes')
  nodes = [first, second]
  speakers = new Speakers(cluster, prometheus)
  host = atEnd.use(await startLearning(cluster))
  await applyAll(cluster.api, [
    ...objects,
    ...nodes.map(({ name }, index) => idlePod({ name: `pod-${index}`, namespace }, name)),
  ])
  pods = [await readyPod('pod-0'), await readyPod('pod-1')]
})

afterAll(async () => {
  await prometheus?.[Symbol.asyncDispose]()
  await atEnd.disposeAsync()
})

async function readyPod(name: string): Promise<PodObject> {
  const [pod] = await untilPodsReady(cluster.api, namespace, `app=${name}`, 1)
  return pod ?? expect.unreachable('one was waited for')
}

function addressOf(pod: PodObject, family: 'ipv4' | 'ipv6'): string {
  const all = (pod.status?.podIPs ?? []).map(({ ip }) => ip)
  return all.find((ip) => ip.includes(':') === (family === 'ipv6')) ?? expect.unreachable('it has both')
}

/** Next hops of a pod's addresses at both routers: FRR's own, and BIRD's, which are IPv6 for both families. */
async function waysTo(pod: PodObject): Promise<readonly (readonly string[] | undefined)[]> {
  const tables = await Promise.all(
    [frr, bird].flatMap((router) => (['ipv4', 'ipv6'] as const).map((family) => learned(router, family))),
  )
  return tables.map((table, index) => table.get(addressOf(pod, index % 2 === 0 ? 'ipv4' : 'ipv6')))
}

/** What `waysTo` is where only these nodes announce. */
function waysBy(...by: readonly LabNode[]): readonly (readonly string[])[] {
  const [v4, v6] = [by.map(({ physical }) => physical.ipv4), by.map(({ physical }) => physical.ipv6)]
  return [v4.toSorted(), v6.toSorted(), v6.toSorted(), v6.toSorted()]
}

const noWay = [undefined, undefined, undefined, undefined]

function annotate(policy: string | null): Promise<unknown> {
  return cluster.api.mergePatch(`/apis/kubeovn.io/v1/subnets/${namespace}`, {
    metadata: { annotations: { [annotation]: policy } },
  })
}

/** Until both routers and the host outside, which has learned from them, reach all of these. */
async function untilReached(...to: readonly string[]): Promise<void> {
  for (const { place, name } of [frr, bird, host])
    await eventually(`${name} reaches ${to.join(', ')}`, async () =>
      (await pingAll(place, to)).size === to.length ? true : undefined,
    )
}

function routed(): Routed {
  const untilTold = async (pod: PodObject, by: LabNode): Promise<void> => {
    await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(by))
  }
  return { cluster, frr, bird, host, nodes, pods, speakers, untilTold, untilReached }
}

function allAddresses(): readonly string[] {
  return pods.flatMap((pod) => [addressOf(pod, 'ipv4'), addressOf(pod, 'ipv6')])
}

describe('speakers', () => {
  it('announce each pod from its node: IPv4 and IPv6, signed, over IPv6, and to a router two hops away', async () => {
    for (const [index, pod] of pods.entries())
      await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(nodes[index] ?? nodes[0]))
    // The session from afar has told it, too, though the other one counts more.
    for (const pod of pods)
      await expect
        .poll(() => askBird(bird, 'show', 'route', 'for', addressOf(pod, 'ipv4')), patience)
        .toMatch(/\[far_\d/)
    const { community } = await askFrr<{ paths: readonly { community?: { string: string } }[] }>(
      frr,
      `show bgp ipv4 unicast ${addressOf(pods[0], 'ipv4')}/32`,
    ).then(({ paths: [path] }) => path ?? expect.unreachable('it has a way'))
    expect(community?.string).toBe('65000:7')
    expect(await askBird(bird, 'show', 'route', 'for', addressOf(pods[0], 'ipv4'), 'all')).toContain(
      '(65000, 1, 2)',
    )
    // No Subnet, and nothing that nobody asked for.
    expect([...(await learned(frr, 'ipv4')).keys()].filter((dst) => dst.startsWith('10.46.'))).toHaveLength(2)
    await untilReached(...allAddresses())
  })

  speakerMetrics(() => ({ prometheus, speakers, nodes }))

  it('say of each session how it is doing, and of a router that is not there what to look at', async () => {
    const there = [frr.addresses.ipv4, frr.addresses.ipv6, bird.addresses.ipv6, bird.behind.ipv4]
    for (const node of nodes) {
      for (const address of there) {
        await expect
          .poll(() => speakers.condition(node, address), patience)
          .toMatch(/^True SessionEstablished: /)
        // All that is wanted is told: a pod of each family at most.
        const wanted = await speakers.metric(node, 'routes_wanted', address)
        expect(wanted).toBe(address === bird.addresses.ipv6 ? 2 : 1)
        await expect.poll(() => speakers.metric(node, 'routes_advertised', address), patience).toBe(wanted)
        await expect
          .poll(async () => (await speakers.status(node, address))?.prefixes, patience)
          .toMatchObject({ wanted, advertised: wanted })
      }
      const { bfd, prefixes } = (await speakers.status(node, frr.addresses.ipv6)) ?? {}
      expect([bfd, (prefixes?.received ?? 0) > 0]).toEqual(['Up', true])
      await expect
        .poll(() => speakers.condition(node, nobodyOf(cluster)), patience)
        .toMatch(new RegExp(`^False .*neighbor-address is ${nobodyOf(cluster)}: `))
    }
  })

  it('have traffic of a local pod enter where it lives', async () => {
    const [pod] = pods
    const targets = [addressOf(pod, 'ipv4'), addressOf(pod, 'ipv6')]
    const counts = await countEntering(nodes, targets, async () => {
      for (const { place } of [frr, bird, host]) expect((await pingAll(place, targets)).size).toBe(2)
    })
    expect(counts.map((count) => count > 0)).toEqual([true, false])
  })

  it('announce a Subnet that is cluster from all nodes, which routers use both', async () => {
    await annotate('cluster')
    await expect
      .poll(async () => (await learned(frr, 'ipv4')).get(cidrs.ipv4), patience)
      .toEqual(nodes.map(({ physical }) => physical.ipv4).toSorted())
    for (const pod of pods) await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(...nodes))
    await untilReached(...allAddresses())
    for (const family of ['ipv4', 'ipv6'] as const) {
      const target = addressOf(pods[0], family)
      await expect.poll(async () => (await learned(host, family)).get(target)?.length, patience).toBe(2)
      for (const { place } of [frr, host]) {
        const counts = await countEntering(nodes, [target], () => sendFlows(place, target))
        expect(counts.map((count) => count > 0)).toEqual([true, true])
      }
    }
  })

  it('leave what is cluster to others while their node is drained, and keep what is local', async () => {
    const [node, other] = nodes
    const drain = (unschedulable: boolean | null): Promise<unknown> =>
      cluster.api.mergePatch(`/api/v1/nodes/${node.name}`, { spec: { unschedulable } })
    await drain(true)
    for (const pod of pods) await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(other))
    await expect
      .poll(async () => (await learned(frr, 'ipv4')).get(cidrs.ipv4), patience)
      .toEqual([other.physical.ipv4])
    await annotate('local')
    for (const [index, pod] of pods.entries())
      await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(nodes[index] ?? node))
    await expect.poll(async () => (await learned(frr, 'ipv4')).has(cidrs.ipv4), patience).toBe(false)
    await drain(null)
  })

  it('announce Services that ask for it, and say what is wrong with one that can not be', async () => {
    const service = (name: string, policy: string): ServiceObject =>
      ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name, namespace, annotations: { [annotation]: policy } },
        spec: { ipFamilyPolicy: 'PreferDualStack', selector: { app: 'pod-0' }, ports: [{ port: 80 }] },
      }) as ServiceObject
    const made = await cluster.api.create(service('web', 'true'))
    await cluster.api.create(service('odd', 'everywhere'))
    const { clusterIPs = [] } = made.spec
    expect(clusterIPs).toHaveLength(2)
    for (const address of clusterIPs) {
      const family = address.includes(':') ? 'ipv6' : 'ipv4'
      await expect
        .poll(async () => (await learned(frr, family)).get(address), patience)
        .toEqual(nodes.map(({ physical }) => physical[family]).toSorted())
    }
    await expect
      .poll(() => speakers.log(nodes[0]), patience)
      .toMatch(/Service\/routed\/odd.*everywhere.*write true, cluster or local/)
    await deleteAll(cluster.api, [service('web', 'true'), service('odd', '')])
    await expect.poll(async () => (await learned(frr, 'ipv4')).has(clusterIPs[0] ?? ''), patience).toBe(false)
  })

  announcedVips(routed)

  announcedServices(routed)

  aggregatedSubnets(routed)

  exchangedSpeakers(routed)

  it('keep their routes when they are killed under traffic: no packet is lost', async () => {
    const [, node] = nodes
    const [, pod] = pods
    // By FRR, and from the host outside by what both routers have told it.
    const pings = [
      startPing(frr.place, addressOf(pod, 'ipv4')),
      startPing(host.place, addressOf(pod, 'ipv4')),
      startPing(host.place, addressOf(pod, 'ipv6')),
    ]
    for (const ping of pings) await ping.started()
    const before = await speakers.processes(node)
    for (const pid of before) process.kill(pid, 'SIGKILL')
    await expect.poll(() => speakers.up(node, frr.addresses.ipv4), patience).toBe(1)
    await expect.poll(() => speakers.up(node, bird.addresses.ipv6), patience).toBe(1)
    expect((await speakers.processes(node)).some((pid) => before.includes(pid))).toBe(false)
    await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(node))
    // Told again, and not what the router has kept.
    await expect
      .poll(async () => {
        const { paths } = await askFrr<{ paths: readonly { stale?: boolean }[] }>(
          frr,
          `show bgp ipv4 unicast ${addressOf(pod, 'ipv4')}/32`,
        )
        return paths.map(({ stale = false }) => stale)
      }, patience)
      .toEqual([false])
    const losses = await Promise.all(pings.map((ping) => ping.stop()))
    console.log(`${losses.map(({ sent }) => sent).join(', ')} packets while a speaker was killed`)
    expect(losses.map(({ lost }) => lost)).toEqual([[], [], []])
  })

  it('withdraw the routes of a pod within a second of its deletion', async () => {
    const extras = [0, 1, 2].map((index) => idlePod({ name: `extra-${index}`, namespace }, nodes[1].name))
    await applyAll(cluster.api, extras)
    const times: Seen[] = []
    for (const extra of extras) {
      const pod = await readyPod(extra.metadata.name)
      await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(nodes[1]))
      times.push(
        await timed(
          () => cluster.api.delete(extra, 0),
          () => waysTo(pod),
          noWay,
        ),
      )
    }
    expectEachWithin(1_000, 'routes of a pod were withdrawn from both routers', times)
  })

  it('go on with one router whatever is wrong with the other, say what it is, and come again', async () => {
    const [node] = nodes
    const others = async (): Promise<readonly (number | undefined)[]> => [
      await speakers.up(node, frr.addresses.ipv6),
      await speakers.up(node, bird.addresses.ipv6),
    ]
    const seen = (await speakers.log(node)).length
    const said = async (): Promise<string> => (await speakers.log(node)).slice(seen)
    await configureFrr(frr, 'router bgp 65001', 'neighbor ipv4 remote-as 65099')
    await configureBird(bird, birdConfiguration(bird, cluster.outside.addresses, 'another'))
    await expect
      .poll(said, patience)
      .toMatch(/OPEN message error: bad peer AS.*"field":"cluster-as","value":"65000"/)
    await expect
      .poll(said, patience)
      .toMatch(new RegExp(`"peer":"${bird.behind.ipv4}".*no answer within 10 s.*both ends have one password`))
    const condition = (peer: string) => (): Promise<string> => speakers.condition(node, peer)
    await expect
      .poll(condition(frr.addresses.ipv4), patience)
      .toMatch(/^False NotificationReceived: .*bad peer AS \(cluster-as is 65000: /)
    await expect
      .poll(condition(bird.behind.ipv4), patience)
      .toMatch(/^False ConnectionFailed: .*one password/)
    // BFD ends a session of a machine that stands still for a second; it comes again.
    await expect.poll(others, patience).toEqual([1, 1])
    await configureFrr(frr, 'router bgp 65001', 'neighbor ipv4 remote-as external')
    await configureBird(bird, birdConfiguration(bird, cluster.outside.addresses))
    await expect.poll(() => speakers.up(node, frr.addresses.ipv4), patience).toBe(1)
    await expect.poll(() => speakers.up(node, bird.behind.ipv4), patience).toBe(1)
    await expect.poll(others, patience).toEqual([1, 1])
    expect(await speakers.up(node, nobodyOf(cluster))).toBe(0)
  })

  it('are told by a router how many prefixes it takes, and go on with the others', async () => {
    const { ipv4: address } = cluster.outside.addresses
    await using limited = await startLimited(cluster, 1)
    for (const node of nodes) await expect.poll(() => speakers.up(node, address), patience).toBe(1)
    await annotate('cluster')
    for (const node of nodes) {
      await expect
        .poll(() => speakers.log(node), patience)
        .toMatch(/maximum number of prefixes reached.*"field":"prefixes"/)
      await expect
        .poll(() => speakers.condition(node, address), patience)
        .toMatch(/^False NotificationReceived: .*maximum number of prefixes reached \(prefixes is \d+: /)
      // BFD ends a session of a machine that stands still for a second; it comes again.
      for (const other of [frr.addresses.ipv4, frr.addresses.ipv6, bird.addresses.ipv6, bird.behind.ipv4])
        await expect.poll(() => speakers.up(node, other), patience).toBe(1)
    }
    for (const pod of pods) await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(...nodes))
    await annotate('local')
    for (const node of nodes)
      await expect.poll(() => speakers.metric(node, 'routes_wanted', address), patience).toBe(1)
    await limited.enable()
    for (const node of nodes) await expect.poll(() => speakers.up(node, address), patience).toBe(1)
    for (const [index, pod] of pods.entries())
      await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(nodes[index] ?? nodes[0]))
  })

  it('go on where a router has their own identifier, and say so', async () => {
    const [node] = nodes
    const own = node.kubernetes.ipv4
    const configuration = birdConfiguration(bird, cluster.outside.addresses)
    const addresses = [bird.addresses.ipv6, bird.behind.ipv4]
    const seen = (await speakers.log(node)).length
    await configureBird(bird, configuration.replace(/^router id .*$/m, `router id ${own};`))
    await expect
      .poll(async () => (await speakers.log(node)).slice(seen), patience)
      .toMatch(new RegExp(`"router-id","value":"${own}".*identifier of a BGP peer is not its own`))
    for (const address of addresses)
      await expect
        .poll(() => speakers.condition(node, address), patience)
        .toMatch(
          new RegExp(`^True .*router-id is ${own}: this speaker has it as well: give one of the two another`),
        )
    await expect.poll(() => waysTo(pods[0]), patience).toEqual(waysBy(node))
    await configureBird(bird, configuration)
    for (const address of addresses)
      await expect.poll(() => speakers.condition(node, address), patience).toMatch(/^True [^(]*$/)
  })

  it('tell everything to a router that was killed', async () => {
    const address = addressOf(pods[1], 'ipv6')
    killAt(bird.place, 'bird')
    // The kernel keeps what it has of it: what its successor knows it has been told.
    await expect
      .poll(() => askBird(bird, 'show', 'route', 'for', address).catch(String), patience)
      .toContain(`${address}/128`)
    await expect
      .poll(async () => (await learned(bird, 'ipv6')).get(address), patience)
      .toEqual([nodes[1].physical.ipv6])
    await configureBird(bird, birdConfiguration(bird, cluster.outside.addresses))
    killAt(frr.place, 'bgpd')
    await eventually('FRR is there again', () => askFrr(frr, 'show bgp summary').catch(() => undefined))
    await configureFrr(frr, ...frrLines)
    const ofFrr = async (family: 'ipv4' | 'ipv6'): Promise<boolean> => {
      const of = addressOf(pods[1], family)
      const prefix = `${of}/${family === 'ipv4' ? 32 : 128}`
      const { paths = [] } = await askFrr<{ paths?: readonly unknown[] }>(
        frr,
        `show bgp ${family} unicast ${prefix}`,
      )
      return paths.length > 0
    }
    for (const family of ['ipv4', 'ipv6'] as const)
      await expect.poll(() => ofFrr(family), patience).toBe(true)
    await expect.poll(() => waysTo(pods[1]), patience).toEqual(waysBy(nodes[1]))
    await untilReached(...allAddresses())
  })

  lostNodes(routed)

  it('withdraw all of a Node within a second of its deletion, and tell it again when it is back', async () => {
    const [, node] = nodes
    const times: Seen[] = []
    const sessions = [frr.addresses.ipv4, frr.addresses.ipv6, bird.addresses.ipv6, bird.behind.ipv4]
    for (let round = 0; round < 3; round++) {
      // A router that keeps routes of a speaker that it does not hear hears of no withdrawal either.
      for (const address of sessions) await expect.poll(() => speakers.up(node, address), patience).toBe(1)
      const { metadata, ...rest } = await cluster.api.call<ApiObject>('GET', `/api/v1/nodes/${node.name}`)
      const { name, labels, annotations } = metadata
      const remove = (): Promise<unknown> => cluster.api.delete({ ...rest, metadata })
      times.push(await timed(remove, () => waysTo(pods[1]), noWay))
      // Its kubelet registers it once alone, when it starts.
      const again = { metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) } }
      await cluster.api.create({ ...rest, ...again })
      await expect.poll(() => waysTo(pods[1]), patience).toEqual(waysBy(node))
    }
    expectEachWithin(1_000, 'routes of a Node were withdrawn from both routers', times)
    for (const address of [frr.addresses.ipv4, bird.addresses.ipv6])
      await expect.poll(() => speakers.condition(node, address), patience).toMatch(/^True /)
    await untilReached(...allAddresses())
  })

  it('let go of all of it', async () => {
    for (const pod of pods) await takeDownPod(cluster.api, pod)
    await deleteAll(cluster.api, objects)
    await expect.poll(() => waysTo(pods[1]), patience).toEqual(noWay)
  })
})
