import { execFile } from 'node:child_process'
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { KubeObject } from '@kube-ovn/kube'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { helmPath, repository } from './cache-directory.ts'

/** An object as the chart renders it. */
export interface ChartObject extends KubeObject {
  readonly apiVersion: string
  readonly kind: string
}

const chart = join(repository, 'helm/kube-ovn')

/** Without a cluster to ask, the chart must be told who hosts the databases. */
const withoutCluster = { masterNodes: ['192.0.2.1'] }

/** What Helm is to take for the cluster's; by default a recent version, and no kinds. */
export interface ChartCluster {
  readonly kubeVersion?: string
  /** E.g. `v1/Node`. */
  readonly apiVersions?: readonly string[]
  /** Of a cluster that is there, to look things up in, as with `--dry-run=server`. */
  readonly kubeconfig?: string
}

/**
 * Renders our chart with values, as `helm template` does. The databases have a host unless the values name others.
 *
 * @throws Error with Helm's message when the chart refuses the values
 */
export async function renderChart(
  values: object = {},
  cluster: ChartCluster = {},
): Promise<readonly ChartObject[]> {
  const stdout = await withValues(values, (file) =>
    helm('template', 'kube-ovn', chart, '--values', file, ...argumentsOf(cluster)),
  )
  return [...parseAllDocuments(stdout)]
    .map((document) => document.toJS() as ChartObject | null)
    .filter((object) => object !== null)
}

function argumentsOf({ kubeVersion, apiVersions = [], kubeconfig }: ChartCluster): readonly string[] {
  return [
    ...(kubeVersion === undefined ? [] : ['--kube-version', kubeVersion]),
    ...(kubeconfig === undefined ? [] : ['--dry-run=server', '--kubeconfig', kubeconfig]),
    ...apiVersions.flatMap((version) => ['--api-versions', version]),
  ]
}

async function withValues(values: object, run: (file: string) => Promise<string>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-chart-'))
  try {
    const file = join(directory, 'values.yaml')
    await writeFile(file, stringify({ ...withoutCluster, ...values }))
    return await run(file)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** What Helm prints after it has installed our chart with values. The API server is asked what it serves, and given nothing. */
export async function renderNotes(values: object, kubeconfigPath: string): Promise<string> {
  const stdout = await withValues(values, (file) =>
    helm(
      ...['install', 'kube-ovn', chart, '--values', file],
      ...['--dry-run=client', '--take-ownership', '--kubeconfig', kubeconfigPath],
    ),
  )
  return stdout.slice(stdout.indexOf('\nNOTES:\n'))
}

/**
 * What Helm would print after it has installed our chart on such a cluster. Helm takes only a real one's word when it installs, and
 * `helm template` shows no notes: it renders a copy of the chart in which these are an object's.
 */
export async function renderNotesOn(cluster: ChartCluster): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-notes-'))
  try {
    const copy = join(directory, 'kube-ovn')
    await cp(chart, copy, { recursive: true })
    await rename(join(copy, 'templates/NOTES.txt'), join(copy, 'notes.txt'))
    await writeFile(
      join(copy, 'templates/notes.yaml'),
      'notes: {{ tpl (.Files.Get "notes.txt") . | toJson }}\n',
    )
    const stdout = await withValues({}, (file) =>
      helm(
        ...['template', 'kube-ovn', copy, '--values', file, '--show-only', 'templates/notes.yaml'],
        ...argumentsOf(cluster),
      ),
    )
    return (parse(stdout) as { readonly notes: string }).notes
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/**
 * Lints the chart with its own values, as `helm lint --strict` does, and gives what that says.
 *
 * @throws Error with Helm's message when something is wrong with it
 */
export function lintChart(): Promise<string> {
  return helm('lint', chart, '--strict')
}

async function helm(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(helmPath(), args)).stdout
}
