import { nicKey, primaryProvider, type Annotations, type Provider } from '@kube-ovn/annotations'
import { missingFeatures, type AnnotatedKind, type MissingFeature } from './data.ts'

/** Something that a user wrote and that has no effect. */
export interface Ignored {
  /** As the user wrote it: `spec.acls`, `annotation …`, `label …`. */
  readonly field: string
  /** As JSON, shortened. */
  readonly value: string
  readonly feature: MissingFeature
}

type Fields = Readonly<Record<string, unknown>>

/** Longer values say no more about what is meant. */
const longestValue = 80

/** What a subnet may ask for in its specification and does not get. */
export function ignoredFields(spec: object | undefined): readonly Ignored[] {
  const fields: Fields = { ...spec }
  return missingFeatures.flatMap((feature) =>
    (feature.subnet ?? []).flatMap((name) =>
      ignored(feature, `spec.${name}`, fields[name], isZero(fields[name])),
    ),
  )
}

/** All of an object: nothing is made for what has this name. */
export function ignoredName(field: string, value: string, feature: string): readonly Ignored[] {
  return missingFeatures
    .filter(({ name }) => name === feature)
    .flatMap((missing) => ignored(missing, field, value, false))
}

/**
 * What an object asks for in its annotations and does not get.
 *
 * @param providers of the networks that a Pod has NICs in
 */
export function ignoredAnnotations(
  kind: AnnotatedKind,
  annotations: Annotations = {},
  providers: readonly Provider[] = [],
): readonly Ignored[] {
  return missingFeatures.flatMap((feature) => {
    const names = feature.annotations?.[kind] ?? []
    const ofNics = kind === 'Pod' ? (feature.nic ?? []) : []
    const keys = [
      ...names.map((name) => [name, nicKey(primaryProvider, name)] as const),
      ...providers.flatMap((provider) => ofNics.map((name) => [name, nicKey(provider, name)] as const)),
    ]
    return keys.flatMap(([name, key]) => {
      const text = annotations[key]
      const isQuiet = text === undefined || text === '' || text === '0' || text === feature.unless?.[name]
      return ignored(feature, `annotation ${key}`, text, isQuiet)
    })
  })
}

/** What a Node is labelled for and does not do. */
export function ignoredLabels(labels: Annotations = {}): readonly Ignored[] {
  return missingFeatures.flatMap((feature) =>
    (feature.nodeLabels ?? []).flatMap((name) => {
      const key = nicKey(primaryProvider, name)
      return ignored(feature, `label ${key}`, labels[key], labels[key] !== 'true')
    }),
  )
}

const annotationNames = new Set(
  missingFeatures.flatMap(({ nic = [], annotations = {} }) => [...nic, ...(annotations.Pod ?? [])]),
)

/** Whether a Pod can have annotations without effect: most have none, and are not looked at any further. */
export function maybeIgnored(annotations: Annotations = {}): boolean {
  return Object.keys(annotations).some((key) => annotationNames.has(key.slice(key.indexOf('/') + 1)))
}

/** Says what has no effect, and what to do, in a sentence for each feature that is not there. */
export function ignoredTexts(all: readonly Ignored[]): readonly string[] {
  return [...Map.groupBy(all, ({ feature }) => feature)].map(([{ name, cure }, group]) => {
    const fields = group.map(({ field, value }) => `${field} ${value}`).join(', ')
    return `${fields} without effect: ${name} is not there yet; ${cure}`
  })
}

function ignored(
  feature: MissingFeature,
  field: string,
  value: unknown,
  isQuiet: boolean,
): readonly Ignored[] {
  if (isQuiet) return []
  const text = JSON.stringify(value)
  const shown = text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`
  return [{ field, value: shown, feature }]
}

/** Clients write fields explicitly that they have nothing to say about. */
function isZero(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false || value === 0) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.values(value).every(isZero)
}
