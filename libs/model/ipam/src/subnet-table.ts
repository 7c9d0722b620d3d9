import {
  isIpv4,
  isIpv6,
  type Family,
  type Ip,
  type Ipv4,
  type Ipv6,
  type Mac,
  type RangeSets,
} from '@kube-ovn/ip'
import { AddressTable, defaultPool, type Holder } from './address-table.ts'
import { CidrInvalidError, InvalidIpFamilyError, PoolConflictError } from './errors.ts'
import { sameLayout, type FamilyLayout } from './family-layout.ts'
import { ForkableMap } from './forkable-map.ts'
import type { AllocateRequest, Lease, Statistics } from './lease.ts'
import { MacTable } from './mac-table.ts'
import type { SubnetLayout } from './subnet-layout.ts'

const nothingToSkip: ReadonlySet<Ip> = new Set()

/** A lease with a MAC address that was parsed here. */
interface SubnetLease extends Lease {
  readonly mac: Mac | undefined
}

/** A lease that was found possible. */
export interface LeasePlan {
  readonly lease: SubnetLease
  /** Which addresses are drawn from the pool, as opposed to asked for or held before. */
  readonly draws: { readonly v4: boolean; readonly v6: boolean }
  readonly pool: string
}

/** All that is held in one subnet. Planning throws and changes nothing; recording changes and does not throw. */
export class SubnetTable {
  readonly name: string
  #v4: AddressTable<Ipv4> | undefined
  #v6: AddressTable<Ipv6> | undefined
  #macs: MacTable
  readonly #leases: ForkableMap<string, SubnetLease>
  readonly #pools: Map<string, RangeSets>

  private constructor(
    name: string,
    v4: AddressTable<Ipv4> | undefined,
    v6: AddressTable<Ipv6> | undefined,
    macs: MacTable,
    leases: ForkableMap<string, SubnetLease>,
    pools: Map<string, RangeSets>,
  ) {
    this.name = name
    this.#v4 = v4
    this.#v6 = v6
    this.#macs = macs
    this.#leases = leases
    this.#pools = pools
  }

  static create(name: string, layout: SubnetLayout): SubnetTable {
    const v4 = layout.v4 && AddressTable.create(name, layout.v4, [])
    const v6 = layout.v6 && AddressTable.create(name, layout.v6, [])
    return new SubnetTable(name, v4, v6, new MacTable(name), new ForkableMap(), new Map())
  }

