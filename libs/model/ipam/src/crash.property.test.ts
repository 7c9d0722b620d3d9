import { cidrOf, type Cidr, type Family, type Ip } from '@kube-ovn/ip'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { counterexample } from './testing/counterexample.ts'
import { auditRecords, Ipam, isSameOwner, restoreRecords, type AddressRecord, type Lease } from './index.ts'
import { at } from './testing/naive-ipam.ts'
import { diceOf } from './testing/story.ts'

// A cluster with one subnet, in which a controller gives addresses to pods: it writes an IP object, a row of the
// Northbound and an annotation, one after the other, and may be killed before each of them.

/** What a user says; the controller only reads it. */
interface Pod {
  readonly name: string
  readonly uid: string
  /** A member of a StatefulSet, whose addresses stay when it is deleted. */
  readonly isMember: boolean
  readonly static: Ip | undefined
  readonly pool: string | undefined
}

interface Cluster {
  readonly pods: Map<string, Pod>
  /** Members whose set is there although their pod may be gone. */
  readonly kept: Set<string>
  /** What members were told last. */
  readonly sticky: Map<string, AddressRecord>
  /** What survives the controller: each maps NICs to records. */
  readonly ipObjects: Map<string, AddressRecord>
  readonly rows: Map<string, AddressRecord>
  /** Ends with the pod. */
  readonly annotations: Map<string, AddressRecord>
  prefixes: { readonly v4: number | undefined; readonly v6: number | undefined }
  excluded: readonly Ip[]
  readonly pools: Map<string, readonly Ip[]>
  ipam: Ipam
  uids: number
  /** Whether an address is released only when no record names it any more, rather than the other way round. */
  readonly isCareful: boolean
  /** Whether a pod was told something since somebody looked. */
  hasNews: boolean
}

const names = Array.from({ length: 16 }, (_, index) => `p${index}`)
const pools = ['p', 'q']

function newCluster(first: number): Cluster {
  const dice = diceOf(first)
  const kind = dice(3)
  const cluster: Cluster = {
    pods: new Map(),
    kept: new Set(),
    sticky: new Map(),
    ipObjects: new Map(),
    rows: new Map(),
    annotations: new Map(),
    prefixes: { v4: kind === 1 ? undefined : 28, v6: kind === 0 ? undefined : 124 },
    excluded: [],
    pools: new Map(),
    ipam: new Ipam(() => new Uint8Array()),
    uids: 0,
    isCareful: dice(4) > 0,
    hasNews: false,
  }
  restart(cluster)
  return cluster
}

/** All that was in memory is lost, and read again from what was written. */
function restart(cluster: Cluster): void {
  cluster.ipam = new Ipam((bytes) => new Uint8Array(bytes))
  putSubnet(cluster)
  for (const [pool, ips] of cluster.pools) cluster.ipam.setPool('s', pool, ips.map(textOf))
  const annotated = [...cluster.annotations.values()].map((record) => ({ ...record, isRunning: true }))
  const others = [...cluster.ipObjects.values(), ...cluster.rows.values()].map((record) => {
    return { ...record, isOver: !cluster.pods.has(record.nic) && !cluster.kept.has(record.nic) }
  })
  restoreRecords(cluster.ipam, [...others, ...annotated])
}

function putSubnet({ ipam, prefixes, excluded }: Cluster): readonly Lease[] {
  const cidr = (family: Family, prefix: number | undefined): Cidr | undefined => {
    return prefix === undefined ? undefined : cidrOf(at(family, 0), prefix)
  }
  return ipam.setSubnet({
    name: 's',
    cidrs: { v4: cidr(4, prefixes.v4), v6: cidr(6, prefixes.v6) },
    gateways: {
      v4: prefixes.v4 === undefined ? undefined : at(4, 1),
      v6: prefixes.v6 === undefined ? undefined : at(6, 1),
    },
    excludeIps: excluded.map(textOf),
  }).lost
}

function textOf(ip: Ip): string {
  return typeof ip === 'number' ? `10.0.0.${ip & 255}` : `fd00::${(ip & 0xffn).toString(16)}`
}

/** One step of whatever the number stands for. */
function step(cluster: Cluster, number: number): void {
  const dice = diceOf(number)
  const name = `p${dice(names.length)}`
  const kind = dice(100)
  if (kind < 14) createPod(cluster, name, dice)
  else if (kind < 24) deletePod(cluster, name)
  else if (kind < 26) endSet(cluster, name)
  else if (kind < 88) reconcile(cluster, name, dice(3))
  else if (kind < 91) restart(cluster)
  else if (kind < 93) exclude(cluster, dice)
  else if (kind < 94) grow(cluster, dice)
  else if (kind < 96) changePool(cluster, dice)
  else if (kind < 98) settle(cluster)
  else cluster.ipam.fork().releaseOwner(`pod/${name}`)
}

