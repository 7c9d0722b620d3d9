import type { Cidr, DualStack, Ip, Ipv4, Ipv6 } from '@kube-ovn/ip'
import type { ExcludeIpsError, PoolOutsideSubnetError } from './errors.ts'
import type { Owner } from './owner.ts'

/** What a NIC holds in a subnet. Never changes; a change of the holdings makes a new one. */
export interface Lease {
  readonly nic: string
  readonly owner: Owner
  /** Of the object that is the owner at present, where that matters: see {@link AllocateRequest.uid}. */
  readonly uid: string | undefined
  readonly subnet: string
  readonly v4: Ipv4 | undefined
  readonly v6: Ipv6 | undefined
  /** Canonical text; absent for NICs whose MAC address is not ours to choose. */
  readonly mac: string | undefined
  /** The holder said that others may have the same addresses, too. */
  readonly isShared: true | undefined
}

/**
 * What an address is in a subnet.
 *
 * `outside`: no port may have it. `gateway`: the router's, whoever has it too. `free`: nobody has it, which does not say that it may be drawn.
 */
export type AddressState = 'outside' | 'gateway' | 'held' | 'free'

/** Each owner once. */
export function distinct(owners: readonly Owner[]): readonly Owner[] {
  return owners.length < 2 ? owners : [...new Set(owners)]
}

/** Addresses that are passed over: a set, or what answers like one. */
export type Skipped = Pick<ReadonlySet<Ip>, 'has' | 'size'>

/** Asks for the addresses of one NIC. */
export interface AllocateRequest {
  readonly subnet: string
  /** Unique in the cluster: a NIC has one lease, and asking in another subnet moves it there. */
  readonly nic: string
  /** Who the NIC belongs to. */
  readonly owner: Owner
  /**
   * Tells a pod from its predecessor of the same name, whose addresses it takes over. From then on the predecessor
   * can not release them any more. Absent for owners that are the same one when they come back.
   */
  readonly uid?: string | undefined
  /** The IPPool to draw from; without it only addresses that are in no IPPool are drawn. */
  readonly pool?: string | undefined
  /** Addresses to have and no others; of any pool, excluded ones too. The other family is drawn unless `family` is given. */
  readonly static?: DualStack<Ip> | undefined
  /** Only this family; what the NIC holds of the other one stays, unless it is to be skipped. */
  readonly family?: 4 | 6 | undefined
  /** The MAC address to have; `false` when none is wanted. Without it the NIC's own is kept, or one is made up. */
  readonly mac?: string | false | undefined
  /** Addresses not to draw; a lease on one of them is exchanged, or given up in a family that is not asked for. */
  readonly skip?: Skipped | undefined
  /**
   * Shares what another owner holds instead of failing: live migration, allowed address pairs, and addresses lent to
   * a Pod.
   */
  readonly shareOnConflict?: boolean | undefined
}

/** What a subnet has to hand out. */
export interface SubnetSpec {
  readonly name: string
  /** None at all for a subnet that hands out MAC addresses only. */
  readonly cidrs: DualStack<Cidr>
  /** Never handed out, whether excluded or not. */
  readonly gateways: DualStack<Ip>
  /** `ip` or `ip..ip` of either family: never drawn, but may be asked for. */
  readonly excludeIps: readonly string[]
}

/** What a change of a subnet did beyond the change itself. */
export interface SubnetChange {
  /** Leases that lost an address which the subnet no longer has, as they were before. */
  readonly lost: readonly Lease[]
  /** What is wrong with entries of `excludeIps` that have no effect. */
  readonly ignoredExcludeIps: readonly ExcludeIpsError[]
}

/** What a change of an IPPool did beyond the change itself. */
export interface PoolChange {
  /** What is wrong with the first few entries that name no address of the subnet; they have no effect until it grows. */
  readonly outside: readonly PoolOutsideSubnetError[]
  /** No entry names one, and there are some. */
  readonly isUseless: boolean
}

/** Counts and ranges of one family, as published in the status of subnets and IPPools. */
export interface FamilyStatistics {
  /** Addresses that can be drawn. */
  readonly available: bigint
  readonly using: bigint
  /** As `a-b,c`. */
  readonly availableRanges: string
  readonly usingRanges: string
}

/** Absent for families that the subnet does not have. */
export interface Statistics {
  readonly v4: FamilyStatistics | undefined
  readonly v6: FamilyStatistics | undefined
}
