import type { Atom, DatabaseSchema, NewValue, RowBase, RowChange, Uuid, Value } from 'ovsdb-client'
import { catalogOf, type Catalog, type Column } from './catalog.ts'
import { elementsOf, mapOf, type Rows } from './rows.ts'
import type { Step } from './steps.ts'
import { asElements, asMap, tokenOf, type Element } from './values.ts'

/** Never changed in place, so that whoever keeps one keeps a state. */
type Row = Readonly<Record<string, Value>> & RowBase

/** Rows by table and id. */
type Contents = ReadonlyMap<string, Map<Uuid, Row>>

/** Column `name` of a row. */
interface Place {
  readonly table: string
  readonly row: Row
  readonly name: string
}

/**
 * A database in memory that does what RFC 7047 says about the steps of a plan: named UUIDs, weak references,
 * garbage collection of tables that are not root, after a look at strong references. It is the model against which plans are tested.
 *
 * Like ovsdb-server it may keep a weak reference to a row that is gone: one of a row that the same transaction changes. The
 * server drops that or keeps it for ever, as the order of its tables will have it; here it is always kept.
 */
export class LocalRows implements Rows {
  readonly #catalog: Catalog
  readonly #tables = new Map<string, Map<Uuid, Row>>()
  #next = 1

  constructor(schema: DatabaseSchema) {
    this.#catalog = catalogOf(schema, [])
    for (const table of Object.keys(schema.tables)) this.#tables.set(table, new Map())
  }

  get(table: string, uuid: Uuid): RowBase | undefined {
    return this.#tables.get(table)?.get(uuid)
  }

  find(table: string, index: string, key: Atom): readonly RowBase[] {
    const [column = '', mapKey] = index.split(':')
    return [...this.scan(table)].filter((row) =>
      mapKey === undefined ? elementsOf(row, column).includes(key) : mapOf(row, column)[mapKey] === key,
    )
  }

  scan(table: string): Iterable<RowBase> {
    return this.#tables.get(table)?.values() ?? []
  }

