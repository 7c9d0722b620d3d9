import { tryParseCidr } from '@kube-ovn/ip'
import type { Token } from './lexer.ts'
import { parseMatch, type Bits, type Expression } from './parse.ts'
import type { Relation } from './relation.ts'

/** What a field may be, as far as it decides how many OpenFlow rules that is: each has a value and a mask. */
type Values =
  /** Prefixes, or single values, by their length in bits. */
  | { readonly kind: 'prefixes'; readonly lengths: readonly (readonly [length: number, count: number])[] }
  /** All but these. */
  | { readonly kind: 'others'; readonly lengths: readonly number[] }
  | { readonly kind: 'range'; readonly first: bigint; readonly last: bigint; readonly width: number }
  | { readonly kind: 'counted'; readonly count: number }

/** By field; packets are anything in all others. What is about several fields at once has none. */
type Terms = ReadonlyMap<string, Values>

/**
 * How many OpenFlow rules ovn-controller makes of a match at most, where the port that it is about is one; none where that can not be told.
 *
 * Values of one field are a rule each. Where several fields have several, they stay apart: a rule for each value, and one for those that meet
 * (conjunctive match of ovs-fields(7)).
 *
 * @param text one that {@link parseMatch} takes
 * @param membersOf how many are in an address set `$name` or a port group `@name`
 * @see expr_normalize and expr_to_matches of lib/expr.c of OVN
 */
export function flowsOf(text: string, membersOf: (reference: string) => number): number | undefined {
  const terms = termsOf(parseMatch(text), membersOf)
  return terms === undefined ? undefined : countOf(terms)
}

/**
 * How many values with masks OVN makes of a range: of its first value, and of each number that has a bit more than it; of its last value, and of
 * each that has one less.
 *
 * @see expr_simplify_relational of lib/expr.c of OVN
 */
export function masksOfRange(first: bigint, last: bigint, width: number): number {
  if (first > last) return 0
  const bits = [...Array.from({ length: width }).keys()].map((bit) => 1n << BigInt(bit))
  const isOpen = { below: first === 0n, above: last === (1n << BigInt(width)) - 1n }
  // Above the highest bit in which both differ they exclude each other.
  const inside = isOpen.below || isOpen.above ? bits : bits.filter((bit) => bit << 1n <= (first ^ last))
  const more = isOpen.below ? 0 : 1 + inside.filter((bit) => (first & bit) === 0n).length
  const fewer = isOpen.above ? 0 : 1 + inside.filter((bit) => (last & bit) !== 0n).length
  return first === last || more + fewer === 0 ? 1 : more + fewer
}

/** Fields with names rather than amounts that are not ports: OVN makes rules for each value of these by all others. */
function isMultiplied(field: string): boolean {
  return field === severalFields || field === 'eth.type' || /^ip\.proto$|^icmp[46]\./.test(field)
}

const severalFields = ''
const family = 'eth.type'

function countOf(terms: Terms): number {
  const counts = [...terms].map(([field, values]) => ({
    isMultiplied: isMultiplied(field),
    count: sizeOf(values),
  }))
  if (counts.some(({ count }) => count === 0)) return 0
  const product = counts.reduce((total, one) => total * (one.isMultiplied ? one.count : 1), 1)
  const apart = counts.filter((one) => !one.isMultiplied && one.count > 1).map(({ count }) => count)
  const [first = 1, ...more] = apart
  return product * (more.length === 0 ? first : apart.reduce((sum, count) => sum + count, 1))
}

function sizeOf(values: Values): number {
  switch (values.kind) {
    case 'prefixes':
      return values.lengths.reduce((sum, [, count]) => sum + count, 0)
    case 'others':
      return exceptIn(0, values.lengths)
    case 'range':
      return masksOfRange(values.first, values.last, values.width)
    case 'counted':
      return values.count
  }
}

/** Of each exception the bits in which an address differs from it, multiplied out. */
function exceptIn(length: number, exceptions: readonly number[]): number {
  return exceptions.reduce((product, one) => product * Math.max(1, one - length), 1)
}

/** Words for packets of either family. */
const ofBothFamilies: ReadonlySet<string> = new Set(['ip', 'tcp', 'udp', 'sctp', 'icmp'])

