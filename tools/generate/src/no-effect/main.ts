/**
 * Writes what the page of differences and the chart say about fields, flags and values without effect.
 *
 *     node tools/generate/src/no-effect/main.ts            write
 *     node tools/generate/src/no-effect/main.ts --check    exit 1 when they are stale
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingFeatures, needless } from '@kube-ovn/no-effect'
import { formatted, root, writeGenerated } from '../generated-file.ts'
import { renderChartFile } from './chart-file.ts'
import { renderNoEffect } from './page.ts'

const page = 'docs/differences.md'
const chartFile = 'helm/kube-ovn/files/no-effect.yaml'
const begin = '<!-- generated from libs/model/no-effect -->'
const end = '<!-- end of what is generated -->'

await write(page, withTables(readFileSync(join(root, page), 'utf8')))
await write(chartFile, renderChartFile(missingFeatures))

function withTables(text: string): string {
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${page} has no lines ${begin} and ${end}, in this order`)
  const tables = renderNoEffect(missingFeatures, needless)
  return `${text.slice(0, from)}${begin}\n\n${tables}\n\n${text.slice(to)}`
}

async function write(path: string, text: string): Promise<void> {
  writeGenerated('no-effect', path, await formatted(path, text))
}
