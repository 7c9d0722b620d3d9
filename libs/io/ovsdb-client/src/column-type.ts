import type { Atom, BaseTypeSchema, ColumnSchema, Value } from './types.ts'

export type AtomType = 'integer' | 'real' | 'boolean' | 'string' | 'uuid'

/** A column's <type> (RFC 7047, section 3.2) in the terms of {@link Value}. */
export type ColumnType = SingleType | SetType | MapType

/** At most one value: shown as the value itself. */
interface SingleType {
  readonly shape: 'single'
  readonly atom: AtomType
  readonly isOptional: boolean
}

interface SetType {
  readonly shape: 'set'
  readonly atom: AtomType
  readonly isOptional: boolean
}

interface MapType {
  readonly shape: 'map'
  readonly key: AtomType
  readonly value: AtomType
  readonly isOptional: boolean
  /** Takes one entry only. A difference of such a column is its new value, see `applyDifference`. */
  readonly isSingular: boolean
}

/** The `_uuid` and `_version` that every table has (RFC 7047, section 3.2). */
export const uuidColumn: ColumnType = { shape: 'single', atom: 'uuid', isOptional: false }

export function parseColumnType(schema: ColumnSchema): ColumnType {
  const type = typeof schema.type === 'string' ? { key: schema.type } : schema.type
  const isOptional = (type.min ?? 1) === 0
  const isSingular = (type.max ?? 1) === 1
  const atom = atomType(type.key)
  if (type.value !== undefined) {
    return { shape: 'map', key: atom, value: atomType(type.value), isOptional, isSingular }
  }
  return { shape: isSingular ? 'single' : 'set', atom, isOptional }
}

/**
 * Tells whether every value of a column of type `theirs` can be shown as one of type `ours`.
 *
 * The two differ when a server has another version of the schema. What an update says about a column depends on whether it
 * takes more than one value, so that must be the same.
 */
export function isReadableAs(ours: ColumnType, theirs: ColumnType): boolean {
  if (theirs.isOptional && !ours.isOptional) return false
  if (ours.shape === 'map') {
    const isMap = theirs.shape === 'map' && theirs.key === ours.key && theirs.value === ours.value
    return isMap && theirs.isSingular === ours.isSingular
  }
  return theirs.shape === ours.shape && theirs.atom === ours.atom
}

/** The value of a column that an insert left out (RFC 7047, section 5.2.1). */
export function defaultValue(type: ColumnType): Value {
  if (type.shape === 'map') {
    return type.isOptional ? emptyMap() : mapOf([[String(defaults[type.key]), defaults[type.value]]])
  }
  if (type.shape === 'set') return type.isOptional ? [] : [defaults[type.atom]]
  return type.isOptional ? undefined : defaults[type.atom]
}

const defaults: Readonly<Record<AtomType, Atom>> = {
  integer: 0,
  real: 0,
  boolean: false,
  string: '',
  uuid: '00000000-0000-0000-0000-000000000000',
}

/**
 * Makes the objects that hold maps.
 *
 * Nothing is inherited: `row.external_ids['constructor']` is `undefined`, and `__proto__` is a key like any other.
 * `Object.create(null)` would do, too, but V8 then keeps every map as a hash table of its own.
 */
const MapObject = (() => {
  function MapObject(): void {}
  MapObject.prototype = Object.freeze(Object.create(null) as object)
  return MapObject as unknown as new () => Record<string, Atom> // a function with a prototype is a constructor
})()

export function emptyMap(): Record<string, Atom> {
  return new MapObject()
}

export function mapOf(entries: Iterable<readonly [string, Atom]>): Record<string, Atom> {
  const map = emptyMap()
  for (const [key, value] of entries) map[key] = value
  return map
}

function atomType(base: string | BaseTypeSchema): AtomType {
  return (typeof base === 'string' ? base : base.type) as AtomType
}
