import {
  applyAll,
  deleteAll,
  eventually,
  idlePod,
  injectFault,
  pingAll,
  podProcesses,
  killAt,
  runAt,
  startPing,
  takeDownPod,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type LabNode,
  type PodObject,
} from '@kube-ovn/lab'
import { beforeAll, expect, it } from 'vitest'
import {
  askBird,
  askFrr,
  birdConfiguration,
  configureBird,
  configureFrr,
  frrLines,
  frrPassword,
  learned,
  type Router,
} from './bgp-routers.ts'
import { describeInLab } from './describe-in-lab.ts'
import { faultsOf } from './metric-pages.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('has routers around its nodes')

const namespace = 'routed'
const annotation = 'ovn.kubernetes.io/bgp'
const subnetPath = '/apis/kubeovn.io/v1/subnets'
const cidrs = { ipv4: '10.46.0.0/24', ipv6: 'fd00:10:46::/120' }

const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bgp', namespace: 'kube-system' },
  stringData: { frr: frrPassword },
} as ApiObject

interface ServiceObject extends ApiObject {
  readonly spec: { readonly clusterIPs?: readonly string[] }
}

const objects: readonly ApiObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name: namespace, annotations: { [annotation]: 'local' } },
    spec: { cidrBlock: `${cidrs.ipv4},${cidrs.ipv6}`, namespaces: [namespace] },
  } as ApiObject,
]

const lab = useSuiteLab(
  { id: 'bgp', nodes: 2, stack: 'dual', routers: ['frr', 'bird'] },
  {
    values: (cluster) => ({ bgpSpeaker: speakerValues(cluster) }),
    async beforeChart(made) {
      await made.api.create(secret)
      const { frr, bird } = routersOf(made)
      await configureFrr(frr, ...frrLines)
      await configureBird(bird, birdConfiguration(bird))
      for (const { place } of made.nodes)
        await runAt(place, ['ip', 'route', 'add', bird.behind.ipv4, 'via', bird.addresses.ipv4])
    },
  },
)

let cluster: Cluster
let frr: Router
let bird: Router
let nodes: readonly [LabNode, LabNode]
/** One on each node. */
let pods: readonly [PodObject, PodObject]

const patience = { timeout: 180_000, interval: 100 }

beforeAll(async () => {
  ;({ cluster } = lab)
  ;({ frr, bird } = routersOf(cluster))
  const [first, second] = cluster.nodes
  if (first === undefined || second === undefined) expect.unreachable('there are two nodes')
  nodes = [first, second]
  await applyAll(cluster.api, [
    ...objects,
    ...nodes.map(({ name }, index) => idlePod({ name: `pod-${index}`, namespace }, name)),
  ])
  pods = [await readyPod('pod-0'), await readyPod('pod-1')]
})

function routersOf({ routers }: Cluster): { readonly frr: Router; readonly bird: Router } {
  const [frr, bird] = routers
  if (frr === undefined || bird === undefined) throw new Error('the lab has two routers')
  return { frr, bird }
}

function speakerValues(made: Cluster): object {
  const { frr, bird } = routersOf(made)
  return {
    enabled: true,
    args: [
      ...['--cluster-as=65000', '--graceful-restart', '--graceful-restart-time=60s', '--announce-cluster-ip'],
      ...['--enable-bfd', '--bfd-min-tx=300', '--bfd-min-rx=300'],
    ],
    passwordSecret: { name: 'bgp', key: '' },
    neighbors: [
      {
        ...{ address: frr.addresses.ipv4, as: 65_001, bfd: false },
        ...{ passwordFile: '/run/bgp/frr', communities: ['65000:7'] },
      },
      { address: frr.addresses.ipv6, as: 65_001 },
      { address: bird.addresses.ipv6, as: 65_002, extendedNexthop: true, communities: ['65000:1:2'] },
      { address: bird.behind.ipv4, as: 65_002, ebgpMultihop: 2 },
      // Nobody is there.
      { address: made.outside.addresses.ipv4, as: 65_009 },
    ],
  }
}

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
  return cluster.api.mergePatch(`${subnetPath}/${namespace}`, {
    metadata: { annotations: { [annotation]: policy } },
  })
}

async function untilPingsFromRouters(...to: readonly string[]): Promise<void> {
  for (const { place, name } of [frr, bird])
    await eventually(`${name} reaches ${to.join(', ')}`, async () =>
      (await pingAll(place, to)).size === to.length ? true : undefined,
    )
}

/** The speaker's container on a node. */
async function speakerProcesses(node: LabNode): Promise<readonly number[]> {
  const all = await cluster.api.list<PodObject>(
    '/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dkube-ovn-speaker',
  )
  const pod = all.find(({ spec }) => spec.nodeName === node.name)
  // The oldest is the sandbox.
  return podProcesses(pod?.metadata.uid ?? '').slice(1)
}

async function speakerMetrics(node: LabNode): Promise<string> {
  return runAt(node.place, ['curl', '-sf', '--max-time', '5', 'http://127.0.0.1:10667/metrics'])
}

