import {
  AddressList,
  formatIp,
  isIpv4Range,
  mostEntries,
  parseIpRange,
  tryParseIpRange,
  type AddressSpan,
  type DualStackIp,
} from '@kube-ovn/ip'
import { annotation, type Annotation } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'
import { words } from './words.ts'

/** Addresses that a workload's pods share: those of an IPPool object, or a list of its own. */
export type AddressPool =
  { readonly kind: 'named'; readonly name: string } | { readonly kind: 'list'; readonly entries: AddressList }

/** More than a workload has pods: a longer list is a slip in a range. */
const mostAddresses = 4096

/**
 * A name, or entries: separated by semicolons, each an address or `v4,v6`; or separated by commas, one address each,
 * but for two of different families, which are one entry. `a..b` stands for all addresses between, one entry each.
 *
 * Ranges are counted and kept, never expanded.
 */
export function addressPoolAnnotation(key: string): Annotation<AddressPool> {
  return annotation(key, parsePool, formatPool)
}

function parsePool(text: string, field: string): AddressPool {
  const refuse = (cure: string) => new AnnotationInvalidError({ field, value: text, cure })
  if (text.includes(';')) return listOf(words(text, ';'), field, refuse)
  const [first, second, third] = words(text, ',').take(3)
  if (first !== undefined && second === undefined && tryParseIpRange(first) === undefined) {
    return { kind: 'named', name: first }
  }
  const isOneEntry = second !== undefined && third === undefined && isPair(first, second)
  return listOf(isOneEntry ? [text] : words(text, ','), field, refuse)
}

function formatPool(pool: AddressPool): string {
  return pool.kind === 'named' ? pool.name : String(pool.entries)
}

/** Whether both are addresses, and of different families. */
function isPair(first = '', second: string): boolean {
  const [one, other] = [tryParseIpRange(first), tryParseIpRange(second)]
  return one !== undefined && other !== undefined && isIpv4Range(one) !== isIpv4Range(other)
}

type Refuse = (cure: string) => AnnotationInvalidError

function listOf(texts: Iterable<string>, field: string, refuse: Refuse): AddressPool {
  const entries = new AddressList(spansOf(texts, field, refuse))
  if (entries.length === 0) throw refuse('list addresses, name an IPPool, or remove the annotation')
  return { kind: 'list', entries }
}

/** Ends with the entry that is one too many, however many there are. */
function* spansOf(texts: Iterable<string>, field: string, refuse: Refuse): Generator<AddressSpan> {
  let written = 0
  let total = 0
  for (const text of texts) {
    const span = spanOf(text, field, refuse)
    total += span.count
    if (total > mostAddresses) throw refuse(`list at most ${mostAddresses} addresses, or make an IPPool`)
    if (++written > mostEntries)
      throw refuse(`write neighbours as ranges, ${mostEntries} at most, or make an IPPool`)
    yield span
  }
}

/** One entry, or as many as its ranges have addresses. */
function spanOf(text: string, field: string, refuse: Refuse): AddressSpan {
  const [one, other, third] = words(text, ',').take(3)
  if (third !== undefined) throw refuse('give each entry at most one address of each family: v4,v6')
  const span = rangeOf(one ?? '', field, refuse)
  if (other === undefined) return span
  const { first, count } = rangeOf(other, field, refuse)
  if (span.count !== count) throw refuse('give both families of an entry ranges of the same length')
  const both: DualStackIp = { v4: span.first.v4 ?? first.v4, v6: span.first.v6 ?? first.v6 }
  if (both.v4 === undefined || both.v6 === undefined)
    throw refuse('give an entry one address of each family: v4,v6')
  return { first: both, count }
}

function rangeOf(text: string, field: string, refuse: Refuse): AddressSpan {
  const range = parseIpRange(text, field)
  const isOne = range.first === range.last
  const count = isOne ? 1 : Number(BigInt(range.last) - BigInt(range.first)) + 1
  if (count > mostAddresses || text.includes('/')) {
    const shown = `${formatIp(range.first)}..${formatIp(range.last)}`
    throw refuse(`list at most ${mostAddresses} addresses, as ${shown}, or make an IPPool`)
  }
  return {
    first: isIpv4Range(range) ? { v4: range.first, v6: undefined } : { v4: undefined, v6: range.first },
    count,
  }
}
