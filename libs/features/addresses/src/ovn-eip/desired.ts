import { ovnEipLabels } from '@kube-ovn/annotations'
import { problemText } from '@kube-ovn/errors'
import { formatIp } from '@kube-ovn/ip'
import {
  conditionType,
  ovnEipReason,
  ovnEipResource,
  ovnEipType,
  withObservedGeneration,
} from '@kube-ovn/kube-api'
import { eipPort, externalId, logicalSwitch } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent, KubePatch, OwnedRow } from '@kube-ovn/reconcile'
import {
  complaintEvents,
  externalIds,
  generationAfter,
  memberOf,
  ref,
  withComplaints,
  withOurFinalizer,
  withoutOurFinalizer,
  type Complaint,
} from '@kube-ovn/domains-control'
import type { EipPlacement, OvnEipSnapshot } from './snapshot.ts'

/**
 * Computes what an OvnEip is told, and the port of one that has one: a bare one, which the node of the same name binds.
 *
 * @see ovn-nb(5), Logical_Switch_Port
 */
export function desiredEip(eip: OvnEipSnapshot): Desired {
  const { name, object, placement, problem } = eip
  if (eip.isDeleting && eip.holder === undefined) {
    const merge = { metadata: { finalizers: withoutOurFinalizer(object.metadata.finalizers) } }
    return { ...nothing, patches: [{ resource: ovnEipResource, name, merge }] }
  }
  const told = {
    patches: patchesOf(eip),
    events: eventsOf(eip),
    ...(problem === undefined ? {} : { problem }),
  }
  // A slip in an edit takes nobody's address away.
  if (placement === undefined) return { ...nothing, ...told, ...(eip.isAnother ? {} : { hold: true }) }
  if (!placement.hasPort) return { ...nothing, ...told }
  const port = portRow(name, placement)
  const members = [memberOf(ref(logicalSwitch, placement.subnet), 'ports', ref(port.kind, port.id))]
  return { ...nothing, ...told, rows: [port], members }
}

function portRow(name: string, { subnet, addresses, mac }: EipPlacement): OwnedRow {
  const { v4, v6 } = textsOf(addresses)
  return {
    kind: eipPort,
    id: name,
    columns: {
      name,
      addresses: [[mac, v4, v6].filter((text) => text !== undefined).join(' ')],
      external_ids: externalIds({ [externalId.logicalSwitch]: subnet }),
    },
  }
}

function textsOf({ v4, v6 }: EipPlacement['addresses']) {
  return {
    v4: v4 === undefined ? undefined : formatIp(v4),
    v6: v6 === undefined ? undefined : formatIp(v6),
  }
}

/** The status is the record of the addresses, so that it comes first. */
function patchesOf(eip: OvnEipSnapshot): readonly KubePatch[] {
  const { name, object, placement } = eip
  const content = placement === undefined ? {} : contentOf(eip, placement)
  const status: KubePatch = {
    resource: ovnEipResource,
    name,
    subresource: 'status',
    merge: { status: statusOf(eip, generationAfter(object, content)) },
  }
  return placement === undefined ? [status] : [status, { resource: ovnEipResource, name, merge: content }]
}

/** What it has is written into its specification where that says nothing. */
function contentOf(
  { object, isDeleting }: OvnEipSnapshot,
  placement: EipPlacement,
): NonNullable<KubePatch['merge']> {
  const { subnet, type, addresses, mac } = placement
  const { spec = {} } = object
  const has = { ...textsOf(addresses), type, mac }
  const filledIn = {
    ...(has.v4 === undefined || (spec.v4Ip ?? '') !== '' ? {} : { v4Ip: has.v4 }),
    ...(has.v6 === undefined || (spec.v6Ip ?? '') !== '' ? {} : { v6Ip: has.v6 }),
    ...((spec.macAddress ?? '') === '' ? { macAddress: mac } : {}),
    ...((spec.type ?? '') === '' ? { type } : {}),
  }
  const labels = ovnEipLabels({ subnet, type, v4: has.v4, v6: has.v6 })
  return {
    // Nobody may add one to what is being deleted.
    metadata: { labels, ...(isDeleting ? {} : { finalizers: withOurFinalizer(object.metadata.finalizers) }) },
    ...(Object.keys(filledIn).length === 0 ? {} : { spec: filledIn }),
  }
}

function statusOf(eip: OvnEipSnapshot, generation: number | undefined): NonNullable<KubePatch['merge']> {
  const { object, placement, saysGeneration, now, isServedByNode } = eip
  const before = object.status?.conditions ?? []
  const changed = withComplaints(before, complaintsOf(eip), now)
  const conditions = withObservedGeneration(changed, generation, now)
  const told = {
    ...(saysGeneration && generation !== undefined ? { observedGeneration: generation } : {}),
    ...(before.length === 0 && conditions.length === 0
      ? {}
      : { conditions: conditions.map((condition) => ({ ...condition })) }),
  }
  if (placement === undefined) return told
  const { v4, v6 } = textsOf(placement.addresses)
  const { type, mac } = placement
  return {
    ...{ v4Ip: v4 ?? null, v6Ip: v6 ?? null, macAddress: mac, type, ...told },
    // Agents of upstream say it here.
    ready: type !== ovnEipType.nodePort || (isServedByNode ?? object.status?.ready ?? false),
  }
}

function complaintsOf({ name, problem, isDeleting, holder }: OvnEipSnapshot): readonly Complaint[] {
  const complaint =
    problem === undefined
      ? undefined
      : { reason: ovnEipReason.acquireAddressFailed, message: problemText(problem) }
  const message = `the router of Vpc ${holder ?? ''} has the addresses of ${name}: take the subnet out of its specification first`
  const inUse = isDeleting && holder !== undefined ? { reason: ovnEipReason.inUse, message } : undefined
  return [
    { type: conditionType.ready, status: 'False', complaint },
    { type: conditionType.error, status: 'True', complaint: inUse },
  ]
}

function eventsOf(eip: OvnEipSnapshot): readonly KubeEvent[] {
  const { name, object } = eip
  const { uid } = object.metadata
  if (uid === undefined) return []
  const regarding = { resource: ovnEipResource, name, uid }
  return complaintEvents(regarding, object.status?.conditions, complaintsOf(eip))
}
