import type { LabelSelector, Labels } from '@kube-ovn/label-selector'

/** Values under which a row is found in one index. */
export type IndexFunction<R> = (row: R) => readonly string[]

export type Indexes<R, I extends string> = Readonly<Record<I, IndexFunction<R>>>

/**
 * Rows by key, and by the values that index functions give. It is a declaration, made once for the whole program; who
 * holds the rows is `Tables`.
 *
 * Rows are plain values that nobody changes.
 */
export interface Table<R, I extends string = never> {
  readonly name: string
  readonly indexes: Indexes<R, I>
  readonly origin: Origin
  /** Whether a row says the same as the one before, so that nobody needs to hear of it. */
  isSame(this: void, a: R, b: R): boolean
}

/** Any table at all, whatever its rows are. */
export type AnyTable = Table<never>

/** Tables that a derivation reads, by the names that it has for them. */
export type Reads = Readonly<Record<string, AnyTable>>

/** What a derivation sees of the tables that it reads. */
export type Views<T extends Reads> = { readonly [N in keyof T]: ViewOf<T[N]> }

export type ViewOf<T> = T extends Table<infer R, infer I> ? View<R, I> : never

/** Reads rows, and notes what was read: whoever read it is asked again when it changes. */
export interface View<R, I extends string = never> {
  get(key: string): R | undefined
  /** Rows that an index has under a value, in the order of their keys. */
  find(index: I, value: string): readonly R[]
  /** Their keys alone, in order: what else the rows say is not read. */
  keys(index: I, value: string): readonly string[]
  /** Whether there is any: who asks is woken by the first one that comes and by the last one that goes. */
  some(index: I, value: string): boolean
  /** All rows, in the order of their keys: every change of the table changes what was read. */
  scan(): readonly R[]
}

/** Where the rows of a table come from. */
type Origin = SourceOrigin | RowOrigin | UnionOrigin | GroupOrigin | SelectionOrigin

/** From somebody who says when they change: an informer's store, a cache of a database. */
interface SourceOrigin {
  readonly kind: 'source'
}

/** One row of another table makes one or none of this one, under the same key. */
export interface RowOrigin {
  readonly kind: 'row'
  readonly of: AnyTable
  readonly reads: Reads
  row(this: void, row: never, views: never, key: string): unknown
}

/** The rows of several tables, each under its key behind the name that its table has here, and a slash. */
export interface UnionOrigin {
  readonly kind: 'union'
  readonly of: Reads
}

/** The rows of another table that an index has under a value make, together, any rows of this one. */
export interface GroupOrigin {
  readonly kind: 'group'
  readonly of: AnyTable
  readonly by: string
  readonly reads: Reads
  rows(
    this: void,
    members: ReadonlyMap<string, never>,
    views: never,
    value: string,
  ): Iterable<readonly [key: string, row: unknown]>
}

/** Which rows of one table are selected by those of another. */
export interface SelectionOrigin {
  readonly kind: 'selection'
  readonly objects: AnyTable
  readonly selectors: AnyTable
  object(this: void, row: never): { readonly scope?: string | undefined; readonly labels: Labels }
  selector(this: void, row: never): { readonly scope?: string | undefined; readonly selector: LabelSelector }
}

/** Tables that a table is made from, its driver first. */
export function inputsOf({ origin }: AnyTable): readonly AnyTable[] {
  switch (origin.kind) {
    case 'source':
      return []
    case 'selection':
      return [origin.objects, origin.selectors]
    case 'union':
      return Object.values(origin.of)
    default:
      return [origin.of, ...Object.values(origin.reads)]
  }
}
