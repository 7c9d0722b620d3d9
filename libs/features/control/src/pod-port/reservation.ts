import { KubeOvnError } from '@kube-ovn/errors'
import { tryParseMac } from '@kube-ovn/ip'
import { ownerOf, type AllocateRequest, type Lease } from '@kube-ovn/ipam'
import type { Ip } from '@kube-ovn/kube-api'
import { allocateUnseen } from '../addresses/allocate-unseen.ts'
import { addressesOf, isGranted, isReservation, requestOf } from '../addresses/recorded.ts'
import { reservationProblem } from '../addresses/reservation-problem.ts'
import type { ControlWorld } from '../world.ts'
import { PodSubnetUnavailableError } from './errors.ts'

/** Addresses that a user keeps for a pod that is not there. */
export interface Reservation {
  readonly object: Ip
  readonly lease: Lease | undefined
  /** Why there is no lease. */
  readonly problem: KubeOvnError | undefined
}

/** Sees that the IP objects that a user made for a pod have the addresses that they ask for, or some. */
export function observeReservations(
  key: string,
  ipObjects: readonly Ip[],
  world: ControlWorld,
): readonly Reservation[] {
  return ipObjects
    .filter((object) => isReservation(object) && object.metadata.deletionTimestamp === undefined)
    .filter((object) => reservationProblem(object) === undefined)
    .map((object) => reserve(object, key, world))
}

function reserve(object: Ip, key: string, world: ControlWorld): Reservation {
  const held = world.ipam.lease(object.metadata.name)
  if (held !== undefined) return { object, lease: held, problem: undefined }
  try {
    const lease = allocateUnseen(requestFor(object, key, world), world)
    world.raise('usage', lease.subnet)
    return { object, lease, problem: undefined }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { object, lease: undefined, problem: error }
  }
}

function requestFor(object: Ip, key: string, world: ControlWorld): AllocateRequest {
  const { subnet = '', macAddress = '' } = object.spec ?? {}
  const isNew = !isGranted(object)
  if (isNew && world.subnets.get(subnet)?.metadata.deletionTimestamp !== undefined) {
    throw new PodSubnetUnavailableError({ subnet, cure: 'choose another Subnet: this one is being deleted' })
  }
  const recorded = addressesOf(object)
  const base = { subnet, nic: object.metadata.name, owner: ownerOf('reservation', key) }
  // NICs of other CNIs have MAC addresses of their own.
  const hasSwitch = world.networks.get(subnet)?.hasSwitch !== false
  const mac = tryParseMac(macAddress) ?? (hasSwitch ? undefined : false)
  if (recorded === undefined) return { ...base, mac }
  const request = requestOf(recorded)
  // What the user left open is drawn at first, and never added later.
  return isNew ? { ...base, static: request.static, mac } : { ...base, ...request, mac }
}
