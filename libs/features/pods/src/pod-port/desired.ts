import { podAnnotations, type PodAnnotations } from '@kube-ovn/annotations'
import { formatIpList } from '@kube-ovn/ip'
import { ipResource } from '@kube-ovn/kube-api'
import { pods as podResource } from '@kube-ovn/kube-api/core'
import { logicalSwitch, nodePortGroup, podPort } from '@kube-ovn/ovn-names'
import { fact, nothing } from '@kube-ovn/reconcile'
import type { Desired, Fact, KubePatch, Member } from '@kube-ovn/reconcile'
import {
  desiredIpObject,
  ipObjectRemoval,
  isReservation,
  reservationProblem,
  statusAfter,
  writtenMac,
} from '@kube-ovn/domains-control/addresses'
import { memberOf, ref } from '@kube-ovn/domains-control'
import { isKeptReservation, podTypeOf, type Reservation } from '@kube-ovn/domains-control/pods'
import { isReachedByNodes, placedPairs, type VlanTag } from '@kube-ovn/domains-control/topology'
import type { KeptNic } from '@kube-ovn/domains-control/pods'
import { policyMembers } from './policy-members.ts'
import { desiredPort, portRow } from './port.ts'
import { securityMembers } from './security-members.ts'
import { podEvents, problemsOf } from './events.ts'
import type { PlacedNic, PodNeeds, PodSnapshot } from './snapshot.ts'

type PodAnnotationValues = Readonly<Record<string, string | null>>

/**
 * Computes the ports of a pod, their memberships, the records of its addresses and what the pod itself is told.
 *
 * The pod is annotated only when the ports are committed: the node agent may rely on it.
 *
 * @see ovn-nb(5), Logical_Switch_Port
 */
export function desiredPod(snapshot: PodSnapshot): Desired {
  const { pods, recheckMs } = snapshot
  const [active, ...others] = pods
  if (active === undefined) return desiredAbsence(snapshot)
  const desired = desiredPresence(snapshot, active, others)
  return recheckMs === undefined ? desired : { ...desired, recheckMs }
}

function desiredPresence(snapshot: PodSnapshot, active: PodNeeds, others: readonly PodNeeds[]): Desired {
  const { pods } = snapshot
  const problem = pods.flatMap(problemsOf)[0]?.error
  const goesOn = problem !== undefined && hasAllItHad(snapshot)
  // What it asks for beside what it has is not given in part.
  const placed = placedNics(active).filter(({ isAnnotated }) => isAnnotated || !goesOn)
  const records = placed.map((nic) => desiredRecord(snapshot, active, nic))
  if (problem !== undefined && !goesOn) {
    // A pod that runs keeps what it has: its subnet may only be misspelt for the moment. What is given is recorded.
    const patches = [...records, ...observedReservations(snapshot, records)]
    const told = { ...nothing, patches, events: podEvents(snapshot), problem }
    // One that has nothing wants nothing: who holds has what others left in sets stay there.
    return snapshot.hasRows ? { ...told, hold: true } : told
  }
  const reserved = snapshot.reservations.flatMap((one) => reservedRecord(snapshot, one) ?? [])
  const ports = placed
    .filter(({ nic }) => nic.has === 'port')
    .map((nic) => desiredPort(snapshot, active.node, nic, snapshot.chassis))
  return {
    ...nothing,
    rows: ports.flatMap(({ rows }) => rows),
    members: [
      ...ports.flatMap(({ members }) => members),
      ...placed.flatMap((nic) => [...policyMembers(active, nic), ...securityMembers(nic)]),
      ...others.flatMap(membershipsElsewhere),
    ],
    patches: [
      ...records,
      ...recordsToRemove(snapshot, new Set(placed.map(({ nic }) => nic.port))),
      ...pods.flatMap((pod) => annotationPatch(snapshot, pod) ?? []),
      ...reserved,
      ...observedReservations(snapshot, [...records, ...reserved]),
    ],
    events: podEvents(snapshot),
    ...(snapshot.saysPairs ? { facts: placed.flatMap((nic) => pairFacts(active.node, nic)) } : {}),
    ...(problem === undefined ? {} : { problem }),
  }
}