function createPod(cluster: Cluster, name: string, dice: (bound: number) => number): void {
  if (cluster.pods.has(name)) return
  const isMember = dice(3) === 0 || cluster.kept.has(name)
  if (isMember) cluster.kept.add(name)
  const hasFamily = (family: Family) => cluster.prefixes[family === 4 ? 'v4' : 'v6'] !== undefined
  const family = hasFamily(4) ? 4 : 6
  cluster.pods.set(name, {
    name,
    uid: `u${cluster.uids++}`,
    isMember,
    static: dice(5) === 0 ? at(family, dice(16)) : undefined,
    pool: dice(5) === 0 ? pools[dice(2)] : undefined,
  })
}

function deletePod(cluster: Cluster, name: string): void {
  cluster.pods.delete(name)
  cluster.annotations.delete(name)
}

/** The StatefulSet is deleted. A pod of it that lives stays what it is, and is not made anew. */
function endSet(cluster: Cluster, name: string): void {
  cluster.kept.delete(name)
  cluster.sticky.delete(name)
}

function exclude(cluster: Cluster, dice: (bound: number) => number): void {
  cluster.excluded = Array.from({ length: dice(4) }, () => at(dice(2) === 0 ? 4 : 6, dice(16)))
  expect(putSubnet(cluster)).toEqual([])
}

/** A subnet gets larger, and may gain a family. Nobody loses anything by that. */
function grow(cluster: Cluster, dice: (bound: number) => number): void {
  const { v4, v6 } = cluster.prefixes
  const isGainingFamily = dice(3) === 0
  cluster.prefixes = {
    v4: v4 === undefined ? (isGainingFamily ? 28 : undefined) : Math.max(v4 - dice(2), 26),
    v6: v6 === undefined ? (isGainingFamily ? 124 : undefined) : Math.max(v6 - dice(2), 122),
  }
  expect(putSubnet(cluster)).toEqual([])
}

function changePool(cluster: Cluster, dice: (bound: number) => number): void {
  const [own = 'p', other = 'q'] = dice(2) === 0 ? pools : pools.toReversed()
  const first = dice(14)
  const ips = Array.from({ length: 3 }, (_, index) => [at(4, first + index), at(6, first + index)]).flat()
  const taken = new Set(cluster.pools.get(other))
  if (dice(3) === 0) {
    cluster.pools.delete(own)
    cluster.ipam.removePool('s', own)
  } else if (!ips.some((ip) => taken.has(ip))) {
    cluster.pools.set(own, ips)
    cluster.ipam.setPool('s', own, ips.map(textOf))
  }
}

/** Does the next thing that has to be done for a name, and no more. Answers whether there was something. */
function reconcile(cluster: Cluster, name: string, order: number): boolean {
  const { ipam, pods, kept, ipObjects, rows, annotations } = cluster
  const pod = pods.get(name)
  if (pod === undefined && kept.has(name) && ipObjects.has(name)) return keep(cluster, name)
  if (pod === undefined) {
    // What a controller sends to two servers at once may arrive in any order, or never.
    const stores = order === 0 ? [ipObjects, rows] : [rows, ipObjects]
    const isForgotten = (): boolean => stores.some((store) => store.delete(name))
    const isReleased = (): boolean => ipam.release(name, `pod/${name}`) !== undefined
    return cluster.isCareful ? isForgotten() || isReleased() : isReleased() || isForgotten()
  }
  const lease = allocate(ipam, pod)
  // Refused: what is left of a predecessor goes.
  if (lease === undefined) return [ipObjects, rows].some((store) => store.delete(name))
  const record = recordOf(lease)
  const stores = order === 0 ? [rows, ipObjects] : [ipObjects, rows]
  for (const store of [...stores, annotations]) {
    if (isSameRecord(store.get(name), record)) continue
    store.set(name, record)
    if (store === annotations) cluster.hasNews = true
    return true
  }
  return false
}

/** A member without a pod has what its IP object says, and nothing else. */
function keep({ ipam, ipObjects, rows }: Cluster, name: string): boolean {
  const lease = ipam.lease(name)
  // It was given more just before its pod went.
  const isMore = lease !== undefined && !isSameRecord(ipObjects.get(name), recordOf(lease))
  if (isMore) ipObjects.set(name, recordOf(lease))
  return isMore || rows.delete(name)
}

/** A NIC that has addresses keeps them, but completes them when the subnet has gained a family. */
function allocate(ipam: Ipam, { name, uid, isMember, static: fixed, pool }: Pod): Lease | undefined {
  const held = ipam.lease(name)
  const owner = isMember ? (`statefulset-pod/${name}` as const) : (`pod/${name}` as const)
  const addresses = { v4: undefined, v6: undefined, [typeof fixed === 'number' ? 'v4' : 'v6']: fixed }
  const wish = held === undefined && fixed !== undefined ? { static: addresses } : { pool }
  try {
    return ipam.allocate({
      subnet: 's',
      nic: name,
      owner,
      uid: isMember ? undefined : uid,
      mac: false,
      ...wish,
    })
  } catch {
    // What it has in one family it has.
    return held
  }
}

function recordOf({ subnet, nic, owner, uid, v4, v6 }: Lease): AddressRecord {
  return { subnet, nic, owner, uid, addresses: { v4, v6 }, mac: false }
}

