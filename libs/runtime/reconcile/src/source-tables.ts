import { isDeepStrictEqual } from 'node:util'
import type { IndexFunction, KubeObject, Resource } from '@kube-ovn/kube'
import type { NorthboundTable } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { sourceTable, type Table } from '@kube-ovn/tables'

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
export interface DatabaseTable<N extends NorthboundTable> extends Table<OvnNorthbound[N]> {
  readonly rowsOf: N
}

/** Declares a table of rows of the Northbound, which must be monitored. */
export function databaseTable<N extends NorthboundTable>(rowsOf: N): DatabaseTable<N> {
  // The cache tells only of what is different, and comparing large sets costs more than looking again.
  return { ...sourceTable<OvnNorthbound[N]>({ name: rowsOf, isSame: () => false }), rowsOf }
}

/** Whether two states of an object, as far as it is kept, differ in their resource version at most. */
export function isSameObject(a: KubeObject, b: KubeObject): boolean {
  return a === b || isDeepStrictEqual(withoutVersion(a), withoutVersion(b))
}

function withoutVersion(object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: '' } }
}
