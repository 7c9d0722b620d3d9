import { describe, expect, it } from 'vitest'
import { LocalRows } from './local-rows.ts'
import { excessiveDeletions, holdBack, kindMarkOf, ownersIn, rowsOwnedBy } from './orphans.ts'
import { catalog, kinds, reconcile, row, schema, want } from './plan-fixture.ts'

function switches(count: number): LocalRows {
  const rows = new LocalRows(schema)
  reconcile(
    rows,
    Array.from({ length: count }, (_, n) => want(`s${n}`, [row(kinds.ls, `s${n}`)])),
  )
  return rows
}

function doomed(rows: LocalRows, count: number) {
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

describe('holdBack', () => {
  /** `count` switches of as many owners, with a port in the first of them, and groups. */
  function world(count: number) {
    const rows = new LocalRows(schema)
    const port = { of: { kind: 'ls', id: 's0' }, column: 'ports', value: { kind: 'lsp', id: 'p' } }
    const inGroup = { of: { kind: 'pg', id: 'g1' }, column: 'ports', value: { kind: 'lsp', id: 'p' } }
    reconcile(rows, [
      ...Array.from({ length: count }, (_, n) => want(`s${n}`, [row(kinds.ls, `s${n}`)])),
      want('g0', [row(kinds.pg, 'g0')]),
      want('g1', [row(kinds.pg, 'g1')]),
      want('p', [row(kinds.lsp, 'p')], [port, inGroup]),
    ])
    const orphans = [...ownersIn(rows, catalog)].map((owner) => ({
      owner,
      rows: rowsOwnedBy(owner, rows, catalog).map((one) => ({ ...one, kind: kindMarkOf(one.row) ?? '' })),
    }))
    const options = { rows, catalog, strays: { count: () => 0 } }
    return { doom: { orphans, leftOver: [], members: [] }, options }
  }
  const freed = (result: ReturnType<typeof holdBack>) =>
    result.free.orphans.flatMap((orphan) => orphan.rows.map(({ kind }) => kind)).sort()

  it('holds a kind of which there is too much, and lets the others go', () => {
    const { doom, options } = world(60)
    const result = holdBack(doom, { ...options, confirmedToken: undefined })
    expect(result.held?.kinds.map(({ kind, rows }) => [kind, rows])).toEqual([['ls', 60]])
    expect(freed(result)).toEqual(['lsp', 'pg', 'pg'])
    const confirmed = holdBack(doom, { ...options, confirmedToken: result.held?.token })
    expect(confirmed.held).toBeUndefined()
    expect(confirmed.free).toBe(doom)
  })

  it('names what is held, whatever else there is', () => {
    const { doom, options } = world(60)
    const [all, less] = [doom.orphans, doom.orphans.filter((orphan) => orphan.rows[0]?.kind !== 'pg')].map(
      (orphans) => holdBack({ ...doom, orphans }, { ...options, confirmedToken: undefined }),
    )
    expect(all?.held?.token).toBe(less?.held?.token)
  })

  it('keeps what holds the held rows', () => {
    const { doom, options } = world(3)
    const [first] = doom.orphans.flatMap((orphan) => orphan.rows).filter(({ kind }) => kind === 'lsp')
    const leftOver = Array.from({ length: 60 }, () => first).filter((one) => one !== undefined)
    const result = holdBack({ ...doom, leftOver }, { ...options, confirmedToken: undefined })
    // The switch keeps the port, the groups only know it.
    expect(freed(result)).toEqual(['ls', 'ls', 'pg', 'pg'])
    expect(result.free.leftOver).toEqual([])
  })
})
