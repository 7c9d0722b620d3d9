import type { Cluster, LabNode } from '../cluster/cluster.ts'
import { insidePodNetwork, type Place } from '../namespaces.ts'
import { LabTimeoutError } from '../errors.ts'
import type { PodObject } from '../kubernetes/workloads.ts'

/** One line of the table: a claim, what it says should be seen, and what was seen. */
export interface CheckRow {
  readonly name: string
  readonly expected: string
  readonly seen: string
  readonly isOk: boolean
}

/** A group of claims about the running product. */
export interface Check {
  readonly name: string
  run(cluster: Cluster): Promise<readonly CheckRow[]>
}

/** A row that holds if both texts are equal. */
export function equalRow(
  name: string,
  expected: string | number,
  seen: string | number | undefined,
): CheckRow {
  return {
    name,
    expected: String(expected),
    seen: String(seen ?? 'nothing'),
    isOk: String(expected) === String(seen),
  }
}

/** A row that holds if all of a number of attempts succeeded. */
export function countRow(name: string, succeeded: number, total: number): CheckRow {
  return {
    name,
    expected: `${total} of ${total}`,
    seen: `${succeeded} of ${total}`,
    isOk: total > 0 && succeeded === total,
  }
}

/** A row for a claim that is true or false. */
export function claimRow(name: string, isTrue: boolean, expected: string, otherwise: string): CheckRow {
  return { name, expected, seen: isTrue ? expected : otherwise, isOk: isTrue }
}

/** A row that holds if something took at most as long as allowed. */
export function durationRow(name: string, ms: number | undefined, limitMs: number): CheckRow {
  const seen = ms === undefined ? 'did not happen' : `${Math.round(ms)} ms`
  return { name, expected: `≤ ${limitMs} ms`, seen, isOk: ms !== undefined && ms <= limitMs }
}

/** A row that holds if `work` ends in the time that it gives itself. */
export async function happensRow(
  name: string,
  expected: string,
  work: () => Promise<unknown>,
): Promise<CheckRow> {
  try {
    await work()
    return { name, expected, seen: expected, isOk: true }
  } catch (error) {
    if (!(error instanceof LabTimeoutError)) throw error
    return {
      name,
      expected,
      seen: `not within ${error.details.timeoutMs / 1000} s: ${error.details.seen}`,
      isOk: false,
    }
  }
}

/** The node that a pod runs on. */
export function nodeOf(cluster: Cluster, pod: PodObject): LabNode {
  const node = cluster.nodes.find(({ name }) => name === pod.spec.nodeName)
  if (node === undefined) throw missing(`node of pod ${pod.metadata.name}`)
  return node
}

/** The network of a running pod. */
export function placeOf(cluster: Cluster, pod: PodObject): Place {
  const place = insidePodNetwork(nodeOf(cluster, pod).container, pod.metadata.uid ?? '')
  if (place === undefined) throw missing(`process of pod ${pod.metadata.name}`)
  return place
}

/** The first member, which the caller knows to exist. */
export function firstOf<T>(members: readonly T[], what: string): T {
  const [first] = members
  if (first === undefined) throw missing(what)
  return first
}

function missing(what: string): LabTimeoutError {
  return new LabTimeoutError('something that a check needs is missing', {
    what,
    timeoutMs: 0,
    seen: 'nothing',
  })
}

/** `IPv4` or `IPv6`. */
export function familyOf(address: string): 'IPv4' | 'IPv6' {
  return address.includes(':') ? 'IPv6' : 'IPv4'
}
