import type { AtomType, ColumnType } from './column-type.ts'
import type { Atom, NamedUuid, NewValue } from './types.ts'

/** Why a value does not fit its column; the caller knows which column that is. */
export interface Misfit {
  readonly expected: string
}

/** Writes a <value> of RFC 7047, section 5.1, or tells what would have been right. */
export function encodeValue(type: ColumnType, value: NewValue): { readonly wire: unknown } | Misfit {
  const wire = wireValue(type, value)
  return wire === undefined ? { expected: describe(type) } : { wire }
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
  if (type === 'integer' || type === 'real') return key === '' ? key : Number(key)
  if (type === 'boolean') return key === 'true' ? true : key === 'false' ? false : key
  return key
}

function wireAtom(type: AtomType, value: Atom | NamedUuid): unknown {
  if (typeof value === 'object') return type === 'uuid' ? ['named-uuid', value.named] : undefined
  switch (type) {
    case 'uuid':
      return typeof value === 'string' && uuidPattern.test(value) ? ['uuid', value] : undefined
    case 'integer':
      return Number.isSafeInteger(value) ? value : undefined
    case 'real':
      return Number.isFinite(value) ? value : undefined
    case 'boolean':
    case 'string':
      return typeof value === type ? value : undefined
  }
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function isAtom(value: NewValue): value is Atom | NamedUuid {
  return (
    typeof value !== 'object' || (!Array.isArray(value) && typeof (value as NamedUuid).named === 'string')
  )
}

function describe(type: ColumnType): string {
  if (type.shape === 'map') return `an object of ${type.value} values by ${type.key} keys`
  if (type.shape === 'set') return `a list of ${type.atom} values`
  return type.isOptional ? `${article(type.atom)} value or undefined` : `${article(type.atom)} value`
}

function article(type: AtomType): string {
  return type === 'integer' ? `an ${type}` : `a ${type}`
}
