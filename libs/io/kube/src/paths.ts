import type { ObjectRef, Resource } from './types.ts'

/** Parameters of a request; what is `undefined` is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Path of all objects of a resource, in one namespace or in all. */
export function collectionPath(resource: Resource, namespace: string | undefined, query: Query = {}): string {
  const root =
    resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  const scope =
    resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${root}${scope}/${resource.plural}${printQuery(query)}`
}

/** Path of one object or of its subresource. */
export function objectPath(
  resource: Resource,
  ref: ObjectRef,
  subresource: string | undefined,
  query: Query = {},
): string {
  const tail = subresource === undefined ? '' : `/${subresource}`
  return `${collectionPath(resource, ref.namespace)}/${encodeURIComponent(ref.name)}${tail}${printQuery(query)}`
}

function printQuery(query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value))
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}
