import { createHash } from 'node:crypto'
import type { Expression, SetElement, Statement, Value } from '@kube-ovn/netfilter'
import { partsOf, type ServedPort } from './served-ports.ts'

/** Into how many parts clients are divided by their address. */
const bucketCount = 256

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
    ? { jhash: { mod: bucketCount, seed, expr: source } }
    : { numgen: { mode: 'random', mod: backends.length, offset: 0 } }
  const set = hasAffinity
    ? bucketsOf(backends).map(({ range, backend }) => [range, elementOf(backend)] as const)
    : backends.map((backend, index) => [index, elementOf(backend)] as const)
  return [isProtocol, { dnat: { family: ip, addr: { map: { key, data: { set } } } } }]
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
  const weights = backends.map((backend) => weightsOf(backend))
  const runs: { from: number; to: number; backend: string }[] = []
  for (let bucket = 0; bucket < bucketCount; bucket++) {
    let best = 0
    for (let index = 1; index < backends.length; index++)
      if ((weights[index]?.[bucket] ?? 0) > (weights[best]?.[bucket] ?? 0)) best = index
    const backend = backends[best] ?? ''
    const last = runs.at(-1)
    if (last?.backend === backend) last.to = bucket
    else runs.push({ from: bucket, to: bucket, backend })
  }
  return runs.map(({ from, to, backend }) => ({ range: from === to ? from : { range: [from, to] }, backend }))
}

/** A number for each part of the clients, which look like drawn by lot, and are always the same. */
function weightsOf(backend: string): Uint32Array {
  const weights = new Uint32Array(bucketCount)
  const perHash = 8
  for (let from = 0; from < bucketCount; from += perHash) {
    const hash = createHash('sha256').update(`${backend} ${from}`).digest()
    for (let index = 0; index < perHash; index++) weights[from + index] = hash.readUInt32LE(index * 4)
  }
  return weights
}

function elementOf(backend: string): SetElement {
  const { address, port } = partsOf(backend)
  return { concat: [address, port] }
}
