import { appliedAnnotation } from '@kube-ovn/annotations'
import { applyMergePatch, isEqualJson, type KubeObject } from '@kube-ovn/kube'
import { digestOf } from './digest.ts'

/** By what name the API server knows which fields of an object are ours. */
export const fieldManager = 'kube-ovn-controller'

/** What of an object we say; all else in it is left to others and to the server's defaults. */
export type Configuration = KubeObject & {
  readonly spec?: object
  readonly data?: Readonly<Record<string, string>>
}

type Fields = Readonly<Record<string, unknown>>

/** What is sent to apply a configuration: it also says by a digest which one it is. */
export function toApply(configuration: Configuration): Configuration {
  const { metadata } = configuration
  const annotations = { ...metadata.annotations, [appliedAnnotation]: digestOfConfiguration(configuration) }
  return { ...configuration, metadata: { ...metadata, annotations } }
}

/**
 * Names a field that is not as it was applied; `undefined` when all of them are.
 *
 * What is in the object can not be compared with what was sent: the server adds defaults, also to elements of lists, and rewrites quantities. But it
 * notes whose each field is, and takes it from us as soon as somebody else changes it. So an object that has the digest, and in which all that
 * was sent is still ours, has what was sent.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export function differsFromApplied(sent: Configuration, current: KubeObject): string | undefined {
  if (current.metadata.annotations?.[appliedAnnotation] !== sent.metadata.annotations?.[appliedAnnotation])
    return `metadata.annotations.${appliedAnnotation}`
  const ours = current.metadata.managedFields?.find(isOurs)
  return ours === undefined ? 'metadata.managedFields' : firstNotIn(ours.fieldsV1, owned(sent), '')
}

/** The object as it is once a configuration was sent, as far as that can be told without the server. */
export function asApplied(sent: Configuration, current: KubeObject | undefined): KubeObject {
  const applied = applyMergePatch(current, sent) as KubeObject
  const others = current?.metadata.managedFields?.filter((entry) => !isOurs(entry)) ?? []
  const ours = { manager: fieldManager, operation: 'Apply', fieldsV1: fieldsOf(owned(sent)) }
  return { ...applied, metadata: { ...applied.metadata, managedFields: [...others, ours] } }
}

/** Leaves out who set which field, but for what we applied: what a watch of applied objects has to keep. */
export function keepApplied<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata
  const ours = managedFields?.filter(isOurs) ?? []
  return { ...object, metadata: ours.length === 0 ? metadata : { ...metadata, managedFields: ours } }
}

/** An object that was applied, with all that says so. */
export const appliedExample: KubeObject = {
  metadata: {
    ...{ namespace: 'default', name: 'applied', annotations: { [appliedAnnotation]: 'digest' } },
    managedFields: [{ manager: fieldManager, operation: 'Apply', fieldsV1: {} }],
  },
}

interface Ours {
  readonly fieldsV1: Fields
}

function isOurs(entry: unknown): entry is Ours {
  if (!isFields(entry) || !isFields(entry['fieldsV1'])) return false
  const { manager, operation, subresource = '' } = entry
  return manager === fieldManager && operation === 'Apply' && subresource === ''
}

/** Without what says which object it is: the server keeps no owners of that. */
function owned({ apiVersion: _version, kind: _kind, metadata, ...rest }: Configuration): Fields {
  const { name: _name, namespace: _namespace, ...ours } = metadata
  return { metadata: ours, ...rest }
}

/**
 * The first of what was sent that is not among our fields. A set of fields names keys of maps `f:`, elements of lists `k:` by their keys or
 * `v:` by their value; what has none below it is ours as a whole.
 */
function firstNotIn(fields: Fields, sent: unknown, path: string): string | undefined {
  if (Object.keys(fields).length === 0) return undefined
  const parts: Iterable<readonly [string, unknown]> = Array.isArray(sent)
    ? sent.map((element, index) => [`[${index}]`, element] as const)
    : Object.entries(isFields(sent) ? sent : {}).map(([key, value]) => [`.${key}`, value] as const)
  for (const [step, part] of parts) {
    // An empty list has no fields that could be anybody's.
    if (part === undefined || (Array.isArray(part) && part.length === 0)) continue
    const below = Array.isArray(sent) ? fieldsOfElement(fields, part) : fields[`f:${step.slice(1)}`]
    const at = `${path}${step}`
    const missing = isFields(below) ? firstNotIn(below, part, at) : at
    if (missing !== undefined) return missing.replace(/^\./, '')
  }
  return undefined
}

function fieldsOfElement(fields: Fields, element: unknown): unknown {
  const found = Object.entries(fields).find(([name]) => {
    if (name.startsWith('v:')) return isEqualJson(JSON.parse(name.slice(2)), element)
    if (!name.startsWith('k:') || !isFields(element)) return false
    const keys = JSON.parse(name.slice(2)) as Fields
    // The server has a default for a key that is not said.
    return Object.entries(keys).every(
      ([key, value]) => element[key] === undefined || isEqualJson(element[key], value),
    )
  })
  return found?.[1]
}

/** Lists are taken as a whole: their keys are known to the server alone. */
function fieldsOf(sent: Fields): Fields {
  const said = Object.entries(sent).filter(([, value]) => value !== undefined)
  return Object.fromEntries(said.map(([key, value]) => [`f:${key}`, isFields(value) ? fieldsOf(value) : {}]))
}

function digestOfConfiguration(configuration: Configuration): string {
  const text = JSON.stringify(configuration, (_key, value: unknown) => {
    if (typeof value === 'bigint') return value.toString()
    return isFields(value) ? Object.fromEntries(Object.entries(value).sort(byKey)) : value
  })
  return digestOf(text, 16)
}

function byKey([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
