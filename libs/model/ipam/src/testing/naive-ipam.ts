import { compareIps, type Family, type Ip, type Ipv4, type Ipv6 } from '@kube-ovn/ip'
import type { Owner } from '../owner.ts'

/**
 * The rules of address allocation, written down in the simplest way: plain sets, full scans, no sharing of code
 * with what is tested. Addresses are offsets into one block per family.
 */
export interface NaiveState {
  readonly subnets: Map<string, NaiveSubnet>
  readonly leases: Map<string, NaiveLease>
}

export interface NaiveSubnet {
  readonly families: Map<Family, NaiveFamily>
  readonly pools: Map<string, ReadonlySet<Ip>>
  gatewayMac: string | undefined
}

interface NaiveFamily {
  readonly block: readonly Ip[]
  readonly usable: readonly Ip[]
  readonly gateway: Ip
  readonly reserved: ReadonlySet<Ip>
  readonly order: Map<string, NaiveOrder>
}

interface NaiveOrder {
  members: Set<Ip>
  free: Set<Ip>
  released: Set<Ip>
}

export interface NaiveLease {
  readonly nic: string
  readonly owner: string
  readonly uid: string | undefined
  readonly subnet: string
  readonly v4: Ip | undefined
  readonly v6: Ip | undefined
  readonly mac: string | undefined
  readonly isShared: true | undefined
}

/** Sizes are prefix lengths; the gateway is the second address of each block. */
export interface NaiveSpec {
  readonly name: string
  readonly sizes: ReadonlyMap<Family, number>
  readonly excluded: readonly { readonly first: number; readonly last: number }[]
}

export interface NaiveRequest {
  readonly subnet: string
  readonly nic: string
  readonly owner: Owner
  readonly uid: string | undefined
  readonly pool: string | undefined
  readonly static: readonly Ip[]
  readonly family: Family | undefined
  /** Canonical; `false` for none, `undefined` for the made up one that the caller tells. */
  readonly mac: string | false | undefined
  readonly skip: ReadonlySet<Ip>
  readonly share: boolean
}

/** Refuses a request with the code of the error that is expected. */
export class NaiveRefusal extends Error {}

export function at(family: Family, offset: number): Ip {
  return family === 4 ? ((0x0a00_0000 + offset) as Ipv4) : (((0xfd00n << 112n) + BigInt(offset)) as Ipv6)
}

/** All pods of one name are one, whatever kind of pod; all else is told by its kind, too. */
function sameOwner(a: string, b: string): boolean {
  return a.replace('statefulset-pod/', 'pod/') === b.replace('statefulset-pod/', 'pod/')
}

function held(lease: NaiveLease, family: Family): Ip | undefined {
  return family === 4 ? lease.v4 : lease.v6
}

export function holdersOf(state: NaiveState, subnet: string, ip: Ip): readonly NaiveLease[] {
  return [...state.leases.values()].filter((lease) => {
    return lease.subnet === subnet && (lease.v4 === ip || lease.v6 === ip)
  })
}

/** Answers the NICs that lost an address. */
export function setSubnet(state: NaiveState, spec: NaiveSpec): readonly string[] {
  const known = state.subnets.get(spec.name)
  if (known === undefined) {
    const subnet: NaiveSubnet = { families: new Map(), pools: new Map(), gatewayMac: undefined }
    state.subnets.set(spec.name, subnet)
    for (const family of spec.sizes.keys()) subnet.families.set(family, layOut(state, spec, family, subnet))
    return []
  }
  if (spec.sizes.size === 0 && known.families.size > 0) throw new NaiveRefusal('ipam-cidr-invalid')
  const lost: string[] = []
  for (const family of [4, 6] as const) {
    const old = known.families.get(family)
    const next = spec.sizes.has(family) ? layOut(state, spec, family, known) : undefined
    if (old !== undefined && next !== undefined && sameOffer(old, next)) continue
    for (const lease of state.leases.values()) {
      const ip = held(lease, family)
      if (lease.subnet !== spec.name || ip === undefined || next?.usable.includes(ip) === true) continue
      lost.push(lease.nic)
      const rest: NaiveLease = { ...lease, [family === 4 ? 'v4' : 'v6']: undefined }
      state.leases.set(lease.nic, rest)
    }
    if (next === undefined) known.families.delete(family)
    else known.families.set(family, next)
  }
  for (const nic of lost) {
    const lease = state.leases.get(nic)
    if (lease !== undefined && lease.v4 === undefined && lease.v6 === undefined) state.leases.delete(nic)
  }
  return [...new Set(lost)]
}

function sameOffer(a: NaiveFamily, b: NaiveFamily): boolean {
  return a.block.length === b.block.length && sorted(a.reserved).join() === sorted(b.reserved).join()
}

