import {
  formatIp,
  formatIpList,
  isIpv4Range,
  offsetIp,
  parseIpRange,
  tryParseIpRange,
  type DualStackIp,
  type Ip,
} from '@kube-ovn/ip'
import { annotation, splitNames, type Annotation } from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'

/** Addresses that a workload's pods share: those of an IPPool object, or a list of its own. */
export type AddressPool =
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'list'; readonly entries: readonly DualStackIp[] }

/** More entries than a workload has pods: a longer list is a slip in a range. */
const mostEntries = 4096

/**
 * A name, or entries: separated by semicolons, each an address or `v4,v6`; or separated by commas, one address each,
 * but for two of different families, which are one entry. `a..b` stands for all addresses between, one entry each.
 */
export function addressPoolAnnotation(key: string): Annotation<AddressPool> {
  return annotation(key, parsePool, formatPool)
}

function parsePool(text: string, field: string): AddressPool {
  if (!text.includes(';')) {
    const items = splitNames(text)
    const [first, second] = items
    if (first !== undefined && second === undefined && tryParseIpRange(first) === undefined) {
      return { kind: 'named', name: first }
    }
    if (!isPair(items)) return { kind: 'list', entries: parseEntries(items, text, field) }
  }
  return { kind: 'list', entries: parseEntries(text.split(';'), text, field) }
}

function formatPool(pool: AddressPool): string {
  return pool.kind === 'named' ? pool.name : pool.entries.map((entry) => formatIpList(entry)).join(';')
}

function isPair(items: readonly string[]): boolean {
  const [first, second, ...more] = items.map((item) => tryParseIpRange(item))
  return (
    first !== undefined &&
    second !== undefined &&
    more.length === 0 &&
    isIpv4Range(first) !== isIpv4Range(second)
  )
}

function parseEntries(texts: readonly string[], value: string, field: string): readonly DualStackIp[] {
  const entries = texts.filter((text) => text.trim() !== '').flatMap((text) => parseEntry(text, value, field))
  const refuse = (cure: string) => new AnnotationInvalidError({ field, value, cure })
  if (entries.length === 0) throw refuse('list addresses, name an IPPool, or remove the annotation')
  if (entries.length > mostEntries) throw refuse(`list at most ${mostEntries} addresses, or make an IPPool`)
  return entries
}

/** One entry, or as many as its ranges have addresses. */
function parseEntry(text: string, value: string, field: string): readonly DualStackIp[] {
  const parts = splitNames(text).map((part) => addressesOf(part, value, field))
  const [one = [], other, ...more] = parts
  const refuse = (cure: string) => new AnnotationInvalidError({ field, value, cure })
  if (more.length > 0) throw refuse('give each entry at most one address of each family: v4,v6')
  if (other === undefined) return one.map((address) => byFamily([address]))
  if (one.length !== other.length) throw refuse('give both families of an entry ranges of the same length')
  return one.map((address, index) => {
    const entry = byFamily([address, ...other.slice(index, index + 1)])
    if (entry.v4 === undefined || entry.v6 === undefined)
      throw refuse('give an entry one address of each family: v4,v6')
    return entry
  })
}

function addressesOf(text: string, value: string, field: string): readonly Ip[] {
  const { first, last } = parseIpRange(text, field)
  const count = Number(BigInt(last) - BigInt(first)) + 1
  if (count > mostEntries || text.includes('/')) {
    const cure = `list at most ${mostEntries} addresses, as ${formatIp(first)}..${formatIp(last)}, or make an IPPool`
    throw new AnnotationInvalidError({ field, value, cure })
  }
  return Array.from({ length: count }, (_, index) => offsetIp(first, BigInt(index)))
}

function byFamily(addresses: readonly Ip[]): DualStackIp {
  return {
    v4: addresses.find((address) => typeof address === 'number'),
    v6: addresses.find((address) => typeof address === 'bigint'),
  }
}
