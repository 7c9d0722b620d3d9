import { forwarderAnnotations, lbSvcLabel, podAnnotations } from '@kube-ovn/annotations'
import { problemText } from '@kube-ovn/errors'
import { formatIp, formatIpList } from '@kube-ovn/ip'
import { vipResource } from '@kube-ovn/kube-api'
import { deployments, pods, services, type Pod } from '@kube-ovn/kube-api/core'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch } from '@kube-ovn/reconcile'
import { forwarderName } from '@kube-ovn/domains-control/services'
import { LbSvcNetworkError } from './errors.ts'
import type { LbSvcPlan, LbSvcSnapshot, WorkloadPlan } from './snapshot.ts'
import { deploymentOf } from './workload.ts'

/**
 * Computes the Vip that keeps the address of a Service, the Pod that forwards from it, what that Pod is told, and the status of the Service.
 *
 * One thing leads to the next: the Pod is made once the Vip has its address, and the address is published once the Pod is told and ready.
 */
export function desiredLbSvc(snapshot: LbSvcSnapshot): Desired {
  const { isWanted, plan, problem } = snapshot
  if (!isWanted) return { ...nothing, patches: [...unpublished(snapshot), ...removals(snapshot)] }
  return {
    ...nothing,
    events: eventsOf(snapshot),
    ...(problem === undefined ? {} : { problem }),
    // What was made stays while an edit can not be used.
    patches: plan === undefined ? [] : wanted(snapshot, plan),
  }
}

function removals({ made }: LbSvcSnapshot): readonly KubePatch[] {
  return made.map((one) => ({ ...one, remove: true }))
}

function wanted(snapshot: LbSvcSnapshot, plan: LbSvcPlan): readonly KubePatch[] {
  const { namespace, name, service } = snapshot
  const { workload } = plan
  const vips = vipPatches(snapshot, plan)
  if (workload === undefined) return vips
  const owner = { apiVersion: 'v1', kind: services.kind, name, uid: service?.metadata.uid ?? '' }
  const told = tellings(workload, snapshot.pods)
  return [
    ...vips,
    {
      resource: deployments,
      namespace,
      name: forwarderName(name),
      apply: deploymentOf(namespace, name, workload, owner),
    },
    ...told.patches,
    ...statusPatches(snapshot, workload, told.isServed),
  ]
}

/** The Vip that is made, or was, and is of no use any more. An address of it does not change: it is made anew then. */
function vipPatches({ made }: LbSvcSnapshot, { vip }: LbSvcPlan): readonly KubePatch[] {
  const former = made
    .filter(({ resource }) => resource === vipResource)
    .map((one): KubePatch => ({ ...one, remove: true }))
  if (vip.made === undefined || vip.isOther) return former
  const { subnet, addresses } = vip.made
  const labels = { [lbSvcLabel]: 'true' }
  const spec = {
    subnet,
    ...(addresses.v4 === undefined ? {} : { v4ip: formatIp(addresses.v4) }),
    ...(addresses.v6 === undefined ? {} : { v6ip: formatIp(addresses.v6) }),
  }
  const { name } = vip
  const create = { metadata: { name, labels }, spec }
  return [{ resource: vipResource, name, merge: { metadata: { labels } }, create }]
}

/** Tells the Pods that have the address what they forward; whether one of them has been told, and does. */
function tellings(
  { network, addresses, forwards }: WorkloadPlan,
  all: readonly Pod[],
): { readonly patches: readonly KubePatch[]; readonly isServed: boolean } {
  const { key, format } = forwarderAnnotations.forwards
  const text = format(forwards)
  const { ipAddress } = podAnnotations(network.provider)
  const own = all.filter(
    ({ metadata: { annotations, deletionTimestamp } }) =>
      deletionTimestamp === undefined && annotations?.[ipAddress.key] === formatIpList(addresses),
  )
  return {
    patches: own.map(({ metadata: { namespace = '', name } }) => ({
      ...{ resource: pods, namespace, name },
      merge: { metadata: { annotations: { [key]: text } } },
    })),
    isServed: own.some(
      ({ metadata: { annotations }, status }) =>
        annotations?.[key] === text &&
        status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true,
    ),
  }
}

/** An address that was published stays while its Pod is made anew; another one goes at once. */
function statusPatches(
  snapshot: LbSvcSnapshot,
  { forwards }: WorkloadPlan,
  isServed: boolean,
): readonly KubePatch[] {
  const published = publishedIn(snapshot)
  const addresses = forwards.families.map(({ address }) => formatIp(address))
  if (published.join() === addresses.join()) return []
  if (isServed) return [statusPatch(snapshot, addresses)]
  return unpublished(snapshot)
}

function unpublished(snapshot: LbSvcSnapshot): readonly KubePatch[] {
  return publishedIn(snapshot).length === 0 ? [] : [statusPatch(snapshot, [])]
}

function publishedIn({ service }: LbSvcSnapshot): readonly string[] {
  return service?.status?.loadBalancer?.ingress?.map(({ ip = '' }) => ip) ?? []
}

function statusPatch({ namespace, name }: LbSvcSnapshot, addresses: readonly string[]): KubePatch {
  const loadBalancer = { ingress: addresses.map((ip) => ({ ip })) }
  return { resource: services, namespace, name, subresource: 'status', merge: { status: { loadBalancer } } }
}

/** Reasons are those of the original. */
function eventsOf({ namespace, name, service, problem }: LbSvcSnapshot): readonly KubeEvent[] {
  const uid = service?.metadata.uid
  if (problem === undefined || uid === undefined) return []
  const reason = problem instanceof LbSvcNetworkError ? 'GetNADFailed' : 'ValidateSvcFailed'
  return [
    {
      regarding: { resource: services, namespace, name, uid },
      type: 'Warning',
      reason,
      message: problemText(problem),
    },
  ]
}
