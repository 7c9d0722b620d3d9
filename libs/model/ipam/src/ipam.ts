import { parseMac, parseRangeSets, type Family, type Ip, type Mac } from '@kube-ovn/ip'
import { NicConflictError, NoSubnetError } from './errors.ts'
import { hashText } from './hash.ts'
import { HashIndex } from './hash-index.ts'
import { homeNicOf } from './home-nic.ts'
import { distinct } from './lease.ts'
import type {
  AddressState,
  AllocateRequest,
  Lease,
  PoolChange,
  Statistics,
  SubnetChange,
  SubnetSpec,
} from './lease.ts'
import { leaseOf, LeaseRows, rowOf, type LeaseRow } from './lease-rows.ts'
import { bitsOfMac } from './mac-bits.ts'
import { MacSource } from './mac-source.ts'
import { isSameOwner, isSameUid, type Owner } from './owner.ts'
import { defaultPool } from './pool.ts'
import { layOutSubnet } from './subnet-layout.ts'
import { remainder, SubnetTable } from './subnet-table.ts'
import { verifySubnet, type Violation } from './verify.ts'

const nothing: Statistics = { v4: undefined, v6: undefined }

/** How many entries without effect are told, as a list may have very many. */
const mostTold = 8

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
  readonly #macs: MacSource
  readonly #subnets = new Map<string, SubnetTable>()
  /** Marks the subnets that no fork shares; others are copied before they change. */
  #writer: object = {}
  #rows = new LeaseRows()
  #byNic = new HashIndex()
  /** Only of leases that are not found by how their NIC is called. */
  #byOwner = new HashIndex()

  /** @param random gives that many random bytes, a block at a time; used for MAC addresses only */
  constructor(random: ((bytes: number) => Uint8Array) | MacSource) {
    this.#macs = random instanceof MacSource ? random : new MacSource(random)
  }

  /**
   * An independent copy, for plans that may not come true.
   *
   * Cheap: what both have in common stays shared until one of them changes it.
   */
  fork(): Ipam {
    const twin = new Ipam(this.#macs)
    for (const [name, table] of this.#subnets) twin.#subnets.set(name, table)
    this.#writer = {}
    twin.#rows = this.#rows.fork()
    twin.#byNic = this.#byNic.fork()
    twin.#byOwner = this.#byOwner.fork()
    return twin
  }

  /**
   * Adds or changes a subnet. Without a difference nothing happens.
   *
   * In a family that changes, released addresses become free, and holders of addresses that the subnet no longer
   * has lose them: they are told in the answer.
   *
   * @throws CidrInvalidError and GatewayOutsideError
   */
  setSubnet(spec: SubnetSpec): SubnetChange {
    const layout = layOutSubnet(spec)
    const { ignoredExcludeIps } = layout
    const known = this.#subnets.get(spec.name)
    if (known === undefined) {
      this.#subnets.set(spec.name, SubnetTable.create(spec.name, this.#writer, layout))
      return { lost: [], ignoredExcludeIps }
    }
    if (known.hasLayout(layout)) return { lost: [], ignoredExcludeIps }
    known.checkLayout(layout)
    const table = this.#writable(known)
    const losers = table.losers(layout, this.#rows)
    const lost = losers.map((number) => this.#rows.lease(number))
    for (const number of losers) {
      const rest = remainder(number, layout, this.#rows)
      table.release(number, this.#rows)
      this.#unlist(number)
      if (rest !== undefined) table.take(this.#list(rest), this.#rows)
    }
    table.relay(layout, this.#rows)
    return { lost, ignoredExcludeIps }
  }

  /** Forgets a subnet with its pools and leases. */
  removeSubnet(name: string): void {
    const table = this.#subnets.get(name)
    if (table === undefined) return
    for (const number of [...this.#numbersIn(name)]) this.#unlist(number)
    this.#subnets.delete(name)
  }

  hasSubnet(name: string): boolean {
    return this.#subnets.has(name)
  }

  /** The families that ports of the subnet get addresses of: none, one or both. */
  families(subnet: string): readonly Family[] {
    return this.#subnets.get(subnet)?.families ?? []
  }

  /**
   * Keeps the MAC address of the subnet's router port from being handed out; without one, none is kept. Answers the one that was kept
   * for it before.
   *
   * @throws NoSubnetError and InvalidMacError
   */
  setGatewayMac(subnet: string, mac: string | undefined): Mac | undefined {
    const table = this.#existing(subnet)
    const parsed = mac === undefined ? undefined : parseMac(mac)
    const former = table.macs.gateway
    if (former !== parsed) this.#writable(table).setGatewayMac(parsed)
    return former
  }

  /**
   * Adds or changes a named part of a subnet, from which addresses are drawn only by name.
   *
   * @param ips `ip`, `ip..ip` or CIDR entries of either family
   * @throws NoSubnetError, PoolConflictError, InvalidIpError, InvalidIpRangeError and InvalidCidrError
   */
  setPool(subnet: string, pool: string, ips: readonly string[]): PoolChange {
    if (pool === defaultPool) throw new RangeError('a pool needs a name')
    const table = this.#existing(subnet)
    const members = parseRangeSets(ips, 'spec.ips')
    const change = this.strayEntries(subnet, pool, ips)
    if (table.hasPool(pool, members)) return change
    table.checkPool(pool, members)
    this.#writable(table).setPool(pool, members)
    return change
  }

  /**
   * What is wrong with entries of a pool, whether or not there is such a pool; nothing is changed.
   *
   * @throws NoSubnetError, InvalidIpError, InvalidIpRangeError and InvalidCidrError
   */
  strayEntries(subnet: string, pool: string, ips: readonly string[]): PoolChange {
    const table = this.#existing(subnet)
    const stray = ips.filter((ip) => !table.hasSome(parseRangeSets([ip])))
    return {
      outside: stray.slice(0, mostTold).map((ip) => table.strayEntry(pool, ip)),
      isUseless: ips.length > 0 && stray.length === ips.length,
    }
  }

  /** Gives the addresses of a pool back to the subnet; their holders keep them. */
  removePool(subnet: string, pool: string): void {
    const table = this.#subnets.get(subnet)
    if (table?.knowsPool(pool) === true) this.#writable(table).removePool(pool)
  }

  /** The subnet that has a pool of the name. */
  subnetOfPool(pool: string): string | undefined {
    for (const [subnet, table] of this.#subnets) if (table.knowsPool(pool)) return subnet
    return undefined
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
    const { table, held, heldHere, row } = this.#plan(request)
    const rows = this.#rows
    if (heldHere !== 0 && rows.says(heldHere, row)) return rows.lease(heldHere)
    const number = this.#list(row)
    this.#writable(table).record(number, row, heldHere, request, rows)
    if (held !== 0) {
      if (heldHere === 0) this.#writable(this.#existing(rows.subnet(held))).release(held, rows)
      this.#unlist(held)
    }
    return rows.lease(number)
  }

  /**
   * What {@link allocate} would answer; nothing is changed. A MAC address that is made up is another one each time.
   *
   * @throws what it throws
   */
  plan(request: AllocateRequest): Lease {
    const { heldHere, row } = this.#plan(request)
    return heldHere !== 0 && this.#rows.says(heldHere, row) ? this.#rows.lease(heldHere) : leaseOf(row)
  }

  /**
   * Gives a NIC again exactly what it had, as if what happened to it since had not: addresses that it was given meanwhile are not released, but
   * free as they were.
   *
   * @param before its lease at that time, in a subnet that has not changed since
   */
  putBack(nic: string, before: Lease | undefined): void {
    const number = this.#find(nic, hashText(nic))
    const rows = this.#rows
    if (number !== 0) {
      this.#writable(this.#existing(rows.subnet(number))).release(number, rows, 'free')
      this.#unlist(number)
    }
    if (before !== undefined)
      this.#writable(this.#existing(before.subnet)).take(this.#list(rowOf(before)), rows)
  }

  /**
   * Releases what the NIC has, and answers what that was: nothing, if the NIC is another owner's by now.
   *
   * @param uid of the object that is gone; without it, all objects of the owner's name are
   */
  release(nic: string, owner: Owner, uid?: string): Lease | undefined {
    const number = this.#find(nic, hashText(nic))
    if (number === 0 || !isSameOwner(this.#rows.owner(number), owner)) return undefined
    return isSameUid(this.#rows.uid(number), uid) ? this.#release(number) : undefined
  }

  /** Releases what all NICs of the owner have, in one subnet or in all. */
  releaseOwner(owner: Owner, subnet?: string): readonly Lease[] {
    return this.#numbersOf(owner)
      .filter((number) => subnet === undefined || this.#rows.subnet(number) === subnet)
      .map((number) => this.#release(number))
  }

  lease(nic: string): Lease | undefined {
    const number = this.#find(nic, hashText(nic))
    return number === 0 ? undefined : this.#rows.lease(number)
  }

  /** Those of one subnet or of all, in no particular order; nothing must change while they are read. */
  *leases(subnet?: string): Generator<Lease, void, undefined> {
    for (const number of this.#numbersIn(subnet)) yield this.#rows.lease(number)
  }

  /** How many leases there are, in all subnets. */
  get size(): number {
    return this.#rows.size
  }

  /** What the NICs of an owner have, in no particular order. */
  leasesOf(owner: Owner): readonly Lease[] {
    return this.#numbersOf(owner).map((number) => this.#rows.lease(number))
  }

  /** The owners of an address, more than one if it is shared. */
  holders(subnet: string, ip: Ip): readonly Owner[] {
    return this.#ownersOf(this.#subnets.get(subnet)?.holders(ip, this.#rows))
  }

  /** The owners of a MAC address in a subnet, more than one if it is shared. */
  macHolders(subnet: string, mac: Mac): readonly Owner[] {
    return this.#ownersOf(this.#subnets.get(subnet)?.macs.holders(bitsOfMac(mac), this.#rows))
  }

  /** The MAC address of the subnet's router port, which no NIC is given. */
  gatewayMac(subnet: string): Mac | undefined {
    return this.#subnets.get(subnet)?.macs.gateway
  }

  /** What an address is in a subnet; outside of one that is not known. */
  stateOf(subnet: string, ip: Ip): AddressState {
    return this.#subnets.get(subnet)?.stateOf(ip, this.#rows) ?? 'outside'
  }

  /** Counts by family. Reserved addresses are neither available nor in use, even if somebody asked for one. */
  statistics(subnet: string): Statistics {
    return this.#subnets.get(subnet)?.statistics() ?? nothing
  }

  /** Counts of a pool by family; without a name, of the addresses that are in no pool. */
  poolStatistics(subnet: string, pool: string): Statistics {
    return this.#subnets.get(subnet)?.poolStatistics(pool) ?? nothing
  }

  /**
   * Whether an address of each family of the subnet, or of the one named, could be drawn.
   *
   * @param pool the IPPool to draw from; without it, what is in no IPPool
   */
  hasRoom(subnet: string, pool = defaultPool, family?: Family): boolean {
    return this.#subnets.get(subnet)?.hasRoom(pool, family) ?? false
  }

  /** Checks every promise that the state as a whole makes, by counting everything anew. Finds nothing. */
  verify(): readonly Violation[] {
    const rows = this.#rows
    const bySubnet = Map.groupBy(rows.numbers(), (number) => rows.subnet(number))
    const found = [...this.#subnets.values()].flatMap((table) => {
      return drained(verifySubnet(table, bySubnet.get(table.name) ?? [], rows))
    })
    for (const number of rows.numbers()) {
      const { subnet, nic, owner } = rows.lease(number)
      if (!this.#subnets.has(subnet))
        found.push({ rule: 'inside', subnet, subject: nic, text: 'no such subnet' })
      if (!this.#numbersOf(owner).includes(number))
        found.push({ rule: 'indexed', subnet, subject: nic, text: `not known to be ${owner}'s` })
    }
    const homeless = [...rows.numbers()].filter((number) => !rows.isHome(number)).length
    const counts = { 'by NIC': [this.#byNic.size, rows.size], 'by owner': [this.#byOwner.size, homeless] }
    for (const [name, [size, expected]] of Object.entries(counts)) {
      const text = `${size} leases ${name} instead of ${expected}`
      if (size !== expected) found.push({ rule: 'indexed', subnet: '', subject: '', text })
    }
    return found
  }

  /**
   * Checks the promises about one subnet in steps of some microseconds; a few take a millisecond for each 1,000 leases.
   *
   * Nothing may change between them: do it on a fork.
   */
  *verifySteps(subnet: string): Generator<void, readonly Violation[], undefined> {
    const table = this.#subnets.get(subnet)
    if (table === undefined) return []
    const numbers = [...table.numbers()]
    const found = [...(yield* verifySubnet(table, numbers, this.#rows))]
    for (const number of numbers) {
      yield
      const nic = this.#rows.nic(number)
      if (this.#find(nic, hashText(nic)) !== number)
        found.push({ rule: 'indexed', subnet, subject: nic, text: 'not known to be what the NIC has' })
    }
    return found
  }

  #plan(request: AllocateRequest): {
    readonly table: SubnetTable
    readonly row: LeaseRow
    /** The lease that the NIC has, and that which it has in this subnet; 0 for none. */
    readonly held: number
    readonly heldHere: number
  } {
    const table = this.#existing(request.subnet)
    const rows = this.#rows
    const nicHash = hashText(request.nic)
    const held = this.#find(request.nic, nicHash)
    if (held !== 0 && request.shareOnConflict !== true && !isSameOwner(rows.owner(held), request.owner)) {
      throw new NicConflictError({ nic: request.nic, owner: request.owner, holder: rows.owner(held) })
    }
    const heldHere = held !== 0 && rows.subnet(held) === table.name ? held : 0
    return { table, held, heldHere, row: table.plan(request, nicHash, heldHere, rows, this.#macs) }
  }

  #existing(name: string): SubnetTable {
    const table = this.#subnets.get(name)
    if (table === undefined) throw new NoSubnetError({ subnet: name })
    return table
  }

  #writable(table: SubnetTable): SubnetTable {
    if (table.writer === this.#writer) return table
    const copy = table.fork(this.#writer)
    this.#subnets.set(table.name, copy)
    return copy
  }

  /** The lease of a NIC whose name hashes to that; 0 when it has none. */
  #find(nic: string, hash: number): number {
    let number = this.#byNic.first(hash)
    while (number !== 0 && this.#rows.nic(number) !== nic) number = this.#byNic.next(hash, number)
    return number
  }

  #numbersOf(owner: Owner): readonly number[] {
    const others = this.#byOwner.size === 0 ? [] : this.#byOwner.all(hashText(owner))
    const home = homeNicOf(owner)
    return [this.#find(home, hashText(home)), ...others].filter((number) => {
      return number !== 0 && this.#rows.owner(number) === owner
    })
  }

  *#numbersIn(subnet: string | undefined): Generator<number, void, undefined> {
    for (const number of this.#rows.numbers()) {
      if (subnet === undefined || this.#rows.subnet(number) === subnet) yield number
    }
  }

  #ownersOf(numbers: readonly number[] = []): readonly Owner[] {
    return distinct(numbers.map((number) => this.#rows.owner(number)))
  }

  #release(number: number): Lease {
    const lease = this.#rows.lease(number)
    this.#writable(this.#existing(lease.subnet)).release(number, this.#rows)
    this.#unlist(number)
    return lease
  }

  #list(row: LeaseRow): number {
    const number = this.#rows.add(row)
    this.#byNic.add(row.nicHash, number)
    if (!row.isHome) this.#byOwner.add(hashText(row.owner), number)
    return number
  }

  #unlist(number: number): void {
    this.#byNic.remove(this.#rows.nicHash(number), number)
    if (!this.#rows.isHome(number)) this.#byOwner.remove(hashText(this.#rows.owner(number)), number)
    this.#rows.remove(number)
  }
}

/** What there is to see of it; whoever only looks can change nothing. */
export type IpamView = Omit<
  Ipam,
  | 'setSubnet'
  | 'removeSubnet'
  | 'setGatewayMac'
  | 'setPool'
  | 'removePool'
  | 'allocate'
  | 'putBack'
  | 'release'
  | 'releaseOwner'
>

function drained<R>(steps: Generator<void, R, undefined>): R {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