function layOut(state: NaiveState, spec: NaiveSpec, family: Family, subnet: NaiveSubnet): NaiveFamily {
  const length = 2 ** ((family === 4 ? 32 : 128) - (spec.sizes.get(family) ?? 0))
  const block = Array.from({ length }, (_, offset) => at(family, offset))
  const usable = block.slice(1, -1)
  const gateway = at(family, 1)
  const excluded = block.filter((_, offset) =>
    spec.excluded.some(({ first, last }) => first <= offset && offset <= last),
  )
  const reserved = new Set([gateway, ...excluded].filter((ip) => usable.includes(ip)))
  const laid: NaiveFamily = { block, usable, gateway, reserved, order: new Map() }
  for (const [name, members] of subnet.pools) freshOrder(state, spec.name, laid, name, members)
  freshDefault(state, spec.name, laid)
  return laid
}

function freshOrder(
  state: NaiveState,
  subnet: string,
  family: NaiveFamily,
  pool: string,
  members: ReadonlySet<Ip>,
): void {
  const free = family.usable.filter((ip) => {
    return members.has(ip) && !family.reserved.has(ip) && holdersOf(state, subnet, ip).length === 0
  })
  family.order.set(pool, { members: new Set(members), free: new Set(free), released: new Set() })
}

function freshDefault(state: NaiveState, subnet: string, family: NaiveFamily): void {
  family.order.delete('')
  const named = [...family.order.values()].flatMap((order) => [...order.members])
  freshOrder(state, subnet, family, '', new Set(family.usable.filter((ip) => !named.includes(ip))))
}

export function setPool(state: NaiveState, subnetName: string, pool: string, members: ReadonlySet<Ip>): void {
  const subnet = existing(state, subnetName)
  const known = subnet.pools.get(pool)
  if (known !== undefined && sorted(known).join() === sorted(members).join()) return
  for (const [sibling, theirs] of subnet.pools) {
    if (sibling !== pool && [...members].some((ip) => theirs.has(ip)))
      throw new NaiveRefusal('ipam-pool-conflict')
  }
  removePool(state, subnetName, pool)
  subnet.pools.set(pool, members)
  for (const family of subnet.families.values()) {
    freshOrder(state, subnetName, family, pool, members)
    freshDefault(state, subnetName, family)
  }
}

export function removePool(state: NaiveState, subnetName: string, pool: string): void {
  const subnet = state.subnets.get(subnetName)
  if (subnet?.pools.delete(pool) !== true) return
  for (const family of subnet.families.values()) {
    const order = family.order.get(pool)
    const rest = family.order.get('')
    if (order === undefined || rest === undefined) continue
    family.order.delete(pool)
    for (const ip of order.members) if (family.usable.includes(ip)) rest.members.add(ip)
    for (const ip of order.free) rest.free.add(ip)
    for (const ip of order.released) rest.released.add(ip)
  }
}

export function existing(state: NaiveState, name: string): NaiveSubnet {
  const subnet = state.subnets.get(name)
  if (subnet === undefined) throw new NaiveRefusal('ipam-no-subnet')
  return subnet
}

/** Decides everything before it changes anything. */
export function allocate(
  state: NaiveState,
  request: NaiveRequest,
  madeUpMac: string | undefined,
): NaiveLease {
  const subnet = existing(state, request.subnet)
  const previous = state.leases.get(request.nic)
  if (previous !== undefined && !sameOwner(previous.owner, request.owner) && !request.share) {
    throw new NaiveRefusal('ipam-nic-conflict')
  }
  const before = previous?.subnet === request.subnet ? previous : undefined
  const { family } = request
  if (family !== undefined && subnet.families.size > 0 && !subnet.families.has(family)) {
    throw new NaiveRefusal('ipam-invalid-ip-family')
  }
  for (const ip of request.static) {
    const its = typeof ip === 'number' ? 4 : 6
    if (!subnet.families.has(its) || (family !== undefined && family !== its)) {
      throw new NaiveRefusal('ipam-invalid-ip-family')
    }
  }
  const wanted = [...subnet.families.keys()]
    .sort((a, b) => a - b)
    .filter((its) => family === undefined || family === its)
  for (const its of wanted) checkStatic(state, subnet, request, its, before)
  const chosen = new Map<Family, Ip | undefined>()
  for (const its of [4, 6] as const) {
    const current = before === undefined ? undefined : held(before, its)
    const rest = current !== undefined && request.skip.has(current) ? undefined : current
    chosen.set(its, wanted.includes(its) ? choose(subnet, request, its, current) : rest)
  }
  const mac = chooseMac(state, subnet, request, before, madeUpMac)
  const { nic, owner } = request
  const [v4, v6] = [chosen.get(4), chosen.get(6)]
  const keeps = [[v4, before?.v4] as const, [v6, before?.v6] as const, [mac, before?.mac] as const].some(
    ([now, then]) => now !== undefined && now === then,
  )
  const isShared = request.share || (before?.isShared === true && keeps) ? true : undefined
  const uid = request.uid ?? (before?.owner === owner ? before.uid : undefined)
  const lease = { nic, owner, uid, subnet: request.subnet, v4, v6, mac, isShared } as const
  if (previous !== undefined) state.leases.delete(nic)
  for (const [its, ip] of chosen) {
    if (ip === undefined || ip === (before && held(before, its))) continue
    const drawn = subnet.families.get(its)?.order.get(request.pool ?? '')
    if (drawn?.free.size === 0 && fixedOf(request, its) === undefined) {
      drawn.free = drawn.released
      drawn.released = new Set()
    }
    for (const order of subnet.families.get(its)?.order.values() ?? []) {
      order.free.delete(ip)
      order.released.delete(ip)
    }
  }
  state.leases.set(nic, lease)
  if (previous !== undefined) giveBack(state, previous)
  return lease
}

