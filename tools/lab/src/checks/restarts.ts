import { setTimeout as delay } from 'node:timers/promises'
import { chartNamespace } from '../chart.ts'
import { isPodReady, untilRolledOut, type PodObject } from '../kubernetes/workloads.ts'
import { eventually, waitForObjects } from '../kubernetes/wait.ts'
import { auditPosition, isWrite, readAudit, type AuditedRequest } from '../observe/audit-log.ts'
import { controllerLeader } from '../observe/controller-leader.ts'
import { movingServiceAddresses, isOnlyAbout } from '../observe/moving-services.ts'
import { logPosition, parseRecords, readLog } from '../observe/database-log.ts'
import { ovnCentral } from '../observe/northbound.ts'
import { startPing } from '../probe/ping.ts'
import { addressesOfPod } from '../kubernetes/workloads.ts'
import { claimRow, familyOf, firstOf, placeOf, type Check, type CheckRow } from './check.ts'
import { sixPods } from './pod-to-pod.ts'
import type { Place } from '../namespaces.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** How long a restarted process is watched for writes that it should not make. */
const quietMs = 5_000

/** Controller and agent are killed and started again. */
export const restarts: Check = {
  name: 'restarts',
  async run(cluster) {
    return [...(await controllerRows(cluster)), ...(await agentRows(cluster))]
  },
}

async function controllerRows(cluster: Cluster): Promise<CheckRow[]> {
  const central = await ovnCentral(cluster)
  await untilQuiet(cluster, central)
  const before = await logPosition(central)
  const position = auditPosition(cluster)
  const leader = (await controllerLeader(cluster)).metadata.name
  await replacePod(cluster, 'app=kube-ovn-controller', ({ metadata }) => metadata.name === leader)
  await untilRolledOut(cluster.api, 'deployments', chartNamespace, 'kube-ovn-controller')
  await controllerLeader(cluster)
  await delay(quietMs)
  const own = await movingServiceAddresses(cluster)
  const written = parseRecords(await readLog(central, before))
    .filter((record) => !isOnlyAbout(own, record))
    .map((record) => JSON.stringify(record))
    .join('\n')
  const writes = productWrites(cluster, position).map(
    ({ verb, resource, name }) => `${verb} ${resource} ${name ?? ''}`,
  )
  return [
    claimRow('a restarted controller makes no Northbound transaction', written === '', 'none', written),
    claimRow(
      'a restarted controller writes nothing to the API',
      writes.length === 0,
      'none',
      writes.join(', '),
    ),
  ]
}

/** What is under way before a restart is not the restart's doing: waits until no pod is leaving, and nothing was written for a while. */
async function untilQuiet(cluster: Cluster, central: Place): Promise<void> {
  const state = async (): Promise<string> =>
    `${await logPosition(central)} ${productWrites(cluster, 0).length}`
  await eventually(
    'no pod is leaving, and nothing is written',
    async () => {
      const before = await state()
      await delay(quietMs)
      const pods = await cluster.api.list<PodObject>('/api/v1/pods')
      const isLeaving = pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined)
      return !isLeaving && (await state()) === before ? true : undefined
    },
    { timeoutMs: 180_000 },
  )
}

function productWrites(cluster: Cluster, since: number): AuditedRequest[] {
  return readAudit(cluster, since)
    .filter(isWrite)
    .filter(({ user }) => user === `system:serviceaccount:${chartNamespace}:ovn`)
}

async function agentRows(cluster: Cluster): Promise<CheckRow[]> {
  const pods = await sixPods(cluster)
  const target = firstOf(pods, 'pod')
  const sources = [
    firstOf(
      pods.filter((pod) => pod !== target && pod.spec.nodeName === target.spec.nodeName),
      'pod on the same node',
    ),
    firstOf(
      pods.filter((pod) => pod.spec.nodeName !== target.spec.nodeName),
      'pod on another node',
    ),
  ]
  const pings = sources.flatMap((source) =>
    addressesOfPod(target).map((address) => ({
      name: `${familyOf(address)} ${source.spec.nodeName === target.spec.nodeName ? 'on its node' : 'across nodes'}`,
      ping: startPing(placeOf(cluster, source), address),
    })),
  )
  await replacePod(cluster, 'app=kube-ovn-cni', ({ spec }) => spec.nodeName === target.spec.nodeName)
  await untilRolledOut(cluster.api, 'daemonsets', chartNamespace, 'kube-ovn-cni')
  return Promise.all(
    pings.map(async ({ name, ping }) => {
      const { sent, lost } = await ping.stop()
      return {
        name: `packets kept while the agent restarts, ${name}`,
        expected: 'none lost',
        seen: lost.length === 0 ? `none of ${sent} lost` : `lost ${lost.join(' ')} of ${sent}`,
        isOk: sent > 20 && lost.length === 0,
      }
    }),
  )
}

/** Kills a pod without grace and waits until another one has taken its place. */
async function replacePod(
  cluster: Cluster,
  labels: string,
  isMeant: (pod: PodObject) => boolean,
): Promise<void> {
  const path = `/api/v1/namespaces/${chartNamespace}/pods?labelSelector=${encodeURIComponent(labels)}`
  const before = await cluster.api.list<PodObject>(path)
  const old = firstOf(before.filter(isMeant), `pod ${labels}`)
  const known = new Set(before.map(({ metadata }) => metadata.uid))
  await cluster.api.delete({ apiVersion: 'v1', kind: 'Pod', metadata: old.metadata }, 0)
  await waitForObjects<PodObject, true>(cluster.api, path, `a new pod ${labels} is Ready`, (pods) =>
    pods.some((pod) => isPodReady(pod) && !known.has(pod.metadata.uid)) ? true : undefined,
  )
}
