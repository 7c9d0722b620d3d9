import { isDeepStrictEqual } from 'node:util'
import type { Selectable, Selector } from '@kube-ovn/label-selector'
import type { Indexes, Reads, Table, Views } from './table.ts'

interface SourceDeclaration<R, I extends string> {
  readonly name: string
  readonly indexes?: Indexes<R, I>
  /** Deep equality by default. */
  readonly isSame?: (a: R, b: R) => boolean
}

/** Declares a table whose rows somebody else keeps. */
export function sourceTable<R, I extends string = never>(declaration: SourceDeclaration<R, I>): Table<R, I> {
  return table(declaration, { kind: 'source' })
}

interface RowDeclaration<D, DI extends string, T extends Reads, R, I extends string> {
  readonly name: string
  readonly of: Table<D, DI>
  /** Every other table that it reads. */
  readonly reads?: T
  /** A function in the mathematical sense of the row and what it reads of the tables. */
  readonly row: (row: D, views: Views<T>, key: string) => R | undefined
  readonly indexes?: Indexes<R, I>
}

/** Declares a table in which a row of another one has a row of the same key, or none. */
export function rowTable<
  D,
  DI extends string,
  R,
  T extends Reads = Readonly<Record<string, never>>,
  I extends string = never,
>(declaration: RowDeclaration<D, DI, T, R, I>): Table<R, I> {
  const { of, reads = {}, row } = declaration
  return table(declaration, { kind: 'row', of, reads, row })
}

interface GroupDeclaration<D, DI extends string, T extends Reads, R, I extends string> {
  readonly name: string
  readonly of: Table<D, DI>
  /** Index of `of`: the rows under a value are looked at together. */
  readonly by: DI
  readonly reads?: T
  /** A function in the mathematical sense. `members` are in the order of their keys. No two groups may give one key. */
  readonly rows: (
    members: ReadonlyMap<string, D>,
    views: Views<T>,
    value: string,
  ) => Iterable<readonly [key: string, row: R]>
  readonly indexes?: Indexes<R, I>
}

/** Declares a table that is made from groups of rows of another one. */
export function groupTable<
  D,
  DI extends string,
  R,
  T extends Reads = Readonly<Record<string, never>>,
  I extends string = never,
>(declaration: GroupDeclaration<D, DI, T, R, I>): Table<R, I> {
  const { of, by, reads = {}, rows } = declaration
  return table(declaration, { kind: 'group', of, by, reads, rows })
}

interface UnionDeclaration<T extends Reads, R, I extends string> {
  readonly name: string
  /** By names without a slash. */
  readonly of: T
  readonly indexes?: Indexes<R, I>
}

type RowOf<T> = T extends Table<infer R, infer _I> ? R : never

/** Declares a table with the rows of several others, each under `name/key`. */
export function unionTable<T extends Reads, I extends string = never>(
  declaration: UnionDeclaration<T, RowOf<T[keyof T]>, I>,
): Table<RowOf<T[keyof T]>, I> {
  const { of } = declaration
  return table(declaration, { kind: 'union', of })
}

interface SelectionDeclaration<O, OI extends string, S, SI extends string> {
  readonly name: string
  readonly objects: Table<O, OI>
  readonly object: (row: O) => Selectable
  readonly selectors: Table<S, SI>
  readonly selector: (row: S) => Selector
}

/**
 * Declares which objects are selected by which selectors. A row is the sorted keys of the selectors of an object, under
 * the object's key; the index `selector` gives the objects of a selector.
 */
export function selectionTable<O, OI extends string, S, SI extends string>(
  declaration: SelectionDeclaration<O, OI, S, SI>,
): Table<readonly string[], 'selector'> {
  const { name, objects, object, selectors, selector } = declaration
  return table(
    { name, indexes: { selector: (keys: readonly string[]) => keys } },
    {
      kind: 'selection',
      objects,
      selectors,
      object,
      selector,
    },
  )
}

function table<R, I extends string>(
  { name, indexes, isSame }: SourceDeclaration<R, I>,
  origin: Table<R, I>['origin'],
): Table<R, I> {
  return { name, indexes: indexes ?? ({} as Indexes<R, I>), origin, isSame: isSame ?? isDeepStrictEqual }
}
