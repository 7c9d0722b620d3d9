import { type AtomType, type ColumnType, defaultValue, emptyMap } from './column-type.ts'
import { InexactIntegerError, ProtocolError } from './errors.ts'
import type { Atom, Value } from './types.ts'
import { compareAtoms } from './value.ts'

/**
 * Reads a <value> of RFC 7047, section 5.1.
 *
 * Throws {@link ProtocolError} when it is not of the type, and {@link InexactIntegerError} on an integer that lost digits.
 */
export function decodeValue(type: ColumnType, wire: unknown): Value {
  switch (type.shape) {
    case 'single': {
      const [only] = elements(wire)
      return only === undefined ? defaultValue(type) : decodeAtom(type.atom, only)
    }
    case 'set': {
      const atoms = elements(wire).map((element) => decodeAtom(type.atom, element))
      return isAscending(atoms) ? atoms : atoms.sort(compareAtoms)
    }
    case 'map': {
      const map = emptyMap()
      for (const [key, value] of pairs(wire)) {
        map[String(decodeAtom(type.key, key))] = decodeAtom(type.value, value)
      }
      return map
    }
  }
}

/** A set of exactly one element may stand for itself (RFC 7047, section 5.1). */
function elements(wire: unknown): readonly unknown[] {
  if (!Array.isArray(wire) || wire[0] !== 'set') return [wire]
  if (!Array.isArray(wire[1])) throw new ProtocolError('set without a list of elements', wire)
  return wire[1]
}

/** The server sends sets in its own order, which differs from ours for some strings only. */
function isAscending(atoms: readonly Atom[]): boolean {
  for (let index = 1; index < atoms.length; index++) {
    const [before, atom] = [atoms[index - 1], atoms[index]]
    if (before !== undefined && atom !== undefined && before > atom) return false
  }
  return true
}

function pairs(wire: unknown): readonly (readonly [unknown, unknown])[] {
  if (!Array.isArray(wire) || wire[0] !== 'map' || !Array.isArray(wire[1])) {
    throw new ProtocolError('value of a map column is not a map', wire)
  }
  return wire[1] as (readonly [unknown, unknown])[]
}

function decodeAtom(type: AtomType, wire: unknown): Atom {
  switch (type) {
    case 'uuid':
      if (Array.isArray(wire) && wire[0] === 'uuid' && typeof wire[1] === 'string') return wire[1]
      break
    case 'integer':
      // Adding zero makes one of the two zeros.
      if (Number.isSafeInteger(wire)) return (wire as number) + 0
      if (typeof wire === 'bigint') return wire
      if (Number.isInteger(wire)) throw new InexactIntegerError(wire as number)
      break
    case 'real':
      if (Number.isFinite(wire)) return (wire as number) + 0
      if (typeof wire === 'bigint') return Number(wire)
      break
    case 'boolean':
    case 'string':
      if (typeof wire === type) return wire as Atom
  }
  throw new ProtocolError(`atom is not of type ${type}`, wire)
}
