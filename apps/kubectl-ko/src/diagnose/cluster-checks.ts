import { KubeOvnError } from '@kube-ovn/errors'
import { definitions } from '@kube-ovn/kube-api'
import { daemonSets, deployments, services, type Resource } from '@kube-ovn/kube'
import type { Cluster } from '../cluster.ts'
import { findLeader, type Led } from '../components.ts'
import { databases } from '../databases.ts'
import { describeError } from '../describe-error.ts'
import { readFacts, type Workload } from '../facts.ts'
import { statusView } from '../view/status-view.ts'
import type { Finding } from './finding.ts'

type Check = Omit<Finding, 'where'>

/** What is asked of the API server and the databases, whatever node there is. */
export async function checkCluster(cluster: Cluster): Promise<readonly Finding[]> {
  const checks = await Promise.all([
    checkDefinitions(cluster),
    checkServices(cluster),
    checkServedBy(cluster),
    checkState(cluster),
    ...(['nb', 'sb', 'northd'] as const).map((led) => checkLeader(cluster, led)),
  ])
  return checks.flat().map((check) => ({ where: 'cluster', ...check }))
}

async function checkDefinitions({ client }: Cluster): Promise<readonly Check[]> {
  return Promise.all(
    definitions.map(({ resource }) =>
      checked('definition', `${resource.plural}.${resource.group}`, async () => {
        await client.list(resource, { limit: 1 })
        return 'served'
      }),
    ),
  )
}

async function checkServices({ client }: Cluster): Promise<readonly Check[]> {
  const wanted = [
    ['default', 'kubernetes'],
    ['kube-system', 'kube-dns'],
  ] as const
  return Promise.all(
    wanted.map(async ([namespace, name]) => {
      const service = await client.get(services, { namespace, name })
      // A cluster may have its DNS under another name.
      const isGood = service !== undefined || name === 'kube-dns'
      const address = service?.spec?.clusterIP ?? ''
      const result = service === undefined ? `there is no Service ${namespace}/${name}` : address
      return { check: 'service', subject: `${namespace}/${name}`, isGood, result }
    }),
  )
}

/** Who leads to Services and resolves names, where that is a workload of the usual name; a cluster may have another way. */
async function checkServedBy({ client }: Cluster): Promise<readonly Check[]> {
  const wanted = [
    { kind: 'DaemonSet', resource: daemonSets as Resource<Workload>, name: 'kube-proxy' },
    { kind: 'Deployment', resource: deployments as Resource<Workload>, name: 'coredns' },
  ]
  const found = await Promise.all(
    wanted.map(async ({ kind, resource, name }) => {
      const workload = await client.get(resource, { namespace: 'kube-system', name })
      return workload === undefined ? [] : [readinessOf(`${kind} kube-system/${name}`, workload)]
    }),
  )
  return found.flat()
}

/** Whether all pods of a workload are ready. */
export function readinessOf(subject: string, { spec, status = {} }: Workload): Check {
  const wanted = status.desiredNumberScheduled ?? spec?.replicas ?? 1
  const ready = status.numberReady ?? status.readyReplicas ?? 0
  return { check: 'workload', subject, isGood: ready >= wanted, result: `${ready} of ${wanted} ready` }
}

/** Components, nodes, subnets and pods, as `status` tells them. */
async function checkState(cluster: Cluster): Promise<readonly Check[]> {
  const { components, nodes, problems } = statusView(await readFacts(cluster), Date.now())
  const well = [
    ...components
      .filter(({ ready, wanted }) => ready >= wanted)
      .map(({ name, ready, wanted }) => ({ subject: name, result: `${ready} of ${wanted} ready` })),
    ...nodes
      .filter(({ isReady, isNetworkReady }) => isReady && isNetworkReady)
      .map(({ name, pods }) => ({ subject: `Node ${name}`, result: `ready, ${pods} pods` })),
  ]
  return [
    ...well.map((one) => ({ check: 'state', isGood: true, ...one })),
    ...problems.map(({ object, what, cure }) => ({
      check: 'state',
      subject: object,
      isGood: false,
      result: `${what}; ${cure}`,
    })),
  ]
}

async function checkLeader(cluster: Cluster, led: Led): Promise<readonly Check[]> {
  const leader = await checked('leader', led, async () => (await findLeader(cluster, led)).pod)
  if (led === 'northd' || !leader.isGood) return [leader]
  const { control, schema } = databases[led]
  const storage = await checked('storage', schema, async () => {
    const command = ['ovn-appctl', '-t', control, 'ovsdb-server/get-db-storage-status', schema]
    return (await cluster.tell(await findLeader(cluster, led), command)).trim()
  })
  return [leader, { ...storage, isGood: storage.isGood && storage.result.startsWith('status: ok') }]
}

/** What can not be asked has failed, and keeps nothing else from being asked. */
async function checked(check: string, subject: string, ask: () => Promise<string>): Promise<Check> {
  try {
    return { check, subject, isGood: true, result: await ask() }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { check, subject, isGood: false, result: describeError(error) }
  }
}