/** That the subnet of a port leaves by its node. */
function pairFacts(node: string, { nic, placement }: PlacedNic): readonly Fact[] {
  const { name: subnet, leavesByNode } = placement.network
  return nic.has === 'port' && leavesByNode ? [fact(placedPairs, nic.port, { subnet, node })] : []
}

/** Whether a pod that can not have what it asks for has all that it was told before: policies go on to be for it and about it. */
function hasAllItHad({ pods, ipObjects }: PodSnapshot): boolean {
  const told = pods.flatMap(placedNics).filter(({ isAnnotated }) => isAnnotated)
  const ports = new Set(told.map(({ nic }) => nic.port))
  return pods.length === 1 && ports.size > 0 && ipObjects.every(({ metadata }) => ports.has(metadata.name))
}

/** Ports that wait for their pod stay on their switch; nothing is said about them any more. */
function desiredAbsence(snapshot: PodSnapshot): Desired {
  const { reservations } = snapshot
  const problem = reservations.find((one) => one.problem !== undefined)?.problem
  const kept = snapshot.kept.flatMap(({ port, lease, hasPort }) =>
    hasPort && lease !== undefined ? [{ port, lease }] : [],
  )
  const records = [
    ...snapshot.kept.flatMap((nic) => keptRecord(snapshot, nic) ?? []),
    ...reservations.flatMap((one) => reservedRecord(snapshot, one) ?? []),
  ]
  const isDormant = snapshot.kept.some(({ lease }) => lease === undefined)
  return {
    ...nothing,
    // Once the subnet is in effect again everything is as it was.
    ...(isDormant ? { hold: true } : {}),
    rows: kept.map(({ port, lease }) => portRow(snapshot, port, lease)),
    members: kept.map(({ port, lease }) =>
      memberOf(ref(logicalSwitch, lease.subnet), 'ports', ref(podPort, port)),
    ),
    patches: [
      ...records,
      ...recordsToRemove(snapshot, new Set(snapshot.kept.map(({ port }) => port))),
      ...observedReservations(snapshot, records),
    ],
    events: podEvents(snapshot),
    ...(problem === undefined ? {} : { problem }),
  }
}

/** The pod may have gone before its record said all that it was given. */
function keptRecord(
  { namespace, name, saysGeneration }: PodSnapshot,
  { port, lease, record }: KeptNic,
): KubePatch | undefined {
  if (lease === undefined || isReservation(record)) return undefined
  const { nodeName = '', podType = '' } = record.spec ?? {}
  const holder = { name: port, podName: name, namespace, nodeName, podType }
  return desiredIpObject(holder, lease, record, saysGeneration)
}

/** Tells a user which addresses are kept, and that we look after them. */
function reservedRecord(
  { namespace, name, saysGeneration }: PodSnapshot,
  { object, lease }: Reservation,
): KubePatch | undefined {
  if (lease === undefined) return undefined
  const { nodeName = '', podType = '', macAddress } = object.spec ?? {}
  const port = object.metadata.name
  const mac = writtenMac(lease.mac, [macAddress])
  return desiredIpObject(
    { name: port, podName: name, namespace, nodeName, podType },
    { ...lease, mac },
    object,
    saysGeneration,
  )
}

/** Tells the users of those that stay as they are, since they can not be had or wait, that they were read. */
function observedReservations(
  { ipObjects, saysGeneration }: PodSnapshot,
  written: readonly KubePatch[],
): readonly KubePatch[] {
  const names = new Set(written.map(({ name }) => name))
  return ipObjects
    .filter((ip) => isKeptReservation(ip) && reservationProblem(ip) === undefined)
    .filter(({ metadata }) => saysGeneration && !names.has(metadata.name))
    .map((ip) => ({ resource: ipResource, name: ip.metadata.name, merge: statusAfter(ip, {}) }))
}