  /** Every row by table and id, to be compared. */
  dump(): Readonly<Record<string, Readonly<Record<Uuid, RowBase>>>> {
    return structuredClone(
      Object.fromEntries([...this.#tables].map(([table, rows]) => [table, Object.fromEntries(rows)])),
    )
  }

  insert(table: string, columns: Readonly<Record<string, NewValue>>): Uuid {
    const name = 'only'
    return this.apply([{ do: 'insert', table, name, columns }]).get(name) ?? ''
  }

  /** Makes rows what another database has. */
  follow(changes: readonly RowChange[]): void {
    for (const { table, uuid, new: fresh } of changes) {
      if (fresh === undefined) this.#tables.get(table)?.delete(uuid)
      else this.#tables.get(table)?.set(uuid, fresh as Row)
    }
  }

  /** Applies the steps as one transaction, or nothing; answers the ids of inserted rows by name. */
  apply(steps: readonly Step[]): ReadonlyMap<string, Uuid> {
    const before: Contents = new Map([...this.#tables].map(([table, rows]) => [table, new Map(rows)]))
    try {
      return this.#applySteps(steps, before)
    } catch (error) {
      for (const [table, rows] of before) this.#tables.set(table, rows)
      throw error
    }
  }

  #applySteps(steps: readonly Step[], before: Contents): ReadonlyMap<string, Uuid> {
    const named = new Map<string, Uuid>()
    for (const step of steps) if (step.do === 'insert') named.set(step.name, step.uuid ?? this.#newUuid())
    const plain = (element: Element): Atom =>
      typeof element === 'object'
        ? (named.get(element.named) ?? fail(`no row is named ${element.named}`))
        : element
    for (const step of steps) this.#applyStep(step, named, plain)
    this.#collect(before)
    return named
  }

  #applyStep(step: Step, named: ReadonlyMap<string, Uuid>, plain: (element: Element) => Atom): void {
    const rows = this.#tables.get(step.table) ?? fail(`no table ${step.table}`)
    const columns = this.#catalog.tables.get(step.table)?.columns ?? new Map<string, Column>()
    const uuid = step.do === 'insert' ? (named.get(step.name) ?? '') : step.uuid
    if (step.do === 'delete') {
      rows.delete(uuid)
      return
    }
    const row: Record<string, Value> & RowBase = { ...rows.get(uuid), _uuid: uuid }
    if (step.do === 'insert') {
      if (rows.has(uuid)) fail(`duplicate uuid ${uuid}`)
      for (const [name, column] of columns) row[name] = initialValue(column)
    } else if (!rows.has(uuid)) return
    if (step.do === 'mutate') {
      for (const [name, mutator, value] of step.mutations) {
        const column = columns.get(name) ?? fail(`no column ${name}`)
        row[name] = mutated(row, name, column, mutator === 'insert', value, plain)
      }
    } else {
      for (const [name, value] of Object.entries(step.columns)) {
        row[name] = stored(columns.get(name) ?? fail(`no column ${name}`), value, plain)
      }
    }
    rows.set(uuid, row)
  }

  /** Drops rows that nobody holds, and weak references to rows that are gone, until nothing changes. */
  #collect(before: Contents): void {
    this.#eachReference((element, column) => {
      const isThere = this.#tables.get(column.refTable ?? '')?.has(String(element)) === true
      return isThere || column.isWeak || fail(`dangling strong reference ${element}`)
    })
    for (let isSettled = false; !isSettled;) {
      isSettled = true
      const strong = new Set<Atom>()
      this.#eachReference((element, column) => {
        if (!column.isWeak) strong.add(element)
        return true
      })
      for (const [name, rows] of this.#tables) {
        if (this.#catalog.tables.get(name)?.isRoot === true) continue
        for (const uuid of rows.keys()) if (!strong.has(uuid) && rows.delete(uuid)) isSettled = false
      }
    }
    this.#eachReference((element, column, place) => {
      const refTable = column.refTable ?? ''
      if (this.#tables.get(refTable)?.has(String(element)) === true) return true
      const old = before.get(place.table)?.get(place.row._uuid)
      if (old === undefined || !elementsOf(old, place.name).includes(element)) return false
      return old !== place.row || before.get(refTable)?.has(String(element)) !== true
    })
  }

  #eachReference(keep: (element: Atom, column: Column, place: Place) => boolean): void {
    for (const [table, rows] of this.#tables) {
      for (const [name, column] of this.#catalog.tables.get(table)?.columns ?? []) {
        if (column.refTable === undefined || column.shape === 'map') continue
        for (const row of [...rows.values()]) {
          const elements = elementsOf(row, name)
          const kept = elements.filter((element) => keep(element, column, { table, row, name }))
          if (kept.length === elements.length) continue
          rows.set(row._uuid, { ...row, [name]: stored(column, kept, (element) => element as Atom) })
        }
      }
    }
  }

  #newUuid(): Uuid {
    return `00000000-0000-4000-8000-${String(this.#next++).padStart(12, '0')}`
  }
}

function initialValue(column: Column): Value {
  return column.shape === 'map' ? {} : column.shape === 'set' ? [] : column.initial
}

function stored(column: Column, value: NewValue, plain: (element: Element) => Atom): Value {
  if (column.shape === 'map') {
    return Object.fromEntries(Object.entries(asMap(value)).map(([key, element]) => [key, plain(element)]))
  }
  const elements = sorted(asElements(value).map(plain))
  return column.shape === 'set' ? elements : elements[0]
}

function mutated(
  row: Row,
  name: string,
  column: Column,
  isInsert: boolean,
  value: NewValue,
  plain: (element: Element) => Atom,
): Value {
  if (column.shape === 'map') {
    // RFC 7047, section 5.1: an insertion does not replace what is there.
    if (isInsert) return { ...(stored(column, value, plain) as object), ...mapOf(row, name) }
    const keys = new Set(asElements(value).map(String))
    const entries = asMap(value)
    const isGone = ([key, atom]: readonly [string, Atom]) =>
      keys.has(key) || (entries[key] !== undefined && plain(entries[key]) === atom)
    return Object.fromEntries(Object.entries(mapOf(row, name)).filter((entry) => !isGone(entry)))
  }
  const elements = asElements(value).map(plain)
  if (isInsert) return sorted([...elementsOf(row, name), ...elements])
  const gone = new Set(elements.map(tokenOf))
  return elementsOf(row, name).filter((atom) => !gone.has(tokenOf(atom)))
}

/** Each atom once, in ascending order: atoms of one column are of one type. */
function sorted(atoms: readonly Atom[]): readonly Atom[] {
  return [...new Set(atoms)].sort((a, b) => (a < b ? -1 : 1))
}

function fail(problem: string): never {
  throw new Error(problem)
}
