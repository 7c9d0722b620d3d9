import { controllerFinalizer, ipLabel, ipLabels } from '@kube-ovn/annotations'
import { formatIp, formatIpList } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'
import type { MergeFragment } from '@kube-ovn/kube'
import { apiVersion, ipResource, type Ip } from '@kube-ovn/kube-api'
import type { OwnerReference } from '@kube-ovn/kube-api/core'
import { hasContent, type KubePatch } from '@kube-ovn/reconcile'
import { withOurFinalizer, withoutOurFinalizer } from '../finalizers.ts'
import { generationAfter } from '../generation.ts'
import { isReservation } from './recorded.ts'

/** What an IP object records beside the addresses. */
export interface AddressHolder {
  /** Name of the object, which is also the name of the port. */
  readonly name: string
  readonly podName: string
  /** Empty for a node. */
  readonly namespace: string
  readonly nodeName: string
  /** Says what kind of pod it is whose addresses stay; empty for others. */
  readonly podType?: string
  readonly ownerReferences?: readonly OwnerReference[]
}

/**
 * Computes the durable record of a lease.
 *
 * An object that somebody deletes meanwhile is let go; it is made anew once it is gone.
 *
 * @param saysGeneration whether it has a place for the generation that it is about
 */
export function desiredIpObject(
  holder: AddressHolder,
  lease: Lease,
  existing: Ip | undefined,
  saysGeneration: boolean,
): KubePatch {
  const { name, podType = '' } = holder
  if (existing?.metadata.deletionTimestamp !== undefined) return ipObjectRemoval(name, existing)
  const isReserved = existing !== undefined && isReservation(existing)
  // A reservation is not labelled as one of the subnet's before its pod has been there, as upstream has it.
  const isAwaited = isReserved && holder.nodeName === ''
  const labels = isAwaited
    ? { [ipLabel.isReserved]: 'true' }
    : ipLabels({ subnet: lease.subnet, nodeName: holder.nodeName, isReserved })
  const spec = {
    podName: holder.podName,
    namespace: holder.namespace,
    nodeName: holder.nodeName,
    subnet: lease.subnet,
    ipAddress: formatIpList(lease),
    v4IpAddress: lease.v4 === undefined ? '' : formatIp(lease.v4),
    v6IpAddress: lease.v6 === undefined ? '' : formatIp(lease.v6),
    macAddress: lease.mac ?? '',
    podType,
  }
  return {
    resource: ipResource,
    name,
    merge: {
      metadata: { labels, finalizers: withOurFinalizer(existing?.metadata.finalizers) },
      spec,
      ...(existing === undefined || !saysGeneration ? {} : statusAfter(existing, { spec })),
    },
    create: {
      apiVersion,
      kind: ipResource.kind,
      metadata: {
        name,
        labels,
        finalizers: [controllerFinalizer],
        ...(holder.ownerReferences === undefined ? {} : { ownerReferences: holder.ownerReferences }),
      },
      spec: { ...spec, attachIps: [], attachMacs: [], attachSubnets: [], containerID: '' },
      ...(saysGeneration ? { status: { observedGeneration: 1 } } : {}),
    },
  }
}

/**
 * What the status of a record says once `content` is written to it, in the same write.
 *
 * Records of an older version say nothing until something else of them changes: there may be thousands.
 */
export function statusAfter(
  existing: Ip,
  content: MergeFragment,
): { readonly status?: { readonly observedGeneration: number } } {
  const { generation } = existing.metadata
  const said = existing.status?.observedGeneration
  const observedGeneration = generationAfter(existing, {
    ...content,
    status: { observedGeneration: generation },
  })
  const isOfOlderVersion = said === undefined && !isReservation(existing) && hasContent(existing, content)
  return observedGeneration === undefined || isOfOlderVersion ? {} : { status: { observedGeneration } }
}

/** Removes a record whose lease has ended. The addresses are free once nobody else has a finalizer on it. */
export function ipObjectRemoval(name: string, existing: Ip | undefined): KubePatch {
  const others = withoutOurFinalizer(existing?.metadata.finalizers)
  const merge = { metadata: { finalizers: others.length === 0 ? null : others } }
  return { resource: ipResource, name, remove: true, merge }
}
