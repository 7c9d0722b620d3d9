import { controllerDefinitions } from '@kube-ovn/kube-api'
import { customResourceDefinitions } from '@kube-ovn/kube-api/core'
import type { CustomResourceDefinition, FieldSchema } from '@kube-ovn/kube-api/core'
import type { Informer, InformerOptions, Resource } from '@kube-ovn/kube'

/** What the API server makes of our kinds. It may have the definitions of another version, or of upstream. */
export interface Definitions {
  /** Whether objects of a kind keep a field of their status: what their definition lacks is dropped in silence. */
  keeps(resource: Resource, field: string): boolean
}

const openKey = 'x-kubernetes-preserve-unknown-fields'

type Options = Pick<InformerOptions<CustomResourceDefinition>, 'resource' | 'fieldSelector' | 'trim'>

export type DefinitionInformer = Informer<CustomResourceDefinition>

/** Makes an informer for the definition of each of our kinds. */
export function definitionInformers(
  make: (options: Options) => DefinitionInformer,
): readonly DefinitionInformer[] {
  return controllerDefinitions.map(({ resource }) =>
    make({
      resource: customResourceDefinitions,
      fieldSelector: `metadata.name=${nameOf(resource)}`,
      trim: trimDefinition,
    }),
  )
}

/**
 * The definitions as informers know them.
 *
 * A field that a definition loses is missing at once. One that it gains counts for those who start afterwards: for some
 * time the server drops it on writes, and leaves it out of what it tells those who watch.
 */
export function watchedDefinitions(informers: readonly Pick<DefinitionInformer, 'store'>[]): Definitions {
  const atStart = new Map(
    controllerDefinitions.map(({ resource }) => [nameOf(resource), statusSchema(resource, informers)]),
  )
  return {
    keeps: (resource, field) =>
      has(atStart.get(nameOf(resource)), field) && has(statusSchema(resource, informers), field),
  }
}

/** Wakes the features that go by a definition when it changes. */
export function followDefinitions(
  informers: readonly Pick<DefinitionInformer, 'onChange'>[],
  raise: (signal: 'definition', plural: string) => void,
): Disposable {
  const stack = new DisposableStack()
  for (const informer of informers) {
    stack.use(
      informer.onChange(({ old, new: current }) => {
        const plural = (current ?? old)?.spec.names.plural
        if (plural !== undefined) raise('definition', plural)
      }),
    )
  }
  return stack
}

function nameOf({ plural, group }: Resource): string {
  return `${plural}.${group}`
}

function has(status: FieldSchema | undefined, field: string): boolean {
  return status?.properties?.[field] !== undefined || status?.[openKey] === true
}

function statusSchema(
  resource: Resource,
  informers: readonly Pick<DefinitionInformer, 'store'>[],
): FieldSchema | undefined {
  const name = nameOf(resource)
  const definition = informers.map(({ store }) => store.get(name)).find((one) => one !== undefined)
  const version = definition?.spec.versions.find((one) => one.name === resource.version)
  return version?.schema?.openAPIV3Schema?.properties?.['status']
}

/** Keeps of a definition which fields a status has. */
function trimDefinition({ metadata, spec }: CustomResourceDefinition): CustomResourceDefinition {
  const { name, uid = '', resourceVersion = '' } = metadata
  return {
    metadata: { name, uid, resourceVersion },
    spec: {
      ...spec,
      versions: spec.versions.map(({ name: version, served, schema }) => ({
        name: version,
        served,
        schema: { openAPIV3Schema: fieldsOf(schema?.openAPIV3Schema) },
      })),
    },
  }
}

function fieldsOf(schema: FieldSchema = {}): FieldSchema {
  const status = schema.properties?.['status']
  const isOpen = schema[openKey] === true || status?.[openKey] === true
  const fields: Record<string, FieldSchema> = {}
  for (const field of Object.keys(status?.properties ?? {})) fields[field] = {}
  return { properties: { status: { [openKey]: isOpen, properties: fields } } }
}