function termsOf(expression: Expression, membersOf: (reference: string) => number): Terms | undefined {
  switch (expression.kind) {
    case 'truth':
      return new Map(expression.isTrue ? [] : [[severalFields, counted(0)]])
    case 'field':
      return expression.field.isPart ? undefined : familyTerms(expression.field.name)
    case 'comparison': {
      const { field, relation, constants } = expression
      const values = field.isPart ? undefined : compared(field, relation, constants, membersOf)
      return values === undefined
        ? undefined
        : new Map([...familyTerms(field.name.split('.')[0] ?? ''), [field.name, values]])
    }
    case 'and':
      return expression.operands.reduce<Terms | undefined>((both, operand) => {
        const terms = termsOf(operand, membersOf)
        return both === undefined || terms === undefined ? undefined : met(both, terms)
      }, new Map())
    case 'or':
      return either(expression.operands.map((operand) => termsOf(operand, membersOf)))
    case 'not':
    case 'residence':
      return undefined
  }
}

function familyTerms(word: string): Terms {
  if (ofBothFamilies.has(word)) return new Map([[family, counted(2)]])
  return new Map(/^(?:ip|icmp)[46]$/.test(word) ? [[family, counted(1)]] : [])
}

function counted(count: number): Values {
  return { kind: 'counted', count }
}

function compared(
  { width, level }: Bits,
  relation: Relation,
  constants: readonly Token[],
  membersOf: (reference: string) => number,
): Values | undefined {
  if (relation === '==')
    return {
      kind: 'prefixes',
      lengths: constants.map((constant) => [lengthOf(constant, width), membersIn(constant, membersOf)]),
    }
  if (level === 'nominal') return undefined
  if (relation === '!=')
    return {
      kind: 'others',
      lengths: constants.flatMap((constant) =>
        Array.from({ length: membersIn(constant, membersOf) }, () => lengthOf(constant, width)),
      ),
    }
  const [constant] = constants
  if (constant?.kind !== 'number') return undefined
  const highest = (1n << BigInt(width)) - 1n
  const { value } = constant
  const bounds = {
    '<': [0n, value - 1n],
    '<=': [0n, value],
    '>': [value + 1n, highest],
    '>=': [value, highest],
  } as const
  const [first, last] = bounds[relation]
  return { kind: 'range', first, last, width }
}

function membersIn({ kind, text }: Token, membersOf: (reference: string) => number): number {
  return kind === 'set' || kind === 'group' ? membersOf(text) : 1
}

/** Members of sets are taken for addresses. */
function lengthOf(constant: Token, width: number): number {
  const isMasked = constant.kind === 'number' && constant.isMasked
  return isMasked ? (tryParseCidr(constant.text)?.prefixLength ?? width) : width
}

function met(one: Terms, other: Terms): Terms {
  const both = new Map(one)
  for (const [field, values] of other) {
    const before = one.get(field)
    both.set(field, before === undefined ? values : meeting(field, before, values))
  }
  return both
}

/** What is left of values of a field, at most. */
function meeting(field: string, one: Values, other: Values): Values {
  if (one.kind === 'range' && other.kind === 'range')
    return {
      ...one,
      first: one.first > other.first ? one.first : other.first,
      last: one.last < other.last ? one.last : other.last,
    }
  if (one.kind === 'prefixes' && other.kind === 'others') return without(one.lengths, other.lengths)
  if (one.kind === 'others' && other.kind === 'prefixes') return without(other.lengths, one.lengths)
  const [here, there] = [sizeOf(one), sizeOf(other)]
  return counted(field === family ? Math.min(here, there) : here * there)
}

function without(
  lengths: readonly (readonly [length: number, count: number])[],
  exceptions: readonly number[],
): Values {
  return {
    kind: 'prefixes',
    lengths: lengths.map(([length, count]) => [length, count * exceptIn(length, exceptions)]),
  }
}

/** Values of one field may be taken together; what is about several fields is a rule for each of them. */
function either(all: readonly (Terms | undefined)[]): Terms | undefined {
  const terms = all.filter((one) => one !== undefined)
  if (terms.length < all.length) return undefined
  const names = new Set(terms.flatMap((one) => [...one.keys()].filter((field) => field !== family)))
  const families = Math.max(0, ...terms.map((one) => sizeOf(one.get(family) ?? counted(1))))
  const [name, ...others] = names
  const isOfOne = name !== undefined && others.length === 0 && terms.every((one) => one.has(name))
  if (!isOfOne) return new Map([[severalFields, counted(terms.reduce((sum, one) => sum + countOf(one), 0))]])
  const count = terms.reduce((sum, one) => sum + sizeOf(one.get(name) ?? counted(0)), 0)
  return new Map([
    [family, counted(families)],
    [name, counted(count)],
  ])
}
