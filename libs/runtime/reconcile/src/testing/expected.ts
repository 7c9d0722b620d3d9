import type { RowBase } from 'ovsdb-client'
import { Adoption } from '../adoption.ts'
import { catalogOf } from '../catalog.ts'
import { idOf, ownerMark, ownerOf } from '../marks.ts'
import { LocalRows } from '../local-rows.ts'
import { planRows } from '../plan.ts'
import { nameAfter, schema } from '../plan-fixture.ts'
import { mapOf, type Rows } from '../rows.ts'
import { findableRows } from '../unmarked.ts'
import { showWidget } from './foreign-finalizers.ts'
import { decided, featuresOf, keysOf, widgetOf, type Layout, type State } from './state.ts'

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Rows of ours as text, with marks in the place of row ids. Elements that are rows of strangers are left out. */
export function shownRows(rows: Pick<Rows, 'scan'>): readonly string[] {
  const names = new Map<string, string>()
  const all = Object.entries(schema.tables).flatMap(([table, { columns }]) =>
    [...rows.scan(table)].map((row) => only(row, Object.keys(columns))),
  )
  for (const row of all) if (ownerOf(row) !== undefined) names.set(row._uuid, `@${idOf(row)}`)
  for (const [table, column] of unmarkable)
    for (const row of rows.scan(table))
      if (nameAfter('ours-', row, column) !== undefined) names.set(row._uuid, '@unmarked')
  // ovsdb-server can keep a weak reference to a row that is gone. Plans avoid that for rows that they take away; strangers' transactions and
  // rows that go along with their container can still cause it. Its readers pass over such a reference, and so does this one.
  const isOthers = (atom: unknown) => uuidPattern.test(String(atom)) && !names.has(String(atom))
  const shown = (value: unknown): unknown =>
    Array.isArray(value)
      ? value
          .filter((atom) => !isOthers(atom))
          .map((atom: unknown) => names.get(String(atom)) ?? String(atom))
          .sort((a, b) => (a < b ? -1 : 1))
      : typeof value === 'string'
        ? (names.get(value) ?? value)
        : value
  const lines = all.filter((row) => names.has(row._uuid)).map((row) => showRow(row, shown))
  const options = [...rows.scan('NB_Global')].map((row) => `global ${JSON.stringify(mapOf(row, 'options'))}`)
  return [...lines, ...options].sort()
}

/** Tables without marks, and by what their rows are known as ours. */
const unmarkable = [
  ['Load_Balancer_Group', 'name'],
  ['Static_MAC_Binding', 'logical_port'],
] as const

/** The model knows a part of the columns only. */
function only(row: RowBase, columns: readonly string[]): RowBase {
  const kept = Object.entries(row).filter(([name]) => columns.includes(name))
  return { ...Object.fromEntries(kept), _uuid: row._uuid }
}

function showRow(row: RowBase, shown: (value: unknown) => unknown): string {
  const columns = Object.entries(row)
    .filter(([name]) => name !== '_uuid')
    .map(([name, value]: [string, unknown]): [string, unknown] => [name, sortedKeys(shown(value))])
  return JSON.stringify(sortedKeys(Object.fromEntries(columns)))
}

function sortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** What the database holds when every key has what it wants, and nothing ever went wrong. */
export function expectedRows(state: State, layout: Layout): readonly string[] {
  const database = new LocalRows(schema)
  database.insert('NB_Global', {})
  const features = featuresOf(layout)
  const catalog = catalogOf(schema, features)
  const rows = findableRows(database, catalog)
  const wants = features.flatMap(({ name, kinds, memberships = [] }) =>
    [...keysOf(state, layout, name)].map(([key, desired]) => ({
      owner: ownerMark(name, key),
      kinds,
      memberships,
      desired,
      released: [],
    })),
  )
  const adoptable = new Adoption(catalog, rows)
  database.apply(planRows({ wants, rows, catalog, adoptable }).steps)
  return shownRows(database)
}

/** The same where options of DHCP are wanted by two: whoever has one keeps it. */
export function expectedBeside(rows: Pick<Rows, 'scan'>, state: State, layout: Layout): readonly string[] {
  const [dhcp] = [...rows.scan('DHCP_Options')].filter((row) => ownerOf(row) !== undefined)
  return expectedRows(decided(state, dhcp === undefined ? {} : mapOf(dhcp, 'options')), layout)
}

/** Names and contents of the objects in which the keys write down their state. */
export function expectedWidgets(state: State, layout: Layout): readonly string[] {
  return featuresOf(layout)
    .flatMap(({ name }) =>
      [...keysOf(state, layout, name)].map(([key, desired]) => widgetOf(name, key, desired)),
    )
    .map(showWidget)
    .sort()
}
