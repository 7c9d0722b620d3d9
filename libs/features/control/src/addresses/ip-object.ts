import { controllerFinalizer, ipLabel, ipLabels } from '@kube-ovn/annotations'
import { formatIp, formatIpList } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'
import { apiVersion, ipResource, type Ip } from '@kube-ovn/kube-api'
import type { OwnerReference } from '@kube-ovn/kube-api/core'
import type { KubePatch } from '@kube-ovn/reconcile'
import { withOurFinalizer, withoutOurFinalizer } from '../finalizers.ts'
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
 */
export function desiredIpObject(holder: AddressHolder, lease: Lease, existing: Ip | undefined): KubePatch {
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
    merge: { metadata: { labels, finalizers: withOurFinalizer(existing?.metadata.finalizers) }, spec },
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
    },
  }
}

/** Removes a record whose lease has ended. The addresses are free once nobody else has a finalizer on it. */
export function ipObjectRemoval(name: string, existing: Ip | undefined): KubePatch {
  const others = withoutOurFinalizer(existing?.metadata.finalizers)
  const merge = { metadata: { finalizers: others.length === 0 ? null : others } }
  return { resource: ipResource, name, remove: true, merge }
}
