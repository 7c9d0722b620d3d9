import { KubeOvnError } from '@kube-ovn/errors'
import { cidrOf, formatIp, parseMac, type Cidr, type Family, type Ip } from '@kube-ovn/ip'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Ipam, type Lease } from './index.ts'
import * as naive from './naive-ipam.ts'

/** What may happen to one of several states, all of which started as forks of one. */
type Step =
  | { readonly do: 'set-subnet'; readonly spec: naive.NaiveSpec }
  | { readonly do: 'remove-subnet' }
  | { readonly do: 'set-pool'; readonly pool: string; readonly members: ReadonlySet<Ip> }
  | { readonly do: 'remove-pool'; readonly pool: string }
  | { readonly do: 'gateway-mac'; readonly mac: string }
  | {
      readonly do: 'allocate'
      readonly request: naive.NaiveRequest
      readonly macText: string | false | undefined
    }
  | { readonly do: 'release'; readonly nic: string }
  | { readonly do: 'release-owner'; readonly owner: string; readonly subnet: string | undefined }
  | { readonly do: 'fork' }

/** The subnet at first, and then steps, each with the number of the fork that it happens to. */
type Story = readonly [naive.NaiveSpec, readonly (readonly [number, Step])[]]

interface Twin {
  readonly ipam: Ipam
  state: naive.NaiveState
}

const families = [4, 6] as const
const macs = ['00:00:5e:00:53:01', '00-00-5E-00-53-01', '00:00:5E:00:53:02', '0000.5e00.5303']
/** Subnet `s` has addresses, `m` MAC addresses only, `x` does not exist. */
const subnetName = fc.oneof(
  { weight: 20, arbitrary: fc.constant('s') },
  { weight: 4, arbitrary: fc.constant('m') },
  fc.constant('x'),
)
const address = fc
  .tuple(fc.constantFrom(...families), fc.nat(17))
  .map(([family, offset]) => naive.at(family, offset))
const bounds = fc.tuple(fc.nat(17), fc.nat(4)).map(([first, more]) => ({ first, last: first + more }))
const owners = ['o0', 'o1', 'o2']
const owner = fc.constantFrom(...owners)
const nics = Array.from({ length: 12 }, (_, index) => `n${index}`)
const nic = fc.constantFrom(...nics)

const spec: fc.Arbitrary<naive.NaiveSpec> = fc
  .tuple(
    fc.constantFrom<readonly (readonly [Family, number])[]>(
      [[4, 29]],
      [[6, 125]],
      [
        [4, 29],
        [6, 125],
      ],
      [
        [4, 29],
        [6, 124],
      ],
      [
        [4, 28],
        [6, 125],
      ],
      [],
    ),
    fc.array(bounds, { maxLength: 2 }),
  )
  .map(([sizes, excluded]) => ({ name: 's', sizes: new Map(sizes), excluded }))

const request = fc.record({
  subnet: subnetName,
  nic,
  strangeOwner: fc.option(owner, { nil: undefined, freq: 15 }),
  pool: fc.option(fc.constantFrom('p', 'q'), { nil: undefined, freq: 3 }),
  static: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: address.map((ip) => [ip]) },
    fc.tuple(fc.nat(17), fc.nat(17)).map(([v4, v6]) => [naive.at(4, v4), naive.at(6, v6)]),
  ),
  family: fc.option(fc.constantFrom(...families), { nil: undefined, freq: 4 }),
  macText: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    fc.constant<false>(false),
    fc.constantFrom(...macs),
  ),
  skip: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(address, { maxLength: 12 })),
  share: fc.nat(5).map((number) => number === 0),
})

const allocation: fc.Arbitrary<Step> = request.map(({ strangeOwner, macText, skip, ...wishes }) => ({
  do: 'allocate',
  // A NIC nearly always belongs to the same owner, and every owner has several.
  request: {
    ...wishes,
    owner: strangeOwner ?? `o${Number(wishes.nic.slice(1)) % 3}`,
    mac: typeof macText === 'string' ? parseMac(macText) : macText,
    skip: new Set(skip),
  },
  macText,
}))

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 30, arbitrary: allocation },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('release' as const), nic }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('release-owner' as const),
      owner,
      subnet: fc.option(subnetName, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('set-subnet' as const), spec }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('set-pool' as const),
      pool: fc.constantFrom('p', 'q'),
      members: fc
        .tuple(bounds, bounds)
        .map(([v4, v6]) => new Set([...span(4, v4.first, v4.last), ...span(6, v6.first, v6.last)])),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('remove-pool' as const), pool: fc.constantFrom('p', 'q') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('gateway-mac' as const), mac: fc.constantFrom(...macs) }),
  },
  { weight: 3, arbitrary: fc.constant<Step>({ do: 'fork' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'remove-subnet' }) },
)

const story: fc.Arbitrary<Story> = fc.tuple(
  spec.filter(({ sizes }) => sizes.size > 0),
  fc.array(fc.tuple(fc.nat(), step), { maxLength: 60 }),
)

