import { isDeepStrictEqual } from 'node:util'
import type { IndexFunction, KubeObject, Resource } from '@kube-ovn/kube'
import type { NorthboundTable } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { sourceTable, type Indexes, type Table } from '@kube-ovn/tables'

/** A table of the objects of a resource, under their keys. */
export interface ObjectTable<T extends KubeObject, I extends string = never> extends Table<T, I> {
  readonly resource: Resource<T>
}

interface ObjectTableDeclaration<T extends KubeObject, I extends string> {
  readonly resource: Resource<T>
  /** Those of its store that are used. */
  readonly indexes?: Readonly<Record<I, IndexFunction<T>>>
}

/** Declares a table of the objects of a resource, which must be watched. */
export function objectTable<T extends KubeObject, I extends string = never>({
  resource,
  indexes,
}: ObjectTableDeclaration<T, I>): ObjectTable<T, I> {
  const declaration = { name: resource.plural, isSame: isSameObject, ...(indexes && { indexes }) }
  return { ...sourceTable<T, I>(declaration), resource }
}

/** A table of rows of the Northbound, under their ids. */
export interface DatabaseTable<N extends NorthboundTable, I extends string = never> extends Table<
  OvnNorthbound[N],
  I
> {
  readonly rowsOf: N
}

/**
 * Declares a table of rows of the Northbound, which must be monitored.
 *
 * @param indexes columns of plain text by which the cache has indexes
 */
export function databaseTable<
  N extends NorthboundTable,
  I extends Extract<keyof OvnNorthbound[N], string> = never,
>(rowsOf: N, ...indexes: readonly I[]): DatabaseTable<N, I> {
  const byColumn = indexes.map((column) => [column, (row: OvnNorthbound[N]) => [String(row[column])]])
  return {
    ...sourceTable<OvnNorthbound[N], I>({
      name: rowsOf,
      indexes: Object.fromEntries(byColumn) as Indexes<OvnNorthbound[N], I>,
      // The cache tells only of what is different, and comparing large sets costs more than looking again.
      isSame: () => false,
    }),
    rowsOf,
  }
}

/** A table of what keys have decided, or of what the process was told at its start. */
export interface FactTable<R, I extends string = never> extends Table<R, I> {
  readonly isOfFacts: true
}

interface FactTableDeclaration<R, I extends string> {
  readonly name: string
  readonly indexes?: Indexes<R, I>
}

/** Declares a table of facts. Keys say them in what they desire. */
export function factTable<R, I extends string = never>(
  declaration: FactTableDeclaration<R, I>,
): FactTable<R, I> {
  return { ...sourceTable<R, I>(declaration), isOfFacts: true }
}

/** Whether two states of an object, as far as it is kept, differ in their resource version at most. */
export function isSameObject(a: KubeObject, b: KubeObject): boolean {
  return a === b || isDeepStrictEqual(withoutVersion(a), withoutVersion(b))
}

function withoutVersion(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: '' } }
}
