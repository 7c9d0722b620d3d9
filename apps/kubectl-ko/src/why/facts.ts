import { KubeOvnError } from '@kube-ovn/errors'
import { events, leases, type Pod } from '@kube-ovn/kube'
import { ipResource } from '@kube-ovn/kube-api'
import type { Cluster } from '../cluster.ts'
import { podsOf } from '../components.ts'
import { findInterfaces, portOf, type PortInterface } from '../trace/endpoints.ts'
import { ageText } from '../view/age-text.ts'
import { isLeaseHeld, isReady } from '../view/status-view.ts'
import type { WhyFacts } from './steps.ts'

/** Something that went wrong with an object. */
export interface Warning {
  readonly reason: string
  readonly message: string
  readonly by: string
  readonly age: string
}

/** What the steps of a pod are told from. */
export async function whyFacts(cluster: Cluster, pod: Pod): Promise<WhyFacts> {
  const { client, namespace } = cluster
  const node = pod.spec.nodeName ?? ''
  const port = portOf(pod)
  const [record, lease, agents, switches, nics] = await Promise.all([
    client.get(ipResource, { name: port }),
    client.get(leases, { namespace, name: 'kube-ovn-controller' }),
    node === '' ? [] : podsOf(cluster, 'kube-ovn-cni', node),
    node === '' ? [] : podsOf(cluster, 'ovs', node),
    node === '' ? [] : nicsOf(cluster, node, port),
  ])
  const nowMs = Date.now()
  const [nic] = nics ?? []
  return {
    pod,
    nowMs,
    hasRecord: record !== undefined,
    hasLeader: isLeaseHeld(lease, nowMs),
    isAgentReady: agents.some(isReady),
    isSwitchReady: switches.some(isReady),
    nic,
    isNicKnown: nics !== undefined && node !== '',
  }
}

/** None where Open vSwitch may not or can not be asked, e.g. because the node is gone: the other steps are told all the same. */
async function nicsOf(
  cluster: Cluster,
  node: string,
  port: string,
): Promise<readonly PortInterface[] | undefined> {
  try {
    return await findInterfaces(cluster, node, port)
  } catch (error) {
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
}

/** The latest warnings of an object, the newest first. */
export async function warningsOf(
  { client }: Cluster,
  {
    kind,
    namespace,
    name,
  }: { readonly kind: string; readonly namespace?: string | undefined; readonly name: string },
): Promise<readonly Warning[]> {
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name}`
  const { items } = await client.list(events, {
    ...(namespace !== undefined && { namespace }),
    fieldSelector,
  })
  const nowMs = Date.now()
  return items
    .filter(({ type }) => type !== 'Normal')
    .map((event) => ({ event, at: Date.parse(event.lastTimestamp ?? '') }))
    .toSorted((a, b) => b.at - a.at)
    .slice(0, 5)
    .map(({ event, at }) => ({
      reason: event.reason,
      message: event.message,
      by: event.source?.component ?? event.reportingComponent ?? '',
      age: Number.isNaN(at) ? '' : ageText(nowMs - at),
    }))
}