async function peerUp(node: LabNode, address: string): Promise<string | undefined> {
  const metrics = await speakerMetrics(node)
  return new RegExp(`^kube_ovn_speaker_bgp_peer_up\\{[^}]*peer="${address}"[^}]*\\} (\\d)$`, 'm').exec(
    metrics,
  )?.[1]
}

async function speakerLog(node: LabNode): Promise<string> {
  const all = await cluster.api.list<PodObject>(
    '/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dkube-ovn-speaker',
  )
  const pod = all.find(({ spec }) => spec.nodeName === node.name)
  return runAt(node.place, ['sh', '-c', `cat /var/log/pods/kube-system_${pod?.metadata.name}_*/*/*.log`])
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
    await untilPingsFromRouters(...pods.flatMap((pod) => [addressOf(pod, 'ipv4'), addressOf(pod, 'ipv6')]))
  })

  it('serve metrics whose names, types and labels are upstream’s', async () => {
    for (const node of nodes) expect(faultsOf('speaker', await speakerMetrics(node))).toEqual([])
  })

  it('have traffic of a local pod enter where it lives', async () => {
    const [pod] = pods
    const targets = [addressOf(pod, 'ipv4'), addressOf(pod, 'ipv6')]
    const counts = await countEntering(targets, async () => {
      for (const { place } of [frr, bird]) expect((await pingAll(place, targets)).size).toBe(2)
    })
    expect(counts.map((count) => count > 0)).toEqual([true, false])
  })

  it('announce a Subnet that is cluster from all nodes, which routers use both', async () => {
    await annotate('cluster')
    await expect
      .poll(async () => (await learned(frr, 'ipv4')).get(cidrs.ipv4), patience)
      .toEqual(nodes.map(({ physical }) => physical.ipv4).toSorted())
    for (const pod of pods) await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(...nodes))
    await untilPingsFromRouters(...pods.flatMap((pod) => [addressOf(pod, 'ipv4'), addressOf(pod, 'ipv6')]))
    for (const family of ['ipv4', 'ipv6'] as const) {
      const target = addressOf(pods[0], family)
      const counts = await countEntering([target], () => sendFlows(frr, target))
      expect(counts.map((count) => count > 0)).toEqual([true, true])
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
      .poll(() => speakerLog(nodes[0]), patience)
      .toMatch(/Service\/routed\/odd.*everywhere.*write true, cluster or local/)
    await deleteAll(cluster.api, [service('web', 'true'), service('odd', '')])
    await expect.poll(async () => (await learned(frr, 'ipv4')).has(clusterIPs[0] ?? ''), patience).toBe(false)
  })

  it('keep their routes when they are killed under traffic: no packet is lost', async () => {
    const [, node] = nodes
    const [, pod] = pods
    const ping = startPing(frr.place, addressOf(pod, 'ipv4'))
    await ping.started()
    const before = await speakerProcesses(node)
    for (const pid of before) process.kill(pid, 'SIGKILL')
    await expect.poll(() => peerUp(node, frr.addresses.ipv4).catch(() => undefined), patience).toBe('1')
    await expect.poll(() => peerUp(node, bird.addresses.ipv6).catch(() => undefined), patience).toBe('1')
    expect((await speakerProcesses(node)).some((pid) => before.includes(pid))).toBe(false)
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
    const { sent, lost } = await ping.stop()
    console.log(`${sent} packets while a speaker was killed`)
    expect(lost).toEqual([])
  })

  it('withdraw the routes of a pod within a second of its deletion', async () => {
    const extras = [0, 1, 2].map((index) => idlePod({ name: `extra-${index}`, namespace }, nodes[1].name))
    await applyAll(cluster.api, extras)
    const times: { readonly ms: number; readonly lookMs: number }[] = []
    for (const extra of extras) {
      const pod = await readyPod(extra.metadata.name)
      await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(nodes[1]))
      let lookMs = 0
      const look = async (): Promise<unknown> => {
        const beganMs = performance.now()
        const ways = await waysTo(pod)
        lookMs = Math.max(lookMs, performance.now() - beganMs)
        return ways
      }
      const startedMs = performance.now()
      await cluster.api.delete(extra, 0)
      await expect.poll(look, { timeout: 60_000, interval: 20 }).toEqual(noWay)
      times.push({ ms: performance.now() - startedMs, lookMs })
    }
    const shown = times.map(({ ms, lookMs }) => `${Math.round(ms)} (looks of ${Math.round(lookMs)})`)
    console.log(`withdrawn from both routers after ${shown.join(', ')} ms`)
    // From the request on, and beside ten looks at the routers as they are at that moment. One of three may fall into a pause of the machine.
    expect(times.map(({ ms, lookMs }) => ms - 10 * lookMs).toSorted((a, b) => a - b)[1]).toBeLessThanOrEqual(
      1_000,
    )
  })

  it('go on with one router whatever is wrong with the other, say what it is, and come again', async () => {
    const [node] = nodes
    const others = async (): Promise<readonly (string | undefined)[]> => [
      await peerUp(node, frr.addresses.ipv6),
      await peerUp(node, bird.addresses.ipv6),
    ]
    const seen = (await speakerLog(node)).length
    const said = async (): Promise<string> => (await speakerLog(node)).slice(seen)
    await configureFrr(frr, 'router bgp 65001', 'neighbor ipv4 remote-as 65099')
    await configureBird(bird, birdConfiguration(bird, 'another'))
    await expect
      .poll(said, patience)
      .toMatch(/OPEN message error: bad peer AS.*"field":"cluster-as","value":"65000"/)
    await expect
      .poll(said, patience)
      .toMatch(new RegExp(`"peer":"${bird.behind.ipv4}".*no answer within 10 s.*both ends have one password`))
    // BFD ends a session of a machine that stands still for a second; it comes again.
    await expect.poll(others, patience).toEqual(['1', '1'])
    await configureFrr(frr, 'router bgp 65001', 'neighbor ipv4 remote-as external')
    await configureBird(bird, birdConfiguration(bird))
    await expect.poll(() => peerUp(node, frr.addresses.ipv4), patience).toBe('1')
    await expect.poll(() => peerUp(node, bird.behind.ipv4), patience).toBe('1')
    await configureFrr(
      frr,
      'router bgp 65001',
      'address-family ipv4 unicast',
      'neighbor ipv4 maximum-prefix 1',
    )
    await annotate('cluster')
    await expect
      .poll(() => speakerLog(node), patience)
      .toMatch(/maximum number of prefixes reached.*"field":"prefixes"/)
    // BFD ends a session of a machine that stands still for a second; it comes again.
    await expect.poll(others, patience).toEqual(['1', '1'])
    await annotate('local')
    await configureFrr(
      frr,
      'router bgp 65001',
      'address-family ipv4 unicast',
      'no neighbor ipv4 maximum-prefix',
    )
    await expect.poll(() => peerUp(node, frr.addresses.ipv4), patience).toBe('1')
    expect(await peerUp(node, cluster.outside.addresses.ipv4)).toBe('0')
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
    await configureBird(bird, birdConfiguration(bird))
    await expect.poll(() => waysTo(pods[1]), patience).toEqual(waysBy(nodes[1]))
  })

  it('of a node without power are given up by BFD, long before their hold time', async () => {
    const [, node] = nodes
    const [, pod] = pods
    {
      const cutMs = performance.now()
      await using _cut = await injectFault(cluster, {
        ...{ kind: 'partition', node: node.name, from: { network: 'physical' } },
      })
      await expect
        .poll(async () => (await learned(frr, 'ipv6')).has(addressOf(pod, 'ipv6')), {
          timeout: 60_000,
          interval: 50,
        })
        .toBe(false)
      console.log(`given up ${Math.round(performance.now() - cutMs)} ms after the cut, by three times 300 ms`)
      // The session without BFD waits for its hold time.
      expect((await learned(frr, 'ipv4')).has(addressOf(pod, 'ipv4'))).toBe(true)
    }
    await expect.poll(() => waysTo(pod), patience).toEqual(waysBy(node))
    await untilPingsFromRouters(addressOf(pod, 'ipv4'), addressOf(pod, 'ipv6'))
    expect(await speakerMetrics(node)).toMatch(
      new RegExp(
        `kube_ovn_speaker_bfd_peer_failure_transitions\\{[^}]*peer="${frr.addresses.ipv6}"[^}]*\\} [1-9]`,
      ),
    )
  })

  it('let go of all of it', async () => {
    for (const pod of pods) await takeDownPod(cluster.api, pod)
    await deleteAll(cluster.api, objects)
    await expect.poll(() => waysTo(pods[1]), patience).toEqual(noWay)
  })
})

/** Sends a packet on each of many connections to an address, which nobody answers. */
async function sendFlows({ place }: Router, to: string): Promise<void> {
  await runAt(place, ['bash', '-c', `for port in {9000..9031}; do echo > /dev/udp/${to}/$port; done`])
}

/** How many packets to addresses came from the physical network to each node while something was done. */
async function countEntering(to: readonly string[], action: () => Promise<void>): Promise<readonly number[]> {
  const rules = to.map((address) => `${address.includes(':') ? 'ip6' : 'ip'} daddr ${address} counter`)
  for (const { place } of nodes)
    await runAt(place, ['nft', '-f', '-'], {
      input: `table inet suite { chain entering { type filter hook prerouting priority -400; iifname != phys0 return; ${rules.join('; ')}; }; }\n`,
    })
  try {
    await action()
    return await Promise.all(
      nodes.map(async ({ place }) => {
        const text = await runAt(place, ['nft', 'list', 'table', 'inet', 'suite'])
        return [...text.matchAll(/packets (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
      }),
    )
  } finally {
    for (const { place } of nodes) await runAt(place, ['nft', 'delete', 'table', 'inet', 'suite'])
  }
}
