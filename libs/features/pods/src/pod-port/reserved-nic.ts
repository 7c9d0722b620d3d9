import { networkAnnotations, podAnnotations } from '@kube-ovn/annotations'
import type { KubeOvnError } from '@kube-ovn/errors'
import { formatIpList, type DualStackIp } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'
import type { Ip } from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import { addressesOf, reservationProblem, type Allocation } from '@kube-ovn/domains-control/addresses'
import {
  type Holder,
  holderKey,
  isTarget,
  lacksFamily,
  type PodNic,
  PodSubnetUnavailableError,
  ReservationGivenUpError,
  ReservationUnavailableError,
  reserve,
} from '@kube-ovn/domains-control/pods'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { findSubnetRefusal } from './placement.ts'
import { readNicRequest } from './request.ts'

/** A pod asks for addresses itself: by which annotation, for what. */
interface Ask {
  readonly field: string
  readonly value: string
}

/**
 * Sees that the NIC of a pod that is there has what a user reserved for it, and answers the subnet that it stays in.
 *
 * A pod that asks for other addresses goes without, and one that was told its addresses keeps them: then the answer is
 * `undefined`.
 *
 * @throws ReservationUnavailableError: the pod has to wait
 */
export function takeReserved(
  object: Ip,
  pod: Pod,
  holder: Holder,
  nic: PodNic,
  allocation: Allocation,
): string | undefined {
  const { world } = allocation
  // While a machine moves its addresses stay what they are.
  if (isAllocated(pod, nic) || isTarget(pod)) return undefined
  const asked = askedInstead(object, pod, nic, world)
  const { lease, problem } = reserve(object, holderKey(holder), allocation)
  if (asked !== undefined) return undefined
  const refusal = reservationProblem(object) ?? problem ?? findRefusal(lease?.subnet ?? '', nic, world)
  if (refusal !== undefined) throw new ReservationUnavailableError(object, refusal)
  return lease?.subnet
}

/** Finds why a NIC has no use for addresses of the subnet. */
function findRefusal(subnet: string, nic: PodNic, world: ControlWorld): KubeOvnError | undefined {
  const provider = world.attachments.get(subnet)?.provider
  if (provider !== undefined && nic.boundTo !== undefined && provider !== nic.boundTo) {
    const cure = `reserve addresses of a Subnet with spec.provider ${nic.boundTo}`
    return new PodSubnetUnavailableError({ subnet, cure })
  }
  return findSubnetRefusal(subnet, nic, world)
}

/** Says what a pod gives up that was reserved for it, when it is given other addresses. */
export function findGivenUp(
  object: Ip,
  pod: Pod,
  nic: PodNic,
  lease: Lease,
  world: ControlWorld,
): ReservationGivenUpError | undefined {
  const { v4, v6 } = addressesOf(object)?.addresses ?? {}
  const isElsewhere = lease.subnet !== object.spec?.subnet
  const lost = {
    v4: isElsewhere || lease.v4 !== v4 ? v4 : undefined,
    v6: isElsewhere || lease.v6 !== v6 ? v6 : undefined,
  }
  const reserved = formatIpList(lost)
  // Whoever was told its addresses was told this before.
  if (reserved === '' || isAllocated(pod, nic)) return undefined
  const asked = askedInstead(object, pod, nic, world) ?? { field: '', value: '' }
  return new ReservationGivenUpError({ reservation: object.metadata.name, reserved, ...asked })
}

/** Whether a pod that was told its addresses lost what was reserved for it. */
export function hasLostReserved(object: Ip, pod: Pod, nic: PodNic, world: ControlWorld): boolean {
  return isAllocated(pod, nic) && lacksFamily(world.ipam.lease(nic.port), object)
}

function isAllocated({ metadata }: Pod, { provider }: PodNic): boolean {
  return podAnnotations(provider).allocated.read(metadata.annotations) === true
}

/**
 * What a pod asks for itself that is not what is reserved. An IPPool of the subnet is nothing else: who has addresses
 * there keeps them.
 *
 * @throws AnnotationInvalidError
 */
function askedInstead(object: Ip, pod: Pod, nic: PodNic, world: ControlWorld): Ask | undefined {
  const { subnet } = object.spec ?? {}
  const keys = podAnnotations(nic.provider)
  const { annotations } = pod.metadata
  const vip = podAnnotations(nic.provider).borrowedVip.read(annotations) ?? ''
  if (vip !== '') return { field: podAnnotations(nic.provider).borrowedVip.key, value: vip }
  const { addresses, pool, logicalSwitch } = readNicRequest(pod, nic)
  if (addresses !== undefined && isOther(addresses, addressesOf(object)?.addresses ?? {})) {
    return { field: addressField(pod, nic), value: formatIpList(addresses) }
  }
  if (logicalSwitch !== undefined && logicalSwitch !== subnet) {
    return { field: keys.logicalSwitch.key, value: logicalSwitch }
  }
  const isOtherPool =
    pool !== undefined && (pool.kind === 'list' || world.pools.get(pool.name)?.subnet !== subnet)
  return isOtherPool && addresses === undefined
    ? { field: keys.ipPool.key, value: annotations?.[keys.ipPool.key] ?? '' }
    : undefined
}

function isOther(asked: DualStackIp, reserved: DualStackIp): boolean {
  return (
    (asked.v4 !== undefined && asked.v4 !== reserved.v4) ||
    (asked.v6 !== undefined && asked.v6 !== reserved.v6)
  )
}

/** Where a pod asks for the addresses of a NIC. */
function addressField({ metadata: { annotations } }: Pod, { own, asked, provider }: PodNic): string {
  if (own !== undefined && (annotations?.[own.ipAddress.key] ?? '') !== '') return own.ipAddress.key
  return asked?.addresses === undefined
    ? podAnnotations(provider).ipAddress.key
    : networkAnnotations.further.key
}