function checkStatic(
  state: NaiveState,
  subnet: NaiveSubnet,
  request: NaiveRequest,
  family: Family,
  before: NaiveLease | undefined,
): void {
  const ip = fixedOf(request, family)
  const offer = subnet.families.get(family)
  if (ip === undefined || offer === undefined || (before !== undefined && held(before, family) === ip)) return
  const isMember = [...offer.order.values()].some((order) => order.members.has(ip))
  if (!offer.block.includes(ip) || !isMember) throw new NaiveRefusal('ipam-address-out-of-range')
  if (ip === offer.gateway && !request.share) throw new NaiveRefusal('ipam-address-conflict')
  const holders = holdersOf(state, request.subnet, ip)
  if (holders.some((lease) => !sameOwner(lease.owner, request.owner)) && !request.share) {
    throw new NaiveRefusal('ipam-address-conflict')
  }
  if (!offer.usable.includes(ip)) throw new NaiveRefusal('ipam-address-out-of-range')
}

function choose(subnet: NaiveSubnet, request: NaiveRequest, family: Family, current: Ip | undefined): Ip {
  const fixed = fixedOf(request, family)
  if (fixed !== undefined) return fixed
  if (current !== undefined && !request.skip.has(current)) return current
  const order = subnet.families.get(family)?.order.get(request.pool ?? '')
  if (order === undefined || order.free.size + order.released.size === 0) {
    throw new NaiveRefusal('ipam-no-available-address')
  }
  for (const set of [order.free, order.released]) {
    const ip = sorted(set).find((candidate) => !request.skip.has(candidate))
    if (ip !== undefined) return ip
  }
  throw new NaiveRefusal('ipam-address-conflict')
}

function fixedOf(request: NaiveRequest, family: Family): Ip | undefined {
  return request.static.find((ip) => (typeof ip === 'number' ? 4 : 6) === family)
}

function chooseMac(
  state: NaiveState,
  subnet: NaiveSubnet,
  request: NaiveRequest,
  before: NaiveLease | undefined,
  madeUpMac: string | undefined,
): string | undefined {
  const { mac } = request
  if (mac === false) return undefined
  const others = [...state.leases.values()].filter((lease) => lease.subnet === request.subnet)
  if (mac === undefined) {
    if (before?.mac !== undefined) return before.mac
    const isTaken = madeUpMac === subnet.gatewayMac || others.some((lease) => lease.mac === madeUpMac)
    if (madeUpMac === undefined || isTaken) throw new NaiveRefusal('a made up MAC address that nobody has')
    return madeUpMac
  }
  if (request.share || mac === before?.mac) return mac
  const isHeld = others.some((lease) => lease.mac === mac && !sameOwner(lease.owner, request.owner))
  if (mac === subnet.gatewayMac || isHeld) throw new NaiveRefusal('ipam-mac-conflict')
  return mac
}

export function release(
  state: NaiveState,
  nic: string,
  owner: string,
  uid: string | undefined,
): NaiveLease | undefined {
  const lease = state.leases.get(nic)
  if (lease === undefined || !sameOwner(lease.owner, owner)) return undefined
  if (uid !== undefined && lease.uid !== undefined && uid !== lease.uid) return undefined
  state.leases.delete(nic)
  giveBack(state, lease)
  return lease
}

/** Puts the addresses of a lease that is gone behind the free ones, unless somebody has them still. */
function giveBack(state: NaiveState, lease: NaiveLease): void {
  for (const [its, family] of state.subnets.get(lease.subnet)?.families ?? []) {
    const ip = held(lease, its)
    if (ip === undefined || family.reserved.has(ip) || holdersOf(state, lease.subnet, ip).length > 0) continue
    for (const order of family.order.values()) if (order.members.has(ip)) order.released.add(ip)
  }
}

function sorted(ips: ReadonlySet<Ip>): readonly Ip[] {
  return [...ips].sort(compareIps)
}
