import type { NewValue, RowBase, RowChange, Uuid } from 'ovsdb-client'
import type { Catalog, Column } from './catalog.ts'
import { areAdditions } from './additions.ts'
import { changedElements, changedEntries, columnOf, elementsOf, mapOf } from './rows.ts'
import type { InsertStep, MutateStep, Step } from './steps.ts'
import { asElements, asMap, isEqualValue, isInitial, type Element } from './values.ts'

/**
 * Tells whether the database changed by exactly what was sent, since that was planned: then there is no need to plan again to
 * know that nothing is left to do.
 *
 * It knows new rows and what joins sets and maps, which is all that a burst of new objects brings. Of anything else it says no.
 */
export function haveJustLanded(
  steps: readonly Step[],
  changes: readonly RowChange[],
  catalog: Catalog,
): boolean {
  if (!areAdditions(steps, catalog)) return false
  const awaited = new Map<Uuid, Step>()
  for (const step of steps) {
    if (step.uuid === undefined) return false
    awaited.set(step.uuid, step)
  }
  for (const change of changes) {
    const step = awaited.get(change.uuid)
    const columns = catalog.tables.get(change.table)?.columns
    if (step === undefined || columns === undefined) return false
    const isExpected =
      step.do === 'insert'
        ? isInserted(change, step, columns)
        : step.do === 'mutate' && isExtended(change, step, columns)
    if (!isExpected) return false
    awaited.delete(change.uuid)
  }
  return awaited.size === 0
}

type Columns = ReadonlyMap<string, Column>

function isInserted({ old, new: row }: RowChange, step: InsertStep, columns: Columns): boolean {
  if (old !== undefined || row === undefined) return false
  for (const [name, column] of columns) {
    const wanted = step.columns[name]
    // What is not monitored can not be compared, and drifts unseen anyway.
    if (!(name in row)) continue
    if (
      wanted === undefined
        ? !isInitial(column, columnOf(row, name))
        : !isEqualValue(row, name, column, wanted)
    )
      return false
  }
  return true
}

/** A change of a row that was there, and is. */
type Extension = RowChange & { readonly old: RowBase; readonly new: RowBase }

function isExtension(change: RowChange): change is Extension {
  return change.old !== undefined && change.new !== undefined
}

function isExtended(change: RowChange, step: MutateStep, columns: Columns): boolean {
  if (!isExtension(change)) return false
  const { old, new: row } = change
  const joining = new Map<string, NewValue>(step.mutations.map(([name, , value]) => [name, value]))
  for (const [name, { shape }] of columns) {
    if (columnOf(old, name) === columnOf(row, name)) continue
    if (!joining.has(name)) return false
    const expected = joining.get(name)
    const isExpected =
      shape === 'map'
        ? haveJoinedMap(change, name, asMap(expected))
        : haveJoinedSet(change, name, asElements(expected))
    if (!isExpected) return false
    joining.delete(name)
  }
  return joining.size === 0
}

/** As many more as were sent: then none has left, and each that differs has joined. */
function haveJoinedSet(change: Extension, name: string, expected: readonly Element[]): boolean {
  const joined = changedElements(change, name)
  const more = elementsOf(change.new, name).length - elementsOf(change.old, name).length
  if (joined.length !== expected.length || more !== expected.length) return false
  const sent = new Set<Element>(expected)
  return joined.every((element) => sent.has(element))
}

function haveJoinedMap(
  change: Extension,
  name: string,
  expected: Readonly<Record<string, Element>>,
): boolean {
  const joined = changedEntries(change, name)
  const [before, after] = [mapOf(change.old, name), mapOf(change.new, name)]
  return (
    joined.length === Object.keys(expected).length &&
    joined.every(
      (key) => before[key] === undefined && after[key] !== undefined && after[key] === expected[key],
    )
  )
}
