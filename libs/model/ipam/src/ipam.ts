import { parseMac, parseRangeSets, type Ip } from '@kube-ovn/ip'
import { defaultPool, ownersOf } from './address-table.ts'
import { NicConflictError, NoSubnetError } from './errors.ts'
import { ForkableMap } from './forkable-map.ts'
import type { AllocateRequest, Lease, Statistics, SubnetChange, SubnetSpec } from './lease.ts'
import { layOutSubnet } from './subnet-layout.ts'
import { SubnetTable } from './subnet-table.ts'

const nothing: Statistics = { v4: undefined, v6: undefined }

/**
 * Hands out the addresses of all subnets.
 *
 * A state machine without I/O: every operation either succeeds as a whole or throws and has changed nothing.
 * Within a pool the lowest free address comes first, and a released one is not handed out again before all others
 * were. Nothing is random but MAC addresses.
 *
 * The state is an index of durable records: rebuild it by asking again for every address as a static one.
 */
export class Ipam {
  readonly #random: (bytes: number) => Uint8Array
  readonly #subnets = new Map<string, SubnetTable>()
  /** Subnets that no fork shares; others are copied before they change. */
  readonly #unshared = new Set<string>()
  #subnetOfNic = new ForkableMap<string, string>()
  #nicsOfOwner = new ForkableMap<string, readonly string[]>()

  /** @param random gives that many random bytes; used for MAC addresses only */
  constructor(random: (bytes: number) => Uint8Array) {
    this.#random = random
  }

