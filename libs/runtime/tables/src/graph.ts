import { TableDeclarationError } from './errors.ts'
import { inputsOf, type AnyTable } from './table.ts'

/** What a change of a row makes another table look at again. */
export type Drive =
  | { readonly kind: 'row' | 'object' | 'selector'; readonly place: number }
  | { readonly kind: 'group'; readonly place: number; readonly by: string }
  | { readonly kind: 'union'; readonly place: number; readonly name: string }

/** Tables in an order in which each stands behind all that it is made from. */
export class Graph {
  readonly tables: readonly AnyTable[]
  readonly #places: ReadonlyMap<AnyTable, number>
  readonly #drives: readonly (readonly Drive[])[]

  /** Takes in what the tables are made from, too. */
  constructor(tables: Iterable<AnyTable>) {
    const order = new Set<AnyTable>()
    for (const table of tables) append(table, order)
    this.tables = [...order]
    this.#places = new Map(this.tables.map((table, place) => [table, place]))
    checkNames(this.tables)
    const drives: Drive[][] = this.tables.map(() => [])
    for (const [place, { origin }] of this.tables.entries())
      for (const [driver, drive] of drivesTo(origin, place)) drives[this.placeOf(driver)]?.push(drive)
    this.#drives = drives
  }

  placeOf(table: AnyTable): number {
    const place = this.#places.get(table)
    if (place === undefined)
      throw new TableDeclarationError(table.name, 'it is none of the tables of this graph')
    return place
  }

  drivesOf(place: number): readonly Drive[] {
    return this.#drives[place] ?? []
  }
}

/** The tables whose changes make another one look again, and at what. */
function drivesTo(origin: AnyTable['origin'], place: number): readonly (readonly [AnyTable, Drive])[] {
  switch (origin.kind) {
    case 'source':
      return []
    case 'row':
      return [[origin.of, { kind: 'row', place }]]
    case 'union':
      return Object.entries(origin.of).map(([name, table]) => [table, { kind: 'union', place, name }])
    case 'group':
      return [[origin.of, { kind: 'group', place, by: checkedIndex(origin.of, origin.by) }]]
    case 'selection':
      return [
        [origin.objects, { kind: 'object', place }],
        [origin.selectors, { kind: 'selector', place }],
      ]
  }
}

function checkedIndex({ name, indexes }: AnyTable, index: string): string {
  if (!Object.hasOwn(indexes, index)) throw new TableDeclarationError(name, `it has no index ${index}`)
  return index
}

/** There are no circles: a table is declared after those that it reads. */
function append(table: AnyTable, order: Set<AnyTable>): void {
  if (order.has(table)) return
  for (const input of inputsOf(table)) append(input, order)
  order.add(table)
}

function checkNames(tables: readonly AnyTable[]): void {
  const names = new Set<string>()
  for (const { name } of tables) {
    if (names.has(name)) throw new TableDeclarationError(name, 'two tables have this name')
    names.add(name)
  }
}
