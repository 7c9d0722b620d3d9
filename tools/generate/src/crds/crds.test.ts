import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { definitions, objectSchema, type JsonSchema } from '@kube-ovn/kube-api'
import { describe, expect, it } from 'vitest'
import { renderManifest } from './manifest.ts'
import { renderPage } from './page.ts'

const root = join(import.meta.dirname, '../../../..')

describe.each(definitions)('$resource.kind', (definition) => {
  const { plural } = definition.resource

  it('has a manifest in the chart that is up to date', async () => {
    const present = await readFile(join(root, 'helm/kube-ovn/crds', `${plural}.yaml`), 'utf8')
    expect(renderManifest(definition)).toBe(present)
  })

  it('describes every field in a sentence, on its page too', () => {
    const page = renderPage(definition)
    for (const [path, field] of fieldsOf(objectSchema(definition).properties?.['spec'], '')) {
      expect(field.description, path).toMatch(/\.$/)
      expect(page).toContain(`\`${path}\``)
    }
  })

  it('has a field for every printer column', () => {
    const paths = new Set<string>(['.metadata.creationTimestamp'])
    for (const part of ['spec', 'status']) {
      for (const [path] of fieldsOf(objectSchema(definition).properties?.[part], ''))
        paths.add(`.${part}.${path}`)
    }
    for (const { jsonPath } of definition.printerColumns)
      expect(paths).toContain(jsonPath.replaceAll('[*]', '[]'))
  })
})

function* fieldsOf(schema: JsonSchema | undefined, prefix: string): Iterable<[string, JsonSchema]> {
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    yield [`${prefix}${name}`, field]
    const inner = field.type === 'array' ? field.items : field
    yield* fieldsOf(inner, `${prefix}${name}${field.type === 'array' ? '[]' : ''}.`)
  }
}
