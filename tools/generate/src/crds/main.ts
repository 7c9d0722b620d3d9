/**
 * Writes the CustomResourceDefinitions of the chart and their reference pages from `libs/model/kube-api`.
 *
 *     node tools/generate/src/crds/main.ts            write
 *     node tools/generate/src/crds/main.ts --check    exit 1 when a generated file is stale or left over
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { definitions } from '@kube-ovn/kube-api'
import { formatted, removeGenerated, root, writeGenerated } from '../generated-file.ts'
import { renderManifest } from './manifest.ts'
import { renderIndex, renderPage } from './page.ts'

const manifests = 'helm/kube-ovn/crds'
const pages = 'docs/reference/crds'

const wanted = new Map<string, string>()
await wantPage('index', renderIndex(definitions))
for (const definition of definitions) {
  const { plural } = definition.resource
  wanted.set(`${manifests}/${plural}.yaml`, renderManifest(definition))
  await wantPage(plural, renderPage(definition))
}

for (const [path, text] of wanted) writeGenerated('crds', path, text)
for (const directory of [manifests, pages])
  for (const name of readdirSync(join(root, directory))) {
    const path = `${directory}/${name}`
    if (!wanted.has(path)) removeGenerated('crds', path)
  }

async function wantPage(name: string, markdown: string): Promise<void> {
  const path = `${pages}/${name}.md`
  wanted.set(path, await formatted(path, markdown))
}
