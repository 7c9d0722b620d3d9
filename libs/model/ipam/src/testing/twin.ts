import { KubeOvnError } from '@kube-ovn/errors'
import { cidrOf, formatIp, parseMac, type Cidr, type Family } from '@kube-ovn/ip'
import { expect } from 'vitest'
import { Ipam } from '../ipam.ts'
import type { Lease } from '../lease.ts'
import * as naive from './naive-ipam.ts'
import { diceOf, families, nics, owners, type Step } from './story.ts'

/** The allocator beside the naive rules, to which the same happens. */
export interface Twin {
  readonly ipam: Ipam
  readonly state: naive.NaiveState
}

export function start(first: naive.NaiveSpec): Twin {
  const dice = diceOf(1)
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => dice(256))
  const twin: Twin = { ipam: new Ipam(random), state: { subnets: new Map(), leases: new Map() } }
  take(twin, { do: 'set-subnet', spec: first })
  take(twin, { do: 'set-subnet', spec: { name: 'm', sizes: new Map(), excluded: [] } })
  return twin
}

export function forkTwin({ ipam, state }: Twin): Twin {
  return { ipam: ipam.fork(), state: structuredClone(state) }
}

/** Does one step with both and compares what they answer. */
export function take({ ipam, state }: Twin, step: Step): void {
  const answer = attempt(() => real(ipam, step))
  const expected = attempt(() => simple(state, step, answer))
  // The comparison of vitest costs more than all the rest, so it only has to explain.
  if (!isSame(answer, expected)) expect(answer, JSON.stringify(step, printable)).toEqual(expected)
}

function printable(_key: string, value: unknown): unknown {
  if (value instanceof Set || value instanceof Map) return [...value]
  return typeof value === 'bigint' ? String(value) : value
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [ofA, ofB] = [Object.entries(a), Object.entries(b)]
  if (ofA.length !== ofB.length) return false
  const others: Readonly<Record<string, unknown>> = { ...b }
  return ofA.every(([key, value]) => isSame(value, others[key]))
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
      ipam.setPool('s', step.pool, [...step.members].map(formatIp))
      return undefined
    case 'remove-pool':
      return ipam.removePool('s', step.pool)
    case 'gateway-mac':
      ipam.setGatewayMac('s', step.mac)
      return undefined
    case 'allocate': {
      const { request, macText } = step
      const v4 = request.static.find((ip) => typeof ip === 'number')
      const v6 = request.static.find((ip) => typeof ip === 'bigint')
      const { share: shareOnConflict, ...rest } = request
      return ipam.allocate({ ...rest, static: { v4, v6 }, mac: macText, shareOnConflict })
    }
    case 'release':
      return ipam.release(step.nic, step.owner, step.uid)
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
      naive.existing(state, 's').gatewayMac = step.mac && parseMac(step.mac)
      return undefined
    case 'allocate':
      return naive.allocate(state, step.request, madeUpMac(answer))
    case 'release':
      return naive.release(state, step.nic, step.owner, step.uid)
    case 'release-owner': {
      const leases = [...state.leases.values()].filter(
        (lease) => lease.owner === step.owner && (step.subnet ?? lease.subnet) === lease.subnet,
      )
      for (const { nic } of leases) naive.release(state, nic, step.owner, undefined)
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

/** Compares all that can be asked, and checks that every promise holds. */
export function compare({ ipam, state }: Twin): void {
  expect(ipam.verify()).toEqual([])
  expect(ipam.size).toBe(state.leases.size)
  for (const nic of nics) expect(ipam.lease(nic)).toEqual(state.leases.get(nic))
  for (const name of owners) {
    const leases: readonly Lease[] = ipam.leasesOf(name)
    expect(byNic(leases)).toEqual(byNic([...state.leases.values()].filter((lease) => lease.owner === name)))
  }
  for (const [name, subnet] of state.subnets) {
    const leases = [...state.leases.values()].filter((lease) => lease.subnet === name)
    expect(byNic(ipam.leases(name))).toEqual(byNic(leases))
    for (const family of families) compareFamily(ipam, state, name, subnet, family)
  }
}

function compareFamily(
  ipam: Ipam,
  state: naive.NaiveState,
  name: string,
  subnet: naive.NaiveSubnet,
  family: Family,
): void {
  const offer = subnet.families.get(family)
  const key = family === 4 ? 'v4' : 'v6'
  if (offer === undefined) {
    expect(ipam.statistics(name)[key]).toBeUndefined()
    return
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
    expect(ipam.hasRoom(name, pool, family)).toBe(members.length > 0)
  }
  for (const ip of offer.block) {
    const holders = new Set<string>(naive.holdersOf(state, name, ip).map((lease) => lease.owner))
    expect(new Set<string>(ipam.holders(name, ip))).toEqual(holders)
  }
}
