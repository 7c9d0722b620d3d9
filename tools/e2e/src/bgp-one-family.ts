import {
  applyAll,
  deleteAll,
  eventually,
  idlePod,
  ofStack,
  pingAll,
  takeDownPod,
  untilPodsReady,
  upgradeChart,
  type ApiObject,
  type ChartValues,
  type Cluster,
  type PodObject,
} from '@kube-ovn/lab'
import { expect, it, type TestContext } from 'vitest'
import { annotation, cidrs, namespace, patience } from './bgp-lab.ts'
import { learned, type Router } from './bgp-routers.ts'

interface PeerObject extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly status: string }[] }
}

/** Speakers with a session of each family to one router: routers outside have both, whatever the cluster has. */
function speakerValues(cluster: Cluster): ChartValues {
  const { ipv4, ipv6 } = routerOf(cluster).addresses
  const neighbors = [ipv4, ipv6].map((address) => ({ address, as: 65_001 }))
  return { bgpSpeaker: { enabled: true, args: ['--cluster-as=65000'], neighbors } }
}

/** That pods of a cluster of one family are told to a router, by both policies, and that it reaches them. */
export function announcedOneFamily(clusterOf: (skip: TestContext['skip']) => Cluster): void {
  it('has speakers whose routes lead a router to its pods', async ({ skip }) => {
    const cluster = clusterOf(skip)
    const { stack } = cluster.topology
    const router = routerOf(cluster)
    const family = stack === 'ipv6' ? 'ipv6' : 'ipv4'
    const subnet = (policy: string): ApiObject =>
      ({
        apiVersion: 'kubeovn.io/v1',
        kind: 'Subnet',
        metadata: { name: namespace, annotations: { [annotation]: policy } },
        spec: { cidrBlock: ofStack(stack, cidrs).join(), namespaces: [namespace] },
      }) as ApiObject
    await upgradeChart(cluster, speakerValues(cluster))
    const objects = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, subnet('local')]
    const names = cluster.nodes.map((_node, index) => `pod-${index}`)
    await applyAll(cluster.api, [
      ...objects,
      ...cluster.nodes.map((node, index) => idlePod({ name: `pod-${index}`, namespace }, node.name)),
    ])
    const pods: PodObject[] = []
    for (const name of names) pods.push(...(await untilPodsReady(cluster.api, namespace, `app=${name}`, 1)))
    const addresses = pods.flatMap(({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip))
    expect(addresses).toHaveLength(cluster.nodes.length)

    // Both sessions are there, though one has nothing to tell.
    await expect
      .poll(() => conditions(cluster), patience)
      .toEqual(cluster.nodes.flatMap(() => ['True', 'True']))
    const hops = cluster.nodes.map(({ physical }) => physical[family])
    const ways = (): Promise<readonly unknown[]> =>
      learned(router, family).then((table) => [...addresses, cidrs[family]].map((to) => table.get(to)))
    await expect.poll(ways, patience).toEqual([...hops.map((hop) => [hop]), undefined])
    await applyAll(cluster.api, [subnet('cluster')])
    await expect.poll(ways, patience).toEqual([...hops, ''].map(() => hops.toSorted()))
    await eventually(`a router reaches ${addresses.join(', ')}`, async () =>
      (await pingAll(router.place, addresses)).size === addresses.length ? true : undefined,
    )

    for (const pod of pods) await takeDownPod(cluster.api, pod)
    await deleteAll(cluster.api, objects)
    await expect.poll(ways, patience).toEqual([...hops, ''].map(() => undefined))
    await upgradeChart(cluster, {})
    const speakers = '/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dkube-ovn-speaker'
    await expect.poll(() => cluster.api.list(speakers), patience).toEqual([])
    // Of sessions that nobody has any more.
    await deleteAll(cluster.api, await peersOf(cluster))
  })
}

function routerOf({ routers: [router] }: Cluster): Router {
  return router ?? expect.unreachable('the lab has a router')
}

/** Whether there is a session, of all. */
async function conditions(cluster: Cluster): Promise<readonly unknown[]> {
  return (await peersOf(cluster)).map(({ status }) => status?.conditions?.[0]?.status)
}

async function peersOf({ api }: Cluster): Promise<readonly PeerObject[]> {
  const peers = await api.list<PeerObject>('/apis/kubeovn.io/v1/bgppeers')
  return peers.map((peer) => ({ ...peer, apiVersion: 'kubeovn.io/v1', kind: 'BgpPeer' }))
}
