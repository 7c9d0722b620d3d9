/**
 * Writes the CustomResourceDefinitions of the chart and their reference pages from `libs/model/kube-api`.
 *
 *     node tools/generate/src/crds/main.ts            write
 *     node tools/generate/src/crds/main.ts --check    exit 1 when a generated file is stale or left over
 */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { definitions } from '@kube-ovn/kube-api'
import { format, resolveConfig } from 'prettier'
import { renderManifest } from './manifest.ts'
import { renderIndex, renderPage } from './page.ts'
import { flags } from '../flags.ts'

const root = join(import.meta.dirname, '../../../..')
const manifests = join(root, 'helm/kube-ovn/crds')
const pages = join(root, 'docs/reference/crds')

const wanted = new Map<string, string>([
  [join(pages, 'index.md'), await pretty(renderIndex(definitions), 'index.md')],
])
for (const definition of definitions) {
  const { plural } = definition.resource
  wanted.set(join(manifests, `${plural}.yaml`), renderManifest(definition))
  wanted.set(join(pages, `${plural}.md`), await pretty(renderPage(definition), `${plural}.md`))
}

for (const [path, text] of wanted) {
  const present = await readFile(path, 'utf8').catch(() => undefined)
  if (present === text) continue
  if (flags.check) {
    stale(path)
  } else {
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, text)
    console.log(`${relative(root, path)} written`)
  }
}

for (const directory of [manifests, pages]) {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name)
    if (wanted.has(path)) continue
    if (flags.check) {
      stale(path)
    } else {
      await rm(path)
      console.log(`${relative(root, path)} removed`)
    }
  }
}

function stale(path: string): void {
  console.error(`${relative(root, path)} is stale: run node tools/generate/src/crds/main.ts`)
  process.exitCode = 1
}

async function pretty(markdown: string, name: string): Promise<string> {
  const style = (await resolveConfig(join(pages, name))) ?? {}
  return format(markdown, { ...style, parser: 'markdown' })
}
