import type { AtomType, ColumnType } from './column-type.ts'
import { rawJson, shortestInteger } from './integer.ts'
import type { Atom, NamedUuid, NewValue } from './types.ts'

/** Why a value does not fit its column; the caller knows which column that is. */
export interface Misfit {
  readonly expected: string
}

/** Writes a <value> of RFC 7047, section 5.1, or tells what would have been right. */
export function encodeValue(type: ColumnType, value: NewValue): { readonly wire: unknown } | Misfit {
  const wire = wireValue(type, value)
  return wire === undefined ? { expected: describe(type, value) } : { wire }
}

/** Writes a set of keys, which as the argument of the `delete` mutator removes entries of a map whatever their value. */
export function encodeKeys(
  type: AtomType,
  keys: readonly (Atom | NamedUuid)[],
): { readonly wire: unknown } | Misfit {
  const wire = wireSet(type, keys)
  return wire === undefined ? { expected: `a list of ${type} keys` } : { wire }
}

function wireValue(type: ColumnType, value: NewValue): unknown {
  switch (type.shape) {
    case 'single':
      if (value === undefined) return type.isOptional ? ['set', []] : undefined
      return isAtom(value) ? wireAtom(type.atom, value) : undefined
    case 'set':
      if (value === undefined) return undefined
      return wireSet(type.atom, Array.isArray(value) ? value : [value])
    case 'map':
      if (typeof value !== 'object' || Array.isArray(value)) return undefined
      return wireMap(type.key, type.value, value as Readonly<Record<string, Atom | NamedUuid>>)
  }
}

function wireSet(type: AtomType, value: readonly (Atom | NamedUuid)[]): unknown {
  const atoms = value.map((element) => wireAtom(type, element))
  if (atoms.includes(undefined)) return undefined
  return atoms.length === 1 ? atoms[0] : ['set', atoms]
}

function wireMap(key: AtomType, value: AtomType, map: Readonly<Record<string, Atom | NamedUuid>>): unknown {
  const pairs = Object.entries(map).map(([k, v]) => [wireAtom(key, keyAtom(key, k)), wireAtom(value, v)])
  return pairs.some((pair) => pair.includes(undefined)) ? undefined : ['map', pairs]
}

/** Keys of an object are strings; those of a map column need not be. */
function keyAtom(type: AtomType, key: string): Atom {
  if (type === 'integer') return integerPattern.test(key) ? shortestInteger(BigInt(key)) : key
  if (type === 'real') return key.trim() === '' ? key : Number(key)
  if (type === 'boolean') return key === 'true' ? true : key === 'false' ? false : key
  return key
}

function wireAtom(type: AtomType, value: Atom | NamedUuid): unknown {
  if (typeof value === 'object') return type === 'uuid' ? ['named-uuid', value.named] : undefined
  switch (type) {
    case 'uuid':
      return typeof value === 'string' && uuidPattern.test(value) ? ['uuid', value] : undefined
    case 'integer':
      if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? rawJson(value) : undefined
      return Number.isSafeInteger(value) ? value : undefined
    case 'real':
      return typeof value === 'number' && isTransmissible(value) ? value : undefined
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'string':
      return typeof value === 'string' && isText(value) ? value : undefined
  }
}

/**
 * Tells whether ovsdb-server takes a string.
 *
 * It hangs up on a message with U+0000 or with half a surrogate pair, so nobody would learn which transaction was at fault.
 */
export function isText(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed()
}

/**
 * Tells whether a real comes back from ovsdb-server as it was sent.
 *
 * The server writes 15 significant digits, so one with more would seem to have been changed by somebody. It hangs up on
 * a subnormal one.
 */
function isTransmissible(value: number): boolean {
  if (value === 0) return true
  return (
    Number(value.toPrecision(15)) === value && Math.abs(value) >= smallestNormal && Number.isFinite(value)
  )
}

const smallestNormal = 2 ** -1022

/** Tells whether a name is an <id> of RFC 7047, section 3.1, as locks and new rows have. */
export function isIdentifier(name: string): boolean {
  return identifierPattern.test(name)
}

const identifierPattern = /^[a-zA-Z_][a-zA-Z0-9_]*$/

const integerPattern = /^-?\d+$/

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function isAtom(value: NewValue): value is Atom | NamedUuid {
  return (
    typeof value !== 'object' || (!Array.isArray(value) && typeof (value as NamedUuid).named === 'string')
  )
}

function describe(type: ColumnType, value: NewValue): string {
  const limit = limitOf(atomsOf(value), type.shape === 'map' ? [type.key, type.value] : [type.atom])
  if (type.shape === 'map') return `an object of ${type.value} values by ${type.key} keys${limit}`
  if (type.shape === 'set') return `a list of ${type.atom} values${limit}`
  return `${article(type.atom)} value${type.isOptional ? ' or undefined' : ''}${limit}`
}

function article(type: AtomType): string {
  return type === 'integer' ? `an ${type}` : `a ${type}`
}

/** Tells which limit is exceeded by a value that looks right. */
function limitOf(atoms: readonly unknown[], types: readonly AtomType[]): string {
  const texts = atoms.filter((atom) => typeof atom === 'string')
  const numbers = atoms.filter((atom) => Number.isFinite(atom))
  if (types.includes('string') && !texts.every(isText)) return ' without U+0000 and halves of surrogate pairs'
  if (types.includes('real') && numbers.length > 0) return ' of at most 15 significant digits'
  return types.includes('integer') && numbers.some(Number.isInteger) ? ', beyond ±2^53 as a bigint' : ''
}

function atomsOf(value: NewValue): readonly unknown[] {
  if (typeof value !== 'object') return [value]
  return Array.isArray(value) ? value : Object.entries(value).flat()
}
