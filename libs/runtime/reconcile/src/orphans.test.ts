import { expect, it } from 'vitest'
import { MemoryRows } from './memory-rows.ts'
import { excessiveDeletions, kindMarkOf, ownersIn, rowsOwnedBy } from './orphans.ts'
import { catalog, kinds, reconcile, row, schema, want } from './plan-fixture.ts'

function switches(count: number): MemoryRows {
  const rows = new MemoryRows(schema)
  reconcile(
    rows,
    Array.from({ length: count }, (_, n) => want(`s${n}`, [row(kinds.ls, `s${n}`)])),
  )
  return rows
}

function doomed(rows: MemoryRows, count: number) {
  const all = [...ownersIn(rows, catalog)]
    .slice(0, count)
    .flatMap((owner) => rowsOwnedBy(owner, rows, catalog))
  return all.map((one) => ({ ...one, kind: kindMarkOf(one.row) ?? '' }))
}

it.each([
  [50, 60, 0],
  [51, 60, 1],
  [51, 510, 0],
  [52, 510, 1],
])('finds that %d of %d rows are too many: %d kinds', (some, all, kindsHeld) => {
  const rows = switches(all)
  const held = excessiveDeletions(doomed(rows, some), rows, catalog)
  expect(held.map(({ kind, rows: count, of }) => [kind, count, of])).toEqual(
    kindsHeld === 0 ? [] : [['ls', some, all]],
  )
})
