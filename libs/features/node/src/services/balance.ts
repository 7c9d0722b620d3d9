import { createHash } from 'node:crypto'
import type { Expression, SetElement, Statement, Value } from '@kube-ovn/netfilter'
import { partsOf, type ServedPort } from './served-ports.ts'

/** Into how many parts clients are divided by their address, where there are not many backends. */
const usualBuckets = 256
/** So many for each backend, so that hardly one has none. */
const bucketsEach = 8

/** Any number: each node has the same, so that a client comes to one backend by way of all of them. */
const seed = 0x6b6f

/** Leads a new connection to one of several backends: to any of them, or always to the same one of a client. */
export function balance(
  { family, protocol, hasAffinity }: ServedPort,
  backends: readonly string[],
): readonly Statement[] {
  const isProtocol: Statement = {
    match: { op: '==', left: { meta: { key: 'l4proto' } }, right: protocol },
  }
  const ip = family === 4 ? 'ip' : 'ip6'
  const [first = '', ...others] = backends
  if (others.length === 0) {
    const { address, port } = partsOf(first)
    return [isProtocol, { dnat: { family: ip, addr: address, port } }]
  }
  const source = { payload: { protocol: ip, field: 'saddr' } } as const
  const key: Expression = hasAffinity
    ? { jhash: { mod: bucketCountOf(backends), seed, expr: source } }
    : { numgen: { mode: 'random', mod: backends.length, offset: 0 } }
  const set = hasAffinity
    ? bucketsOf(backends).map(({ range, backend }) => [range, elementOf(backend)] as const)
    : backends.map((backend, index) => [index, elementOf(backend)] as const)
  return [isProtocol, { dnat: { family: ip, addr: { map: { key, data: { set } } } } }]
}

/** In steps that are far apart: with each, all clients are divided anew. */
function bucketCountOf({ length }: readonly string[]): number {
  let count = usualBuckets
  while (count < length * bucketsEach) count *= 4
  return count
}

/**
 * Gives each part of the clients the backend that has the highest number for it: when one goes, only its own clients come to others,
 * and one that comes takes an equal part of each.
 *
 * @see https://en.wikipedia.org/wiki/Rendezvous_hashing
 */
export function bucketsOf(
  backends: readonly string[],
): readonly { readonly range: Value; readonly backend: string }[] {
  const bucketCount = bucketCountOf(backends)
  const highest = new Uint32Array(bucketCount)
  const holders = new Uint32Array(bucketCount)
  for (const [index, backend] of backends.entries()) {
    // Numbers that look like drawn by lot, and are always the same.
    const from = createHash('sha256').update(backend).digest().readUInt32LE(0)
    for (let bucket = 0; bucket < bucketCount; bucket++) {
      const number = mixed(from + bucket * 0x9e3779b9)
      if (number <= (highest[bucket] ?? 0)) continue
      highest[bucket] = number
      holders[bucket] = index
    }
  }
  const runs: { from: number; to: number; backend: string }[] = []
  for (const [bucket, holder] of holders.entries()) {
    const backend = backends[holder] ?? ''
    const last = runs.at(-1)
    if (last?.backend === backend) last.to = bucket
    else runs.push({ from: bucket, to: bucket, backend })
  }
  return runs.map(({ from, to, backend }) => ({ range: from === to ? from : { range: [from, to] }, backend }))
}

/**
 * Mixes the bits of a number, so that neighbours have nothing in common.
 *
 * @see https://github.com/aappleby/smhasher/wiki/MurmurHash3, fmix32
 */
function mixed(number: number): number {
  let bits = number >>> 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

function elementOf(backend: string): SetElement {
  const { address, port } = partsOf(backend)
  return { concat: [address, port] }
}
