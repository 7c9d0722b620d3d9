import { lastAddress, tryParseCidr } from '@kube-ovn/ip'
import type { NumberToken, Token } from './lexer.ts'
import { parseMatch, type Bits, type Expression } from './parse.ts'
import type { Relation } from './relation.ts'

/** First and last value of a field. */
type Range = readonly [first: bigint, last: bigint]

/** Values of a field; a text for those that only have a name: sets, groups and ports. */
type Values = readonly Range[] | string

/** Packets that have one of these values in each of these fields, and anything in all others. */
type Box = ReadonlyMap<string, Values>

/** Packets that an expression is about for sure: all that are in one of these. It may be about more. */
export type Extent = readonly Box[]

/** As many ranges of values an extent may have: a longer expression has none. So comparing two of them is bounded. */
const mostRanges = 32

/**
 * Reads which packets an expression is about for sure, one that {@link checkMatch} takes. What is not read, like negations, bits of fields, or marks of
 * connections, adds none.
 */
export function extentOf(text: string): Extent {
  return extentOfExpression(parseMatch(text))
}

/** Whether there is a packet that both are about, provided that sets and groups have members. */
export function meet(one: Extent, other: Extent): boolean {
  return one.some((box) => other.some((theirs) => common(box, theirs) !== undefined))
}

function common(one: Box, other: Box): Box | undefined {
  const both = new Map(one)
  for (const [field, theirs] of other) {
    const own = one.get(field)
    const values = own === undefined ? theirs : commonValues(own, theirs)
    if (values === undefined) return undefined
    both.set(field, values)
  }
  return both
}

/** None where it is not known. */
function commonValues(one: Values, other: Values): Values | undefined {
  if (typeof one === 'string' || typeof other === 'string') return one === other ? one : undefined
  const ranges = one.flatMap(([first, last]) =>
    other
      .map(([otherFirst, otherLast]): Range => [
        first > otherFirst ? first : otherFirst,
        last < otherLast ? last : otherLast,
      ])
      .filter(isRange),
  )
  return ranges.length === 0 ? undefined : ranges
}

function isRange([first, last]: Range): boolean {
  return first <= last
}

function and(one: Extent, other: Extent): Extent {
  return bounded(
    one.flatMap((box) => other.map((theirs) => common(box, theirs)).filter((both) => both !== undefined)),
  )
}

function bounded(extent: Extent): Extent {
  const count = extent
    .flatMap((box) => [...box.values()])
    .reduce((sum, values) => sum + (typeof values === 'string' ? 1 : values.length), extent.length)
  return count > mostRanges ? nothing : extent
}

const nothing: Extent = []
const everything: Extent = [new Map()]

function exactly(field: string, ...values: readonly number[]): Extent {
  return [new Map([[field, values.map((value): Range => [BigInt(value), BigInt(value)])]])]
}

const ip4 = exactly('eth.type', 0x800)
const ip6 = exactly('eth.type', 0x86dd)
const ip = exactly('eth.type', 0x800, 0x86dd)
const icmp4 = and(ip4, exactly('ip.proto', 1))
const icmp6 = and(ip6, exactly('ip.proto', 58))

/** @see ovn_init_symtab of lib/logical-fields.c */
const predicates: ReadonlyMap<string, Extent> = new Map([
  ...Object.entries({ ip, ip4, ip6, icmp4, icmp6, icmp: [...icmp4, ...icmp6] }),
  ['arp', exactly('eth.type', 0x806)],
  ['tcp', and(ip, exactly('ip.proto', 6))],
  ['udp', and(ip, exactly('ip.proto', 17))],
  ['sctp', and(ip, exactly('ip.proto', 132))],
])

/** Fields of any packet. */
const general: ReadonlySet<string> = new Set(['inport', 'outport', 'eth.src', 'eth.dst', 'eth.type'])

/** Fields of packets of their header alone, whose values nothing else says. */
const ofHeader =
  /^(?:ip4|ip6)\.(?:src|dst)$|^(?:tcp|udp|sctp)\.(?:src|dst)$|^icmp[46]\.(?:type|code)$|^ip\.(?:proto|ttl|dscp|ecn)$/

/** The packets that have the field; none where it is not read. */
function havingField(name: string): Extent {
  if (general.has(name)) return everything
  return ofHeader.test(name) ? (predicates.get(name.slice(0, name.indexOf('.'))) ?? nothing) : nothing
}

function extentOfExpression(expression: Expression): Extent {
  switch (expression.kind) {
    case 'truth':
      return expression.isTrue ? everything : nothing
    case 'field':
      return expression.field.isPart ? nothing : (predicates.get(expression.field.name) ?? nothing)
    case 'comparison':
      return compared(expression.field, expression.relation, expression.constants)
    case 'and':
      return expression.operands.map(extentOfExpression).reduce(and, everything)
    case 'or':
      return expression.operands
        .map(extentOfExpression)
        .reduce((one, other) => bounded([...one, ...other]), nothing)
    case 'not':
    case 'residence':
      return nothing
  }
}

function compared({ name, width, isPart }: Bits, relation: Relation, constants: readonly Token[]): Extent {
  if (isPart) return nothing
  const numbers = constants.filter((token) => token.kind === 'number')
  const values =
    numbers.length === constants.length
      ? rangesOf(relation, numbers, 2n ** BigInt(width) - 1n)
      : `${relation} ${constants.map(({ text }) => text).join(' ')}`
  return values.length === 0 ? nothing : and(havingField(name), bounded([new Map([[name, values]])]))
}

function rangesOf(relation: Relation, numbers: readonly NumberToken[], last: bigint): readonly Range[] {
  const ranges = numbers.map(rangeOf)
  if (!ranges.every((range) => range !== undefined)) return []
  if (relation === '==' || ranges.length > mostRanges) return ranges
  const [[from, to] = [0n, 0n]] = ranges
  if (relation === '!=')
    return ranges.reduce<readonly Range[]>(
      (rest, [first, end]) => {
        const others = [[0n, first - 1n] as const, [end + 1n, last] as const].filter(isRange)
        return (commonValues(rest, others) ?? []) as readonly Range[]
      },
      [[0n, last]],
    )
  const wanted: Readonly<Record<Exclude<Relation, '==' | '!='>, Range>> = {
    '<': [0n, from - 1n],
    '<=': [0n, to],
    '>': [to + 1n, last],
    '>=': [from, last],
  }
  return [wanted[relation]].filter(isRange)
}

function rangeOf({ text, value, isMasked }: NumberToken): Range | undefined {
  if (!isMasked) return [value, value]
  const prefix = tryParseCidr(text)
  return prefix === undefined ? undefined : [BigInt(prefix.network), BigInt(lastAddress(prefix))]
}