function span(family: Family, first: number, last: number): readonly Ip[] {
  return Array.from({ length: last - first + 1 }, (_, index) => naive.at(family, first + index))
}

/** A generator that repeats itself only after longer than any test runs. */
function seededRandom(): (bytes: number) => Uint8Array {
  let seed = 1
  return (bytes) =>
    Uint8Array.from({ length: bytes }, () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return seed >>> 16
    })
}

function start(first: naive.NaiveSpec): Twin {
  const twin: Twin = { ipam: new Ipam(seededRandom()), state: { subnets: new Map(), leases: new Map() } }
  take(twin, { do: 'set-subnet', spec: first })
  take(twin, { do: 'set-subnet', spec: { name: 'm', sizes: new Map(), excluded: [] } })
  return twin
}

/** Does one step with both and compares what they answer. A refused step leaves the naive state as it was. */
function take(twin: Twin, step: Step): void {
  const state = structuredClone(twin.state)
  const answer = attempt(() => real(twin.ipam, step))
  const expected = attempt(() => simple(state, step, answer))
  expect(answer).toEqual(expected)
  if (!isRefusal(expected)) twin.state = state
}

interface Refusal {
  readonly refused: string
}

function isRefusal(answer: unknown): answer is Refusal {
  return typeof answer === 'object' && answer !== null && 'refused' in answer
}

function attempt(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    if (error instanceof KubeOvnError) return { refused: error.code }
    if (error instanceof naive.NaiveRefusal) return { refused: error.message }
    throw error
  }
}

function real(ipam: Ipam, step: Step): unknown {
  switch (step.do) {
    case 'set-subnet':
      return ipam
        .setSubnet(realSpec(step.spec))
        .lost.map(({ nic }) => nic)
        .sort()
    case 'remove-subnet':
      return ipam.removeSubnet('s')
    case 'set-pool':
      return ipam.setPool('s', step.pool, [...step.members].map(formatIp))
    case 'remove-pool':
      return ipam.removePool('s', step.pool)
    case 'gateway-mac':
      return ipam.setGatewayMac('s', step.mac)
    case 'allocate': {
      const { request, macText } = step
      const [v4, v6] = families.map((family) =>
        request.static.find((ip) => (typeof ip === 'number') === (family === 4)),
      )
      const { share: shareOnConflict, ...rest } = request
      return ipam.allocate({ ...rest, static: { v4, v6 }, mac: macText, shareOnConflict })
    }
    case 'release':
      return ipam.release(step.nic)
    case 'release-owner':
      return byNic(ipam.releaseOwner(step.owner, step.subnet))
    case 'fork':
      return undefined
  }
}

function simple(state: naive.NaiveState, step: Step, answer: unknown): unknown {
  switch (step.do) {
    case 'set-subnet':
      return [...naive.setSubnet(state, step.spec)].sort()
    case 'remove-subnet': {
      state.subnets.delete('s')
      for (const lease of state.leases.values()) if (lease.subnet === 's') state.leases.delete(lease.nic)
      return undefined
    }
    case 'set-pool':
      return naive.setPool(state, 's', step.pool, step.members)
    case 'remove-pool':
      return naive.removePool(state, 's', step.pool)
    case 'gateway-mac':
      naive.existing(state, 's').gatewayMac = parseMac(step.mac)
      return undefined
    case 'allocate':
      return naive.allocate(state, step.request, madeUpMac(answer))
    case 'release':
      return naive.release(state, step.nic)
    case 'release-owner': {
      const leases = [...state.leases.values()].filter(
        (lease) => lease.owner === step.owner && (step.subnet ?? lease.subnet) === lease.subnet,
      )
      for (const { nic } of leases) naive.release(state, nic)
      return byNic(leases)
    }
    case 'fork':
      return undefined
  }
}

function madeUpMac(answer: unknown): string | undefined {
  const mac = typeof answer === 'object' && answer !== null && 'mac' in answer ? answer.mac : undefined
  return typeof mac === 'string' ? mac : undefined
}

function realSpec(spec: naive.NaiveSpec) {
  const cidr = (family: Family): Cidr | undefined => {
    const size = spec.sizes.get(family)
    return size === undefined ? undefined : cidrOf(naive.at(family, 0), size)
  }
  const gateway = (family: Family) => (spec.sizes.has(family) ? naive.at(family, 1) : undefined)
  return {
    name: spec.name,
    cidrs: { v4: cidr(4), v6: cidr(6) },
    gateways: { v4: gateway(4), v6: gateway(6) },
    excludeIps: spec.excluded.flatMap(({ first, last }) =>
      families.map((family) => `${formatIp(naive.at(family, first))}..${formatIp(naive.at(family, last))}`),
    ),
  }
}

function byNic<L extends { readonly nic: string }>(leases: Iterable<L>): readonly L[] {
  return [...leases].sort((a, b) => (a.nic < b.nic ? -1 : 1))
}