  /**
   * An independent copy, for plans that may not come true.
   *
   * Cheap: what both have in common stays shared until one of them changes it.
   */
  fork(): Ipam {
    const twin = new Ipam(this.#random)
    for (const [name, table] of this.#subnets) twin.#subnets.set(name, table)
    this.#unshared.clear()
    twin.#subnetOfNic = this.#subnetOfNic.fork()
    twin.#nicsOfOwner = this.#nicsOfOwner.fork()
    return twin
  }

  /**
   * Adds or changes a subnet. Without a difference nothing happens.
   *
   * In a family that changes, released addresses become free, and holders of addresses that the subnet no longer
   * has lose them: they are told in the answer.
   *
   * @throws CidrInvalidError
   */
  setSubnet(spec: SubnetSpec): SubnetChange {
    const layout = layOutSubnet(spec)
    const { ignoredExcludeIps } = layout
    const known = this.#subnets.get(spec.name)
    if (known === undefined) {
      this.#subnets.set(spec.name, SubnetTable.create(spec.name, layout))
      this.#unshared.add(spec.name)
      return { lost: [], ignoredExcludeIps }
    }
    if (known.hasLayout(layout)) return { lost: [], ignoredExcludeIps }
    known.checkLayout(layout)
    const changes = this.#writable(known).relay(layout)
    for (const { before, after } of changes) if (after === undefined) this.#unlist(before)
    return { lost: changes.map(({ before }) => before), ignoredExcludeIps }
  }

  /** Forgets a subnet with its pools and leases. */
  removeSubnet(name: string): void {
    const table = this.#subnets.get(name)
    if (table === undefined) return
    for (const lease of table.leases()) this.#unlist(lease)
    this.#subnets.delete(name)
    this.#unshared.delete(name)
  }

  hasSubnet(name: string): boolean {
    return this.#subnets.has(name)
  }

  /**
   * Keeps the MAC address of the subnet's router port from being handed out.
   *
   * @throws NoSubnetError and InvalidMacError
   */
  setGatewayMac(subnet: string, mac: string): void {
    const table = this.#existing(subnet)
    const parsed = parseMac(mac)
    if (table.gatewayMac !== parsed) this.#writable(table).setGatewayMac(parsed)
  }

  /**
   * Adds or changes a named part of a subnet, from which addresses are drawn only by name.
   *
   * @param ips `ip`, `ip..ip` or CIDR entries of either family
   * @throws NoSubnetError, PoolConflictError, InvalidIpError, InvalidIpRangeError and InvalidCidrError
   */
  setPool(subnet: string, pool: string, ips: readonly string[]): void {
    if (pool === defaultPool) throw new RangeError('a pool needs a name')
    const table = this.#existing(subnet)
    const members = parseRangeSets(ips, 'spec.ips')
    if (table.hasPool(pool, members)) return
    table.checkPool(pool, members)
    this.#writable(table).setPool(pool, members)
  }

  /** Gives the addresses of a pool back to the subnet; their holders keep them. */
  removePool(subnet: string, pool: string): void {
    const table = this.#subnets.get(subnet)
    if (table?.knowsPool(pool) === true) this.#writable(table).removePool(pool)
  }

  hasPool(subnet: string, pool: string): boolean {
    return this.#subnets.get(subnet)?.knowsPool(pool) ?? false
  }

  /**
   * Makes sure that the NIC has what is asked for, and answers all that it has in the subnet.
   *
   * Idempotent: what the NIC has already is kept as long as it meets the request.
   *
   * @throws NoSubnetError, InvalidIpFamilyError, AddressOutOfRangeError, AddressConflictError,
   * NoAvailableAddressError, MacConflictError, NicConflictError and InvalidMacError
   */
  allocate(request: AllocateRequest): Lease {
    const table = this.#existing(request.subnet)
    const held = this.lease(request.nic)
    if (held !== undefined && held.owner !== request.owner && request.shareOnConflict !== true) {
      throw new NicConflictError({ nic: request.nic, owner: request.owner, holder: held.owner })
    }
    const plan = table.plan(request, this.#random)
    if (held !== undefined && sameLease(held, plan.lease)) return held
    const lease = this.#writable(table).record(plan)
    if (held !== undefined && held.subnet !== lease.subnet) this.#release(held)
    else if (held !== undefined && held.owner !== lease.owner) this.#unlist(held)
    this.#list(lease)
    return lease
  }

  /** Releases what the NIC has, and answers what that was. */
  release(nic: string): Lease | undefined {
    const lease = this.lease(nic)
    if (lease !== undefined) this.#release(lease)
    return lease
  }

  /** Releases what all NICs of the owner have, in one subnet or in all. */
  releaseOwner(owner: string, subnet?: string): readonly Lease[] {
    const leases = this.leasesOf(owner).filter((lease) => subnet === undefined || lease.subnet === subnet)
    for (const lease of leases) this.#release(lease)
    return leases
  }

  lease(nic: string): Lease | undefined {
    const subnet = this.#subnetOfNic.get(nic)
    return subnet === undefined ? undefined : this.#subnets.get(subnet)?.lease(nic)
  }

  /** In no particular order; the subnet must not change while they are read. */
  leases(subnet: string): Iterable<Lease> {
    return this.#subnets.get(subnet)?.leases() ?? []
  }

  /** What the NICs of an owner have, in the order in which they were given it. */
  leasesOf(owner: string): readonly Lease[] {
    const nics = this.#nicsOfOwner.get(owner) ?? []
    return nics.map((nic) => this.lease(nic)).filter((lease) => lease !== undefined)
  }

  /** The owners of an address, more than one if it is shared. */
  holders(subnet: string, ip: Ip): readonly string[] {
    return ownersOf(this.#subnets.get(subnet)?.holders(ip) ?? [])
  }

  /** Counts by family. Reserved addresses are neither available nor in use, even if somebody asked for one. */
  statistics(subnet: string): Statistics {
    return this.#subnets.get(subnet)?.statistics() ?? nothing
  }

  /** Counts of a pool by family; without a name, of the addresses that are in no pool. */
  poolStatistics(subnet: string, pool: string): Statistics {
    return this.#subnets.get(subnet)?.poolStatistics(pool) ?? nothing
  }

  #existing(name: string): SubnetTable {
    const table = this.#subnets.get(name)
    if (table === undefined) throw new NoSubnetError({ subnet: name })
    return table
  }

  #writable(table: SubnetTable): SubnetTable {
    if (this.#unshared.has(table.name)) return table
    const copy = table.fork()
    this.#subnets.set(table.name, copy)
    this.#unshared.add(table.name)
    return copy
  }

  #release(lease: Lease): void {
    this.#writable(this.#existing(lease.subnet)).release(lease)
    this.#unlist(lease)
  }

  #list(lease: Lease): void {
    this.#subnetOfNic.set(lease.nic, lease.subnet)
    const nics = this.#nicsOfOwner.get(lease.owner) ?? []
    if (!nics.includes(lease.nic)) this.#nicsOfOwner.set(lease.owner, [...nics, lease.nic])
  }

  #unlist(lease: Lease): void {
    this.#subnetOfNic.delete(lease.nic)
    const nics = (this.#nicsOfOwner.get(lease.owner) ?? []).filter((nic) => nic !== lease.nic)
    if (nics.length > 0) this.#nicsOfOwner.set(lease.owner, nics)
    else this.#nicsOfOwner.delete(lease.owner)
  }
}

function sameLease(a: Lease, b: Lease): boolean {
  return a.subnet === b.subnet && a.owner === b.owner && a.v4 === b.v4 && a.v6 === b.v6 && a.mac === b.mac
}
