import { applyAll, readExample, withinStack } from '../kubernetes/manifests.ts'
import { addressesOfPod, untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import { eventually, waitForObjects } from '../kubernetes/wait.ts'
import { pingAll } from '../probe/ping.ts'
import { fetchText } from '../probe/tcp.ts'
import { equalRow, firstOf, happensRow, placeOf, type Check, type CheckRow } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'

/** Of the pods of the example. */
const port = 8080

interface Tenant {
  readonly name: 'red' | 'blue'
  /** Two, on different nodes, with the addresses that those of the other tenant have. */
  readonly same: readonly PodObject[]
  /** In the subnet that the other tenant has a route to. */
  readonly edge: PodObject
}

/** Example `11-two-vpcs`: packets stay in their VPC, but for those that its routes lead to the other one. */
export const vpcs: Check = {
  name: 'VPCs',
  async run(cluster) {
    const objects = readExample('11-two-vpcs', cluster.topology.stack)
    await applyAll(cluster.api, objects)
    const red = await tenantOf(cluster, 'red')
    const blue = await tenantOf(cluster, 'blue')
    const rows = [
      equalRow('both have the same addresses', addressesIn(red.same), addressesIn(blue.same)),
      ...(await ownRows(cluster, red)),
      ...(await ownRows(cluster, blue)),
      await apartRow(cluster, red, blue),
      ...(await peerRows(cluster, red, blue)),
      await nodesRow(cluster, [...red.same, red.edge, ...blue.same, blue.edge]),
      ...(await policyRows(cluster, red, blue)),
      ...(await routeRows(cluster, red, blue)),
      await deletionRow(cluster, objects),
    ]
    return rows
  },
}

/** They are Ready by a probe inside of them. */
async function tenantOf({ api }: Cluster, name: Tenant['name']): Promise<Tenant> {
  const same = await untilPodsReady(api, name, 'app=same', 2)
  const edge = firstOf(await untilPodsReady(api, name, 'app=edge', 1), `pod edge of ${name}`)
  return { name, same, edge }
}

function addressesIn(pods: readonly PodObject[]): string {
  return pods.flatMap(addressesOfPod).toSorted().join(' ')
}

/** Each pod is answered by its neighbour of the same VPC, and not by who has that address in the other one. */
async function ownRows(cluster: Cluster, { name, same, edge }: Tenant): Promise<readonly CheckRow[]> {
  const pairs = [...same, edge].flatMap((from) =>
    [...same, edge]
      .filter((to) => to !== from)
      .flatMap((to) => addressesOfPod(to).map((address) => ({ from, to, address }))),
  )
  return [await servedRow(cluster, `pods of ${name} reach each other, across nodes and subnets`, pairs)]
}

/** Who asks at an address, and whose name it is answered with. */
interface Served {
  readonly from: PodObject
  readonly to: PodObject
  readonly address: string
}

/** Each is answered by whom it asks, as soon as flows of other nodes have followed pods that are Ready. */
async function servedRow(cluster: Cluster, name: string, pairs: readonly Served[]): Promise<CheckRow> {
  const total = `${pairs.length} of ${pairs.length}`
  return happensRow(name, total, () =>
    Promise.all(
      pairs.map(({ from, to, address }) => {
        let last: string | undefined
        return eventually(
          `${to.metadata.name} answers ${from.metadata.name} at ${address}`,
          async () => {
            last = await fetchText(placeOf(cluster, from), address, port)
            return last === to.metadata.name ? true : undefined
          },
          {
            seen: () => `${to.metadata.name} at ${address} for ${from.metadata.name}: ${last ?? 'no answer'}`,
          },
        )
      }),
    ),
  )
}

/** A subnet of one VPC that has no route in the other one is not answered, whoever asks. */
async function apartRow(cluster: Cluster, red: Tenant, blue: Tenant): Promise<CheckRow> {
  const targets = addressesOfPod(red.edge)
  const answered = await Promise.all(blue.same.map((pod) => pingAll(placeOf(cluster, pod), targets)))
  return equalRow(
    'answers to pods whose addresses the other VPC has, too',
    0,
    answered.reduce((sum, { size }) => sum + size, 0),
  )
}

async function peerRows(cluster: Cluster, red: Tenant, blue: Tenant): Promise<readonly CheckRow[]> {
  const reached = (from: Tenant, to: Tenant) =>
    servedRow(
      cluster,
      `pods of ${from.name} reach those of ${to.name} that it has a route to`,
      addressesOfPod(to.edge).map((address) => ({ from: from.edge, to: to.edge, address })),
    )
  return [await reached(red, blue), await reached(blue, red)]
}

async function nodesRow(cluster: Cluster, pods: readonly PodObject[]): Promise<CheckRow> {
  const addresses = [...new Set(pods.flatMap(addressesOfPod))]
  const answered = await Promise.all(cluster.nodes.map(({ place }) => pingAll(place, addresses)))
  return equalRow('nodes that reach a pod of a VPC', 0, answered.filter(({ size }) => size > 0).length)
}

/** A policy overrides the routes, as long as it is there. */
async function policyRows(cluster: Cluster, red: Tenant, blue: Tenant): Promise<readonly CheckRow[]> {
  const targets = addressesOfPod(blue.edge)
  const policyRoutes = targets.map((address) => ({
    priority: 31_500,
    match: `ip${address.includes(':') ? 6 : 4}.dst == ${address}`,
    action: 'drop',
  }))
  await edit(cluster, 'red-vpc', { policyRoutes })
  const dropped = await reachRow(
    cluster,
    'a policy drops what a route leads to the other VPC',
    red.edge,
    targets,
    0,
  )
  await edit(cluster, 'red-vpc', { policyRoutes: [] })
  return [dropped, await reachRow(cluster, 'and no more when it is gone', red.edge, targets, targets.length)]
}

/** Without its route back nothing is answered. */
async function routeRows(cluster: Cluster, red: Tenant, blue: Tenant): Promise<readonly CheckRow[]> {
  const vpc = await cluster.api.call<ApiObject & { readonly spec: object }>('GET', pathOf('blue-vpc'))
  const { staticRoutes } = vpc.spec as { readonly staticRoutes: readonly object[] }
  const targets = addressesOfPod(blue.edge)
  await edit(cluster, 'blue-vpc', { staticRoutes: [] })
  const gone = await reachRow(cluster, 'no packet comes back without a static route', red.edge, targets, 0)
  // A shorter prefix than that of the subnet, which a route by source would overtake.
  const shorter = [
    { cidr: '10.41.0.0/16', nextHopIP: '169.254.41.1' },
    { cidr: 'fd00:10:41::/64', nextHopIP: 'fd00:169:41::1' },
  ]
  await edit(cluster, 'blue-vpc', { staticRoutes: withinStack(shorter, cluster.topology.stack) })
  const back = await reachRow(
    cluster,
    'and all do with one, also by a short prefix',
    red.edge,
    targets,
    targets.length,
  )
  await edit(cluster, 'blue-vpc', { staticRoutes })
  return [gone, back]
}

function pathOf(vpc: string): string {
  return `/apis/kubeovn.io/v1/vpcs/${vpc}`
}

async function edit(cluster: Cluster, vpc: string, spec: object): Promise<void> {
  await cluster.api.mergePatch(pathOf(vpc), { spec })
}

/** How many of the addresses answer in the end. */
async function reachRow(
  cluster: Cluster,
  name: string,
  from: PodObject,
  targets: readonly string[],
  wanted: number,
): Promise<CheckRow> {
  return happensRow(name, `${wanted} of ${targets.length} answered`, () =>
    eventually(name, async () => {
      const { size } = await pingAll(placeOf(cluster, from), targets)
      return size === wanted ? size : undefined
    }),
  )
}

/** Everything at once, in whatever order: each waits for what it has to wait for. */
async function deletionRow(cluster: Cluster, objects: readonly ApiObject[]): Promise<CheckRow> {
  await Promise.all(objects.map((object) => cluster.api.delete(object)))
  return happensRow('VPCs, subnets and pods go, all deleted at once', 'gone', () =>
    waitForObjects<ApiObject, true>(
      cluster.api,
      '/apis/kubeovn.io/v1/vpcs',
      'the VPCs are gone',
      (all) =>
        all.every(({ metadata }) => !['red-vpc', 'blue-vpc'].includes(metadata.name)) ? true : undefined,
      120_000,
    ),
  )
}
