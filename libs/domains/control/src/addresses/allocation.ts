import type { KubeOvnError } from '@kube-ovn/errors'
import { formatIp, type Ip } from '@kube-ovn/ip'
import type { Lease, Owner } from '@kube-ovn/ipam'
import type { Allocated } from '@kube-ovn/reconcile'
import type { AllocatingWorld, ControlWorld } from '../world.ts'
import { placeOf } from './foreign-ports.ts'
import { freed } from './free.ts'
import { placeClaim, type AddressClaim, type Unplaced } from './placement.ts'
import { anyOpening } from './waiters.ts'

/**
 * Lets a key take and give back addresses, after it was observed and before it is decided. What it could not be given it waits for.
 *
 * @param waiter the key as it is known where it waits, see `turnsOf`
 * @returns what `run` answers, and how to undo all that it did; that is done when it throws
 */
export function allocating<S>(
  world: AllocatingWorld,
  waiter: Owner,
  run: (allocation: Allocation) => S | undefined,
): Allocated<S> {
  return world.waiters.look(waiter, () => {
    const allocation = new Allocation(world)
    try {
      const snapshot = run(allocation)
      const places = allocation.lackedIn()
      if (places.length === 0) world.waiters.end(waiter)
      else world.waiters.wait(waiter, places)
      return { snapshot, undo: () => allocation.undo() }
    } catch (error) {
      allocation.undo()
      throw error
    }
  })
}

/** What one key takes and gives back while it is looked at. Claims are placed one after the other, each over what those before it took. */
export class Allocation {
  /** For all that is only read. */
  readonly world: ControlWorld
  readonly #world: AllocatingWorld
  /** What NICs had that were given something else. */
  readonly #before = new Map<string, Lease | undefined>()
  /** Claims that could not be placed, and why. */
  readonly #refused: Unplaced[] = []
  #places: readonly string[] | undefined

  constructor(world: AllocatingWorld) {
    this.world = world
    this.#world = world
  }

  /** Sees that a NIC has what it claims. @throws the problem of a claim that can not be placed; then nothing has changed */
  take(claim: AddressClaim): Lease {
    const { ipam, raise } = this.#world
    const before = ipam.lease(claim.nic)
    const placed = placeClaim(claim, viewOf(this.#world))
    if ('problem' in placed) {
      this.#refused.push(placed)
      throw placed.problem
    }
    const { request, lease } = placed
    // The MAC address is the one that was made up.
    const now = ipam.allocate({ ...request, mac: request.mac ?? lease.mac })
    if (before !== undefined && isSame(before, now)) return now
    if (!this.#before.has(claim.nic)) this.#before.set(claim.nic, before)
    if (before !== undefined && givesUp(before, now)) freed(before.subnet, before, this.#world)
    if (claim.isUnrecorded === true || (before !== undefined && hasOthers(before, now)))
      raise('usage', now.subnet)
    return now
  }

  /** Gives back what a NIC of the owner has: one of those who wait for it has a turn. */
  release(nic: string, owner: Owner): void {
    const released = this.#world.ipam.release(nic, owner)
    if (released === undefined) return
    if (!this.#before.has(nic)) this.#before.set(nic, released)
    freed(released.subnet, released, this.#world)
  }

  /**
   * The key has to wait at these places; at none, when it has all that it needs. Who does not say so waits where claims were refused.
   */
  wait(places: readonly string[]): void {
    this.#places = places
  }

  /** Where to wait for what a problem says that there is not. No address helps, if it is not one of a claim that was refused. */
  placesOf(problem: KubeOvnError | undefined): readonly string[] {
    const refused = this.#refused.find((one) => one.problem === problem)
    return refused === undefined ? [anyOpening] : [...refused.places]
  }

  /** Where to wait for what is lacking. */
  lackedIn(): readonly string[] {
    return this.#places ?? this.#refused.flatMap(({ places }) => [...places])
  }

  raise(...told: Parameters<AllocatingWorld['raise']>): void {
    this.#world.raise(...told)
  }

  /** Gives all NICs again what they had. Who waits for what nobody has now has a turn. */
  undo(): void {
    const { ipam } = this.#world
    for (const [nic, before] of [...this.#before].reverse()) {
      const now = ipam.lease(nic)
      ipam.putBack(nic, before)
      if (now !== undefined) freed(now.subnet, now, this.#world)
      if (before !== undefined && before.subnet !== now?.subnet) freed(before.subnet, before, this.#world)
    }
    this.#before.clear()
  }
}

function viewOf(world: ControlWorld): Parameters<typeof placeClaim>[1] {
  return { ipam: world.ipam, isSeen: (subnet, ip) => isSeen(subnet, ip, world) }
}

/**
 * Whether a node has the address as its own, as the subnet may have been there before the node, or a port that somebody else put on
 * the switch.
 */
function isSeen(subnet: string, ip: Ip, { attachments, nodeAddresses, foreignPorts }: ControlWorld): boolean {
  if (attachments.get(subnet)?.hasSwitch === false) return false
  return (
    nodeAddresses.some('address', formatIp(ip)) ||
    foreignPorts.keys('address', placeOf(subnet, ip)).length > 0
  )
}

function isSame(before: Lease, now: Lease): boolean {
  return (Object.keys(now) as (keyof Lease)[]).every((field) => before[field] === now[field])
}

function hasOthers(before: Lease, now: Lease): boolean {
  return before.subnet !== now.subnet || before.v4 !== now.v4 || before.v6 !== now.v6
}

/** Whether there is something of the former lease for others. */
function givesUp(before: Lease, now: Lease): boolean {
  if (before.subnet !== now.subnet) return true
  return (['v4', 'v6', 'mac'] as const).some(
    (field) => before[field] !== undefined && before[field] !== now[field],
  )
}
