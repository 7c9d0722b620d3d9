import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import { eventually } from '../kubernetes/wait.ts'
import { LabTimeoutError } from '../errors.ts'
import { runAt, type Place } from '../namespaces.ts'
import { movingServiceAddresses, untilLeadersAreTold } from '../observe/moving-services.ts'
import { databaseLeader } from '../observe/database-leader.ts'
import { ovnCentral } from '../observe/northbound.ts'
import { vswitchPlaces } from '../observe/vswitches.ts'
import { northboundView, readRows, southboundView, type DatabaseView } from './database-rows.ts'
import { snapshotNode } from './node-snapshot.ts'
import { compareSnapshots, type Difference, type Snapshot } from './snapshot.ts'

/**
 * So many in a row that are like the one before are rest. One is not: the two families of a Service have a slice each, and changes of load
 * balancers lie half a second apart, or more where a controller has much to do.
 */
const enoughUnchanged = 3

/**
 * Writes down what exists in a cluster with the chart: rows of both databases, our resources, and what is on each node.
 *
 * A suite takes one before it begins and asks `findLeaks` when it has cleaned up. It is taken when the cluster has come to rest, that is the
 * next ones are the same: a component that has just become ready takes a moment to be a backend of its Service. Who leads the databases may be
 * told later still, and has its Service then: a suite would be taken to have made its rows.
 */
export async function takeSnapshot(cluster: Cluster): Promise<Snapshot> {
  await untilLeadersAreTold(cluster)
  let last: Snapshot | undefined
  let unchanged = 0
  return eventually(
    'the cluster is at rest',
    async () => {
      const [before, now] = [last, await readCluster(cluster)]
      last = now
      unchanged = before !== undefined && compareSnapshots(before, now).length === 0 ? unchanged + 1 : 0
      return unchanged === enoughUnchanged ? now : undefined
    },
    { timeoutMs: 120_000, pauseMs: 1000 },
  )
}

async function readCluster(cluster: Cluster): Promise<Snapshot> {
  const [central, southboundLeader, vswitches, moving] = await Promise.all([
    ovnCentral(cluster),
    databaseLeader(cluster, 'southbound'),
    vswitchPlaces(cluster),
    movingServiceAddresses(cluster),
  ])
  const [northbound, southbound, resources, ...nodes] = await Promise.all([
    readDatabase(central, 'ovnnb_db', 'OVN_Northbound', northboundView(moving)),
    readDatabase(southboundLeader.place, 'ovnsb_db', 'OVN_Southbound', southboundView),
    ourResources(cluster),
    ...cluster.nodes.map((node) => snapshotNode(node, vswitches.get(node.name))),
  ])
  const ofNodes = Map.groupBy(nodes.flat(), ([where]) => where)
  return new Map([
    ['Northbound', northbound],
    ['Southbound', southbound],
    ['resources of kubeovn.io', resources],
    ...[...ofNodes].map(([where, lists]) => [where, lists.flatMap(([, things]) => things)] as const),
  ])
}

/**
 * Compares with an earlier snapshot, again and again until nothing differs: what was deleted takes a moment to go.
 *
 * @returns what still differs when the time is up
 */
export async function findLeaks(
  cluster: Cluster,
  before: Snapshot,
  timeoutMs = 180_000,
): Promise<readonly Difference[]> {
  let last: readonly Difference[] = []
  try {
    await eventually(
      'nothing differs',
      async () => {
        last = compareSnapshots(before, await readCluster(cluster))
        return last.length === 0 ? true : undefined
      },
      { timeoutMs, pauseMs: 1000 },
    )
  } catch (error) {
    if (!(error instanceof LabTimeoutError)) throw error
  }
  return last
}

async function readDatabase(
  central: Place,
  socket: string,
  database: string,
  view: DatabaseView,
): Promise<readonly string[]> {
  const server = `unix:/var/run/ovn/${socket}.sock`
  return readRows(await runAt(central, ['ovsdb-client', '--format=json', 'dump', server, database]), view)
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[]
}

/** Every object of our API group, by name. */
async function ourResources(cluster: Cluster): Promise<readonly string[]> {
  const group = '/apis/kubeovn.io/v1'
  const { resources } = await cluster.api.call<ResourceList>('GET', group)
  const kinds = resources.filter(({ name, verbs }) => verbs.includes('list') && !name.includes('/'))
  const lists = await Promise.all(
    kinds.map(async ({ name }) => {
      const objects = await cluster.api.list<ApiObject>(`${group}/${name}`)
      return objects.map(({ metadata }) => `${name} ${metadata.name}`)
    }),
  )
  return lists.flat()
}
