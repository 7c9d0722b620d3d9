import type { Name } from './name.ts'
import { insertAfter, insertBefore, type Skeleton } from './skeleton.ts'

const list = 'libs/model/kube-api/src/index.ts'

/** A custom resource of the cluster with a field and standard conditions, which nobody acts on yet. */
export function resourceSkeleton(name: Name): Skeleton {
  const plural = pluralOf(name.pascal.toLowerCase())
  const { camel, pascal, kebab } = name
  return {
    files: { [`libs/model/kube-api/src/${kebab}.ts`]: definition(name, plural) },
    edits: [
      insertAfter(
        list,
        /^import type \{ Definition \}.*\n/m,
        `import { ${camel}Definition } from './${kebab}.ts'\n`,
      ),
      insertBefore(list, /^\]$/m, `  ${camel}Definition,\n`),
      insertBefore(
        list,
        /^export \{ subnetReason/m,
        `export { ${camel}Resource } from './${kebab}.ts'\nexport type { ${pascal}, ${pascal}Spec, ${pascal}Status } from './${kebab}.ts'\n`,
      ),
    ],
  }
}

function pluralOf(singular: string): string {
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`
  return /(s|x|ch|sh)$/.test(singular) ? `${singular}es` : `${singular}s`
}

function definition({ camel, pascal, words }: Name, plural: string): string {
  const singular = pascal.toLowerCase()
  return `import { z } from 'zod'
import { group, version } from './api-group.ts'
import { conditionSchema } from './conditions.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'
import type { Definition } from './definition.ts'
import { generation, list, text } from './fields.ts'

const spec = z.object({
  subnet: text('Subnet that it is for.'),
})

const status = z.object({
  observedGeneration: generation,
  conditions: list('Ready; there is none before anybody looked at it.', conditionSchema),
})

export type ${pascal}Spec = DeepReadonly<z.infer<typeof spec>>
export type ${pascal}Status = DeepReadonly<z.infer<typeof status>>

/** A ${words} of a subnet. */
export interface ${pascal} extends KubeObject {
  readonly spec?: ${pascal}Spec
  readonly status?: ${pascal}Status
}

export const ${camel}Resource: Resource<${pascal}> = {
  group,
  version,
  kind: '${pascal}',
  plural: '${plural}',
  namespaced: false,
}

export const ${camel}Definition: Definition = {
  resource: ${camel}Resource,
  singular: '${singular}',
  shortNames: [],
  description: 'A ${words} of a subnet.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [{ name: 'Subnet', type: 'string', jsonPath: '.spec.subnet' }],
}
`
}