  fork(): SubnetTable {
    return new SubnetTable(
      this.name,
      this.#v4?.fork(),
      this.#v6?.fork(),
      this.#macs.fork(),
      this.#leases.fork(),
      new Map(this.#pools),
    )
  }

  lease(nic: string): SubnetLease | undefined {
    return this.#leases.get(nic)
  }

  leases(): Iterable<Lease> {
    return this.#leases.values()
  }

  holders(ip: Ip): readonly Holder[] {
    return (isIpv4(ip) ? this.#v4?.holders(ip) : this.#v6?.holders(ip)) ?? []
  }

  statistics(): Statistics {
    return { v4: this.#v4?.statistics(), v6: this.#v6?.statistics() }
  }

  poolStatistics(pool: string): Statistics {
    return { v4: this.#v4?.poolStatistics(pool), v6: this.#v6?.poolStatistics(pool) }
  }

  get gatewayMac(): Mac | undefined {
    return this.#macs.gateway
  }

  setGatewayMac(mac: Mac): void {
    this.#macs = this.#macs.withGateway(mac)
  }

  /** Whether {@link relay} with this layout would change nothing. */
  hasLayout(layout: SubnetLayout): boolean {
    return agrees(this.#v4, layout.v4) && agrees(this.#v6, layout.v6)
  }

  /** Refuses to take all addresses away from a subnet that has some. @throws CidrInvalidError */
  checkLayout(layout: SubnetLayout): void {
    if (layout.v4 !== undefined || layout.v6 !== undefined) return
    const had = this.#v4?.layout.cidr ?? this.#v6?.layout.cidr
    if (had === undefined) return
    const cure = `keep the CIDR ${had}, or delete the subnet`
    throw new CidrInvalidError({ subnet: this.name, field: 'cidrs', value: '', cure })
  }

  /** Moves to another layout; families that stay the same keep their order of hand-out. */
  relay(layout: SubnetLayout): { readonly before: SubnetLease; readonly after: SubnetLease | undefined }[] {
    this.#v4 = this.#relaid(this.#v4, layout.v4, (pool) => pool.v4)
    this.#v6 = this.#relaid(this.#v6, layout.v6, (pool) => pool.v6)
    const lost = [...this.#leases.values()].filter((lease) => {
      return this.#stillHolds(lease) !== lease
    })
    return lost.map((before) => {
      const kept = this.#stillHolds(before)
      const after = kept.v4 === undefined && kept.v6 === undefined ? undefined : kept
      if (after === undefined) this.#forget(before)
      else this.#leases.set(after.nic, after)
      return { before, after }
    })
  }

  #relaid<A extends Ipv4 | Ipv6>(
    table: AddressTable<A> | undefined,
    layout: FamilyLayout<A> | undefined,
    members: (pool: RangeSets) => Parameters<AddressTable<A>['addPool']>[1],
  ): AddressTable<A> | undefined {
    if (layout === undefined) return undefined
    if (table !== undefined) return sameLayout(table.layout, layout) ? table : table.relaid(layout)
    return AddressTable.create(
      this.name,
      layout,
      [...this.#pools].map(([name, pool]) => [name, members(pool)]),
    )
  }

  /** The lease without the addresses that the tables have lost; itself when they have all. */
  #stillHolds(lease: SubnetLease): SubnetLease {
    const has = (holders: readonly Holder[] | undefined) =>
      holders?.some(({ nic }) => nic === lease.nic) === true
    const v4 = lease.v4 !== undefined && has(this.#v4?.holders(lease.v4)) ? lease.v4 : undefined
    const v6 = lease.v6 !== undefined && has(this.#v6?.holders(lease.v6)) ? lease.v6 : undefined
    return v4 === lease.v4 && v6 === lease.v6 ? lease : { ...lease, v4, v6 }
  }

  #forget(lease: SubnetLease): void {
    if (lease.mac !== undefined) this.#macs.drop(lease.mac, lease.nic)
    this.#leases.delete(lease.nic)
  }

  /** Whether {@link setPool} with these members would change nothing. */
  hasPool(name: string, members: RangeSets): boolean {
    const pool = this.#pools.get(name)
    return pool !== undefined && pool.v4.equals(members.v4) && pool.v6.equals(members.v6)
  }

  knowsPool(name: string): boolean {
    return this.#pools.has(name)
  }

  /** Refuses addresses that another named pool has. @throws PoolConflictError */
  checkPool(name: string, members: RangeSets): void {
    for (const [sibling, theirs] of this.#pools) {
      if (sibling === name) continue
      const shared = [theirs.v4.intersect(members.v4), theirs.v6.intersect(members.v6)]
      const addresses = shared.map(String).filter((text) => text !== '')
      if (addresses.length === 0) continue
      throw new PoolConflictError({ subnet: this.name, pool: name, sibling, addresses: addresses.join(',') })
    }
  }

  setPool(name: string, members: RangeSets): void {
    this.removePool(name)
    this.#pools.set(name, members)
    this.#v4?.addPool(name, members.v4)
    this.#v6?.addPool(name, members.v6)
  }

  removePool(name: string): void {
    this.#pools.delete(name)
    this.#v4?.removePool(name)
    this.#v6?.removePool(name)
  }

  /** Decides what the NIC gets. Throws when the request can not be met; changes nothing. */
  plan(request: AllocateRequest, random: (bytes: number) => Uint8Array): LeasePlan {
    const { nic, owner } = request
    const held = this.#leases.get(nic)
    const wanted = this.#wantedFamilies(request)
    const fixed = request.static
    const fixed4 = fixed?.v4 !== undefined && isIpv4(fixed.v4) ? fixed.v4 : undefined
    const fixed6 = fixed?.v6 !== undefined && isIpv6(fixed.v6) ? fixed.v6 : undefined
    // Both static addresses are checked before anything is drawn, so that the error is about what the user asked for.
    checkFixed(this.#v4, fixed4, held?.v4, request)
    checkFixed(this.#v6, fixed6, held?.v6, request)
    const v4 = wanted.v4 ? choose(this.#v4, fixed4, held?.v4, request) : held?.v4
    const v6 = wanted.v6 ? choose(this.#v6, fixed6, held?.v6, request) : held?.v6
    const mac = this.#chooseMac(request, held, random)
    return {
      lease: { nic, owner, subnet: this.name, v4, v6, mac },
      draws: { v4: fixed4 === undefined && v4 !== held?.v4, v6: fixed6 === undefined && v6 !== held?.v6 },
      pool: request.pool ?? defaultPool,
    }
  }

  /** Which families to see to. @throws InvalidIpFamilyError when the subnet does not have what is asked for. */
  #wantedFamilies(request: AllocateRequest): { readonly v4: boolean; readonly v6: boolean } {
    const offered: Family[] = []
    if (this.#v4 !== undefined) offered.push(4)
    if (this.#v6 !== undefined) offered.push(6)
    const refuse = (requested: Family) => new InvalidIpFamilyError({ subnet: this.name, requested, offered })
    const { family } = request
    // A subnet without addresses gives a MAC address whatever family is wished for.
    if (family !== undefined && offered.length > 0 && !offered.includes(family)) throw refuse(family)
    for (const requested of staticFamilies(request)) {
      if (!offered.includes(requested)) throw refuse(requested)
      if (family !== undefined && family !== requested) throw refuse(requested)
    }
    return {
      v4: this.#v4 !== undefined && family !== 6,
      v6: this.#v6 !== undefined && family !== 4,
    }
  }

  #chooseMac(
    request: AllocateRequest,
    held: SubnetLease | undefined,
    random: (bytes: number) => Uint8Array,
  ): Mac | undefined {
    if (request.mac === false) return undefined
    if (request.mac === undefined) return held?.mac ?? this.#macs.choose(random)
    return this.#macs.check(request.mac, request.owner, request.shareOnConflict ?? false, held?.mac)
  }

  /** Records a planned lease, taking the new addresses before the old ones are released. */
  record(plan: LeasePlan): Lease {
    const { lease, draws, pool } = plan
    const held = this.#leases.get(lease.nic)
    if (draws.v4) this.#v4?.recycle(pool)
    if (draws.v6) this.#v6?.recycle(pool)
    const isNewOwner = held?.owner !== lease.owner
    exchange(this.#v4, held?.v4, lease.v4, lease, isNewOwner)
    exchange(this.#v6, held?.v6, lease.v6, lease, isNewOwner)
    if (lease.mac !== undefined) this.#macs.take(lease.mac, lease)
    if (held?.mac !== undefined && held.mac !== lease.mac) this.#macs.drop(held.mac, lease.nic)
    this.#leases.set(lease.nic, lease)
    return lease
  }

  release(lease: Lease): void {
    const held = this.#leases.get(lease.nic)
    if (held === undefined) return
    if (held.v4 !== undefined) this.#v4?.drop(held.v4, held.nic)
    if (held.v6 !== undefined) this.#v6?.drop(held.v6, held.nic)
    this.#forget(held)
  }
}

function agrees<A extends Ip>(
  table: AddressTable<A> | undefined,
  layout: FamilyLayout<A> | undefined,
): boolean {
  if (table === undefined || layout === undefined) return table === undefined && layout === undefined
  return sameLayout(table.layout, layout)
}

/** The families of the static addresses, by what they are and not by where they stand. */
function staticFamilies(request: AllocateRequest): readonly Family[] {
  const families: Family[] = []
  if (request.static?.v4 !== undefined) families.push(isIpv4(request.static.v4) ? 4 : 6)
  if (request.static?.v6 !== undefined) families.push(isIpv6(request.static.v6) ? 6 : 4)
  return families
}

function checkFixed<A extends Ip>(
  table: AddressTable<A> | undefined,
  fixed: A | undefined,
  held: A | undefined,
  request: AllocateRequest,
): void {
  if (fixed === undefined || fixed === held) return
  table?.checkStatic(fixed, request.owner, request.shareOnConflict ?? false)
}

function choose<A extends Ip>(
  table: AddressTable<A> | undefined,
  fixed: A | undefined,
  held: A | undefined,
  request: AllocateRequest,
): A | undefined {
  if (fixed !== undefined) return fixed
  const skip = request.skip ?? nothingToSkip
  if (held !== undefined && !skip.has(held)) return held
  return table?.choose(request.pool ?? defaultPool, skip)
}

function exchange<A extends Ip>(
  table: AddressTable<A> | undefined,
  old: A | undefined,
  next: A | undefined,
  lease: Lease,
  isNewOwner: boolean,
): void {
  if (next !== undefined && (next !== old || isNewOwner))
    table?.take(next, { nic: lease.nic, owner: lease.owner })
  if (old !== undefined && old !== next) table?.drop(old, lease.nic)
}