/** While a machine moves, its ports are of both nodes, and what there is for either pod is for them. */
function membershipsElsewhere(pod: PodNeeds): readonly Member[] {
  return placedNics(pod).flatMap((nic) => [
    ...(nic.nic.has === 'port' && isReachedByNodes(nic.placement.network)
      ? [memberOf(ref(nodePortGroup, pod.node), 'ports', ref(podPort, nic.nic.port))]
      : []),
    ...policyMembers(pod, nic),
    ...securityMembers(nic),
  ])
}

function placedNics({ nics }: PodNeeds): readonly PlacedNic[] {
  return nics.filter((nic): nic is PlacedNic => nic.placement !== undefined)
}

function desiredRecord(
  { namespace, name, ipObjects, saysGeneration }: PodSnapshot,
  { node, kind }: PodNeeds,
  { nic, placement }: PlacedNic,
): KubePatch {
  return desiredIpObject(
    { name: nic.port, podName: name, namespace, nodeName: node, podType: podTypeOf(kind) },
    placement.lease,
    ipObjects.find((ip) => ip.metadata.name === nic.port),
    saysGeneration,
  )
}

/** Nothing for a pod that has no NIC here. */
function annotationPatch({ namespace, name }: PodSnapshot, pod: PodNeeds): KubePatch | undefined {
  const annotations: Record<string, string | null> = {}
  for (const key of pod.staleKeys) annotations[key] = null
  for (const nic of placedNics(pod)) Object.assign(annotations, annotationsOf(nic, pod, name))
  if (Object.keys(annotations).length === 0) return undefined
  return { resource: podResource, namespace, name: pod.name, merge: { metadata: { annotations } } }
}

function annotationsOf(nic: PlacedNic, pod: PodNeeds, holder: string): PodAnnotationValues {
  const { network, lease } = nic.placement
  const keys = podAnnotations(nic.nic.provider)
  // What a running pod was told about its subnet is not rewritten when the subnet changes: nobody would act on it.
  const about = nic.isAnnotated
    ? {}
    : {
        [keys.cidr.key]: network.cidrBlock ?? '',
        [keys.gateway.key]: network.gateway ?? '',
        ...(network.tag === undefined ? {} : tagAnnotations(keys, network.tag)),
      }
  const common = { [keys.allocated.key]: 'true', [keys.ipAddress.key]: formatIpList(lease), ...about }
  if (nic.nic.has === 'addresses') {
    return {
      ...common,
      [keys.macAddress.key]: lease.mac ?? null,
      [keys.logicalSwitch.key]: null,
      [keys.podNicType.key]: null,
    }
  }
  return {
    ...common,
    [keys.macAddress.key]: lease.mac ?? '',
    [keys.logicalSwitch.key]: network.name,
    [keys.logicalRouter.key]: network.isRouted ? network.vpc : null,
    [keys.routed.key]: 'true',
    ...(nic.isAnnotated || nic.hasNicType ? {} : { [keys.podNicType.key]: pod.nicType }),
    ...(pod.kind === 'vm' ? { [keys.virtualMachine.key]: holder } : {}),
  }
}

function tagAnnotations(
  { vlanId, providerNetwork }: PodAnnotations,
  { id, provider }: VlanTag,
): PodAnnotationValues {
  return { [vlanId.key]: String(id), [providerNetwork.key]: provider }
}

/** Records that nobody has a use for any more. What a user reserved outlives the pod. */
function recordsToRemove({ ipObjects }: PodSnapshot, wanted: ReadonlySet<string>): readonly KubePatch[] {
  return ipObjects
    .filter((ip) => !isReservation(ip) || ip.metadata.deletionTimestamp !== undefined)
    .filter((ip) => !wanted.has(ip.metadata.name))
    .map((ip) => ipObjectRemoval(ip.metadata.name, ip))
}