/** Compares all that can be asked, and the invariants with it. */
function compare({ ipam, state }: Twin): void {
  for (const nic of nics) expect(ipam.lease(nic)).toEqual(state.leases.get(nic))
  for (const name of owners) {
    expect(byNic(ipam.leasesOf(name))).toEqual(
      byNic([...state.leases.values()].filter((lease) => lease.owner === name)),
    )
  }
  for (const [name, subnet] of state.subnets) {
    const leases = [...state.leases.values()].filter((lease) => lease.subnet === name)
    expect(byNic(ipam.leases(name))).toEqual(byNic(leases))
    for (const family of families) {
      const offer = subnet.families.get(family)
      const key = family === 4 ? 'v4' : 'v6'
      if (offer === undefined) {
        expect(ipam.statistics(name)[key]).toBeUndefined()
        continue
      }
      const using = offer.usable.filter((ip) => naive.holdersOf(state, name, ip).length > 0)
      const available = offer.usable.filter((ip) => !using.includes(ip) && !offer.reserved.has(ip))
      expect(ipam.statistics(name)[key]).toMatchObject({
        available: BigInt(available.length),
        using: BigInt(using.filter((ip) => !offer.reserved.has(ip)).length),
      })
      for (const [pool, order] of offer.order) {
        // What is free or released is all that is available, and each is one of the two.
        const members = available.filter((ip) => order.members.has(ip))
        expect(order.free.size + order.released.size).toBe(members.length)
        expect(ipam.poolStatistics(name, pool)[key]).toMatchObject({
          available: BigInt(members.length),
          using: BigInt(using.filter((ip) => order.members.has(ip)).length),
        })
      }
      for (const ip of offer.block) {
        const owners = new Set(naive.holdersOf(state, name, ip).map((lease) => lease.owner))
        expect(new Set(ipam.holders(name, ip))).toEqual(owners)
      }
    }
  }
}

function playOut([first, steps]: Story): readonly Twin[] {
  const twins: Twin[] = [start(first)]
  for (const [pick, step] of steps) {
    const twin = twins[pick % twins.length]
    if (twin === undefined) continue
    if (step.do === 'fork') {
      if (twins.length < 4) twins.push({ ipam: twin.ipam.fork(), state: structuredClone(twin.state) })
      continue
    }
    take(twin, step)
    compare(twin)
  }
  return twins
}

describe('Ipam against the naive rules', { timeout: 60_000 }, () => {
  it('answers alike, whatever happens, and forks stay independent', () => {
    fc.assert(
      fc.property(story, (told) => {
        for (const twin of playOut(told)) compare(twin)
      }),
      { numRuns: 300 },
    )
  })

  it('hands out in the same order until nothing is left', () => {
    fc.assert(
      fc.property(story, (told) => {
        for (const twin of playOut(told)) {
          for (const pool of [undefined, 'p', 'q']) for (const family of families) drain(twin, pool, family)
          compare(twin)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('comes back from its leases, in any order', () => {
    fc.assert(
      fc.property(story, fc.infiniteStream(fc.nat()), (told, shuffle) => {
        const [first, steps] = told
        const steady = steps.filter(([, step]) => step.do !== 'set-subnet')
        for (const { ipam, state } of playOut([first, steady])) {
          const again = start(first).ipam
          for (const [pool, members] of state.subnets.get('s')?.pools ?? []) {
            again.setPool('s', pool, [...members].map(formatIp))
          }
          const leases = [...ipam.leases('s'), ...ipam.leases('m')]
          const order = new Map(leases.map((lease) => [lease, shuffle.next().value]))
          for (const lease of leases.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)))
            replay(again, lease)
          compare({ ipam: again, state })
        }
      }),
      { numRuns: 60 },
    )
  })
})

/** Uses up a pool, gives a part back, and takes turns with it. */
function drain(twin: Twin, pool: string | undefined, family: Family): void {
  const rest = {
    subnet: 's',
    pool,
    static: [],
    family,
    mac: false as const,
    skip: new Set<Ip>(),
    share: false,
  }
  const draw = (nic: string) => {
    take(twin, { do: 'allocate', request: { ...rest, nic, owner: nic }, macText: false })
  }
  const name = (count: number) => `drain-${pool}-${family}-${count}`
  for (let count = 0; count < 20; count++) draw(name(count))
  for (let count = 0; count < 20; count += 3) take(twin, { do: 'release', nic: name(count) })
  for (let turn = 0; turn < 8; turn++) {
    draw('turn')
    take(twin, { do: 'release', nic: 'turn' })
  }
}

/** Asks for exactly what a durable record says, as a controller does when it starts. */
function replay(ipam: Ipam, lease: Lease): void {
  const { nic, owner, subnet, v4, v6, mac } = lease
  const family = v6 === undefined ? 4 : v4 === undefined ? 6 : undefined
  ipam.allocate({ nic, owner, subnet, static: { v4, v6 }, family, mac: mac ?? false, shareOnConflict: true })
}
