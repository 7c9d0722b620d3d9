import type { Catalog } from './catalog.ts'
import type { ColumnValue, Desired, Member, OwnedRow } from './feature.ts'
import { idMark } from './marks.ts'
import { isArray } from './rows.ts'
import { isMapValue, isRef } from './values.ts'
import { tableOf } from './want.ts'

/** The tables (`T`) and columns (`T.c`) of our schema that a server of an older version does not have. */
export class MissingColumns {
  readonly #names: ReadonlySet<string>
  readonly #catalog: Catalog

  constructor(names: Iterable<string>, catalog: Catalog) {
    this.#names = new Set(names)
    this.#catalog = catalog
  }

  /** In the order of their text. */
  get names(): readonly string[] {
    return [...this.#names].sort()
  }

  /**
   * Leaves out what the server cannot keep: rows of missing tables, references to them, missing columns, and values in
   * them. The rest is made all the same.
   */
  without<D extends Pick<Desired, 'rows' | 'members'>>(desired: D): D {
    if (this.#names.size === 0) return desired
    const members = desired.members.filter((member) => this.#isPossible(member))
    // A row that only a lost reference would keep alive would vanish as soon as it is made.
    const homeless = new Set(desired.members.filter((member) => !members.includes(member)).flatMap(refOf))
    const isKept = ({ kind, id }: OwnedRow) =>
      !this.#names.has(kind.table) &&
      (this.#catalog.tables.get(kind.table)?.isRoot !== false ||
        !homeless.has(idMark({ kind: kind.name, id })))
    return { ...desired, rows: desired.rows.filter(isKept).map((row) => this.#rowWithout(row)), members }
  }

  #rowWithout(row: OwnedRow): OwnedRow {
    const { table } = row.kind
    const kept = (columns: OwnedRow['columns']) =>
      Object.fromEntries(
        Object.entries(columns)
          .filter(([name]) => !this.#names.has(`${table}.${name}`))
          .map(([name, value]) => [name, this.#valueWithout(value)]),
      )
    return {
      ...row,
      columns: kept(row.columns),
      ...(row.onInsert === undefined ? {} : { onInsert: kept(row.onInsert) }),
    }
  }

  #valueWithout(value: ColumnValue): ColumnValue {
    if (isArray(value)) return value.filter((element) => !this.#isLost(element))
    if (this.#isLost(value)) return undefined
    if (!isMapValue(value) || isRef(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, element]) => [key, this.#isLost(element) ? undefined : element]),
    )
  }

  #isPossible(member: Member): boolean {
    const table = tableOf(member.of, this.#catalog)
    if (table !== undefined && this.#lacks(table, member.column)) return false
    return !this.#isLost(member.value)
  }

  #lacks(table: string, column: string): boolean {
    return this.#names.has(table) || this.#names.has(`${table}.${column}`)
  }

  /** A reference to a row that cannot be. */
  #isLost(value: unknown): boolean {
    const table = isRef(value) ? this.#catalog.kinds.get(value.kind)?.table : undefined
    return table !== undefined && this.#names.has(table)
  }
}

function refOf(member: Member): readonly string[] {
  return isRef(member.value) ? [idMark(member.value)] : []
}
