import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { KubeObject } from '@kube-ovn/kube'
import { parseAllDocuments, stringify } from 'yaml'
import { helmPath, repository } from './cache-directory.ts'

/** An object as the chart renders it. */
export interface ChartObject extends KubeObject {
  readonly apiVersion: string
  readonly kind: string
}

/**
 * Renders our chart with values, as `helm template` does: without a cluster.
 *
 * @throws Error with Helm's message when the chart refuses the values
 */
export async function renderChart(values: object = {}): Promise<readonly ChartObject[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-chart-'))
  try {
    const file = join(directory, 'values.yaml')
    await writeFile(file, stringify(values))
    const chart = join(repository, 'helm/kube-ovn')
    const { stdout } = await promisify(execFile)(helmPath(), [
      ...['template', 'kube-ovn', chart, '--values', file],
    ])
    return [...parseAllDocuments(stdout)]
      .map((document) => document.toJS() as ChartObject | null)
      .filter((object) => object !== null)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