function isSameRecord(a: AddressRecord | undefined, b: AddressRecord): boolean {
  return (
    a !== undefined &&
    a.addresses.v4 === b.addresses.v4 &&
    a.addresses.v6 === b.addresses.v6 &&
    a.owner === b.owner &&
    a.uid === b.uid
  )
}

/** Lets the controller come to rest, and finds that everything written and everything held is the same. */
function settle(cluster: Cluster): void {
  const { ipam, pods, kept, ipObjects, annotations, rows, isCareful } = cluster
  for (let isBusy = true; isBusy;) {
    isBusy = false
    for (const name of names) while (reconcile(cluster, name, 0)) isBusy = true
  }
  expect(ipam.verify()).toEqual([])
  if (isCareful) {
    expect(auditRecords(ipam, ipObjects.values())).toEqual([])
    recount(cluster)
  }
  for (const { nic, owner } of ipam.leases()) {
    expect(pods.has(nic) || kept.has(nic), `${nic} of ${owner} has leaked`).toBe(true)
  }
  for (const [nic, record] of [...annotations, ...rows]) expect(ipObjects.get(nic)).toEqual(record)
}

/** The counts are what the records come to: nothing is counted up or down. */
function recount({ ipam, ipObjects, prefixes, excluded }: Cluster): void {
  for (const key of ['v4', 'v6'] as const) {
    if (prefixes[key] === undefined) continue
    const recorded = [...ipObjects.values()].map(({ addresses }) => addresses[key])
    const used = new Set(recorded.filter((ip) => ip !== undefined && !excluded.includes(ip)))
    expect(ipam.statistics('s')[key]?.using).toBe(BigInt(used.size))
  }
}

/** What must hold at every moment, seen from outside: by what pods were told. */
function watch(cluster: Cluster, told: Map<string, readonly [uid: string, AddressRecord]>): void {
  const users = new Map<Ip, string>()
  for (const [nic, record] of cluster.annotations) {
    const { v4, v6 } = record.addresses
    for (const ip of [v4, v6]) {
      if (ip === undefined) continue
      const other = users.get(ip)
      if (other !== undefined) expect.unreachable(`${nic} and ${other} were both told ${textOf(ip)}`)
      users.set(ip, nic)
    }
    const uid = cluster.pods.get(nic)?.uid ?? ''
    const before = told.get(nic)
    if (before !== undefined && before[0] === uid) {
      const { v4: had4, v6: had6 } = before[1].addresses
      if ((had4 !== undefined && had4 !== v4) || (had6 !== undefined && had6 !== v6))
        expect.unreachable(`${nic} was told other addresses while it ran`)
      if (!isSameOwner(before[1].owner, record.owner)) expect.unreachable(`${nic} changed its owner`)
    }
    if (before?.[1] !== record) told.set(nic, [uid, record])
  }
}

/** No address is written down for two, in whatever state the controller was killed. */
function watchRecords({ ipObjects, rows, annotations }: Cluster): void {
  const writtenFor = new Map<Ip, string>()
  for (const store of [ipObjects, rows, annotations]) {
    for (const [nic, { addresses }] of store) {
      for (const ip of [addresses.v4, addresses.v6]) {
        if (ip === undefined) continue
        const other = writtenFor.get(ip) ?? nic
        if (other !== nic) expect.unreachable(`${textOf(ip)} is written down for ${nic} and for ${other}`)
        writtenFor.set(ip, nic)
      }
    }
  }
}

/** A member that comes back has what it had, as long as its record was there without a break. */
function watchMembers({ kept, annotations, sticky }: Cluster): void {
  for (const [nic, record] of annotations) {
    if (!kept.has(nic)) continue
    const before = sticky.get(nic)
    const { v4, v6 } = record.addresses
    if (before?.addresses.v4 !== undefined && before.addresses.v4 !== v4)
      expect.unreachable(`${nic} lost its IPv4`)
    if (before?.addresses.v6 !== undefined && before.addresses.v6 !== v6)
      expect.unreachable(`${nic} lost its IPv6`)
    sticky.set(nic, record)
  }
}

describe('a controller that is killed between any two steps', { timeout: 300_000 }, () => {
  it('gives no address twice, leaks none, and takes none from a pod that runs, in 300,000 steps', () => {
    const numbers = fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), {
      minLength: 600,
      maxLength: 600,
      size: 'max',
    })
    const property = fc.property(numbers, ([first = 0, ...rest]) => {
      const cluster = newCluster(first)
      const told = new Map<string, readonly [string, AddressRecord]>()
      // Zero stands for nothing, so that a story that fails is shortened to zeros and the few steps that matter.
      for (const number of rest.filter((number) => number !== 0)) {
        step(cluster, number)
        if (cluster.isCareful) watchRecords(cluster)
        if (!cluster.hasNews) continue
        cluster.hasNews = false
        watch(cluster, told)
        if (cluster.isCareful) watchMembers(cluster)
      }
      settle(cluster)
      restart(cluster)
      settle(cluster)
    })
    expect(counterexample('crashes', property, { numRuns: 500 })).toBeUndefined()
  })
})
