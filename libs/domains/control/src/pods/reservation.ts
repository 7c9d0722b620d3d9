import { KubeOvnError } from '@kube-ovn/errors'
import { tryParseMac } from '@kube-ovn/ip'
import { ownerOf, type Lease } from '@kube-ovn/ipam'
import type { Ip } from '@kube-ovn/kube-api'
import type { Allocation } from '../addresses/allocation.ts'
import type { AddressClaim } from '../addresses/placement.ts'
import { addressesOf, isGranted, isReservation, requestOf } from '../addresses/recorded.ts'
import { reservationProblem } from '../addresses/reservation-problem.ts'
import { isEnding } from '../topology/namespace-bindings.ts'
import type { ControlWorld } from '../world.ts'
import { PodSubnetUnavailableError } from './port-errors.ts'

/** Addresses that a user keeps for a pod that is not there. */
export interface Reservation {
  readonly object: Ip
  readonly lease: Lease | undefined
  /** Why there is no lease, or not all that the object says. */
  readonly problem: KubeOvnError | undefined
}

/** Whether a user made the IP object, and wants to keep it. */
export function isKeptReservation(object: Ip): boolean {
  return isReservation(object) && object.metadata.deletionTimestamp === undefined
}

/** Sees that the IP objects that a user made for a pod have the addresses that they ask for, or some. */
export function observeReservations(
  key: string,
  ipObjects: readonly Ip[],
  allocation: Allocation,
): readonly Reservation[] {
  return ipObjects
    .filter((object) => isKeptReservation(object) && reservationProblem(object) === undefined)
    .map((object) => reserve(object, key, allocation))
}

/** Sees that one of them has its addresses. What it keeps of them while it can not have all stays its own. */
export function reserve(object: Ip, key: string, allocation: Allocation): Reservation {
  const { world } = allocation
  const held = world.ipam.lease(object.metadata.name)
  if (held !== undefined && !lacksFamily(held, object)) return { object, lease: held, problem: undefined }
  try {
    const lease = allocation.take(claimOf(object, key, world))
    return { object, lease, problem: undefined }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { object, lease: undefined, problem: error }
  }
}

/** Whether the object says an address of a family of which there is none by now: its subnet changed meanwhile. */
export function lacksFamily(lease: Lease | undefined, object: Ip): boolean {
  const { v4, v6 } = addressesOf(object)?.addresses ?? {}
  return (v4 !== undefined && lease?.v4 === undefined) || (v6 !== undefined && lease?.v6 === undefined)
}

/** @throws PodSubnetUnavailableError */
function claimOf(object: Ip, key: string, world: ControlWorld): AddressClaim {
  const { subnet = '', macAddress = '' } = object.spec ?? {}
  const isNew = !isGranted(object)
  if (isNew && isEnding(subnet, world)) {
    throw new PodSubnetUnavailableError({ subnet, cure: 'choose another Subnet: this one is being deleted' })
  }
  const recorded = addressesOf(object)
  // NICs of other CNIs have MAC addresses of their own.
  const hasSwitch = world.attachments.get(subnet)?.hasSwitch !== false
  const mac = tryParseMac(macAddress) ?? (hasSwitch ? undefined : false)
  const request = recorded === undefined ? undefined : requestOf(recorded)
  // What the user left open is drawn at first, and never added later.
  const asked = isNew && request !== undefined ? { static: request.static } : request
  return {
    nic: object.metadata.name,
    owner: ownerOf('reservation', key),
    choices: [{ subnet, ...asked, mac, drawsUnseen: true }],
    tells: 'most',
    isUnrecorded: true,
  }
}
