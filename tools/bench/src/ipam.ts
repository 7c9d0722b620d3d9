import { cidrOf, formatMac, offsetIp, parseCidrList, parseIpList, parseIpv4 } from '@kube-ovn/ip'
import { Ipam, restoreRecords, type AddressRecord, type Owner } from '@kube-ovn/ipam'
import { randomFillSync } from 'node:crypto'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { heapBytes } from './heap.ts'
import { auditCost } from './ipam-audit.ts'
import { percentile, rounded } from './statistics.ts'

/** How full a network is while addresses come and go in it. */
const heldCount = 40_000
const operationCount = 1_000_000
const rounds = 5

const subnet = 'subnet'

const subnetCount = 500
const recordCount = 150_000

/** Addresses that come and go, in memory alone; a start with very many of them; and what each one costs in memory. */
export const ipam: Benchmark = {
  name: 'ipam',
  summary: 'allocations and releases per second in a /16, beside those in an IPv6 /64',
  async run(): Promise<BenchmarkResult> {
    const v4 = churnRate('10.16.0.0/16', '10.16.0.1')
    const v6 = churnRate('fd00:10:16::/64', 'fd00:10:16::1')
    const dual = churnRate('10.16.0.0/16,fd00:10:16::/64', '10.16.0.1,fd00:10:16::1')
    const { auditMs, auditSliceMs } = await auditCost()
    return {
      value: rounded(v4),
      unit: 'operations/s',
      v6: rounded(v6),
      dual: rounded(dual),
      rebuildMs: rounded(rebuildMs()),
      bytesPerAddress: rounded(await bytesPerLease('10.0.0.0/8', '10.0.0.1')),
      bytesPerV6Address: rounded(await bytesPerLease('fd00:10:16::/64', 'fd00:10:16::1')),
      dryRunUs: rounded(dryRunUs()),
      auditMs: rounded(auditMs),
      auditSliceMs: rounded(auditSliceMs),
    }
  },
}

interface Client {
  readonly nic: string
  readonly owner: Owner
}

function clients(count: number, from = 0): readonly Client[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `pod-${from + index}`
    return { nic: flat(`${name}.shop`), owner: flat(`pod/shop/${name}`) }
  })
}

/** The same text in one piece: V8 joins texts only when somebody reads them, and that is not to be measured. */
function flat<T extends string>(text: T): T {
  return JSON.parse(JSON.stringify(text)) as T
}

function randomBytes(count: number): Uint8Array {
  return randomFillSync(new Uint8Array(count))
}

function newIpam(cidr: string, gateway: string): Ipam {
  const ipam = new Ipam(randomBytes)
  const cidrs = parseCidrList(cidr)
  ipam.setSubnet({ name: subnet, cidrs, gateways: parseIpList(gateway), excludeIps: [] })
  return ipam
}

/** Every operation is for another client than the one before, in no order, so that free addresses are scattered. */
function churnRate(cidr: string, gateway: string): number {
  const ipam = newIpam(cidr, gateway)
  const all = shuffled(clients(2 * heldCount))
  for (const { nic, owner } of all.slice(0, heldCount)) ipam.allocate({ subnet, nic, owner })
  const rates: number[] = []
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now()
    for (let count = 0; count < operationCount; count += 2) {
      const leaving = all[(count / 2) % all.length]
      const coming = all[(count / 2 + heldCount) % all.length]
      if (leaving === undefined || coming === undefined) throw new RangeError('there are no such clients')
      ipam.release(leaving.nic, leaving.owner)
      ipam.allocate({ subnet, nic: coming.nic, owner: coming.owner })
    }
    rates.push(operationCount / ((performance.now() - startedMs) / 1000))
  }
  if (ipam.size !== heldCount || ipam.verify().length > 0)
    throw new Error('the addresses are not what they should be')
  console.log(cidr, rates.map(Math.round))
  return percentile(rates, 0.5)
}

/** As a controller does at its start: subnets, and then a record for each address, in no order. */
function rebuildMs(): number {
  const perSubnet = recordCount / subnetCount
  const subnets = Array.from({ length: subnetCount }, (_, index) => {
    return { name: `subnet-${index}`, first: offsetIp(parseIpv4('10.0.0.0'), index * 1024) }
  })
  const records = subnets.flatMap(({ name: subnet, first }, index) => {
    return clients(perSubnet, index * perSubnet).map(({ nic, owner }, offset): AddressRecord => {
      const mac = formatMac(Uint8Array.of(2, 0, index >> 8, index & 255, offset >> 8, offset & 255))
      return { subnet, nic, owner, addresses: { v4: offsetIp(first, offset + 2) }, mac, isRunning: true }
    })
  })
  const unordered = shuffled(records)
  const times = Array.from({ length: rounds }, () => {
    const startedMs = performance.now()
    const ipam = new Ipam(randomBytes)
    for (const { name, first } of subnets) {
      const cidrs = { v4: cidrOf(first, 22) }
      ipam.setSubnet({ name, cidrs, gateways: { v4: offsetIp(first, 1) }, excludeIps: [] })
    }
    const conflicts = restoreRecords(ipam, unordered)
    const elapsedMs = performance.now() - startedMs
    if (ipam.size !== recordCount || conflicts.length > 0) throw new Error('records were lost')
    return elapsedMs
  })
  console.log('rebuilt in ms', times.map(Math.round))
  return percentile(times, 0.5)
}

/** What the heap grows by for each lease; NICs and owners are there before, as they are in the caches of a controller. */
async function bytesPerLease(cidr: string, gateway: string): Promise<number> {
  const all = clients(recordCount)
  const ipam = newIpam(cidr, gateway)
  const before = await heapBytes()
  for (const { nic, owner } of all) ipam.allocate({ subnet, nic, owner })
  const after = await heapBytes()
  if (ipam.size !== all.length) throw new Error('addresses were lost')
  return (after - before) / all.length
}

/** What it takes to plan one allocation that does not come true, beside many that have. */
function dryRunUs(): number {
  const ipam = newIpam('10.16.0.0/16', '10.16.0.1')
  for (const { nic, owner } of clients(heldCount)) ipam.allocate({ subnet, nic, owner })
  const times = Array.from({ length: 1000 }, () => {
    const startedMs = performance.now()
    ipam.fork().allocate({ subnet, nic: 'probe.shop', owner: 'pod/shop/probe' })
    return (performance.now() - startedMs) * 1000
  })
  return percentile(times, 0.5)
}

/** In an order that is always the same (Fisher-Yates, with the generator of Park and Miller). */
function shuffled<T>(items: readonly T[]): readonly T[] {
  const result = [...items]
  let seed = 1
  for (let last = result.length - 1; last > 0; last--) {
    seed = (seed * 48_271) % 0x7fff_ffff
    const other = seed % (last + 1)
    const [a, b] = [result[last], result[other]]
    if (a === undefined || b === undefined) continue
    result[last] = b
    result[other] = a
  }
  return result
}
