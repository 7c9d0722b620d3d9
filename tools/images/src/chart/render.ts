import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments, stringify } from 'yaml'
import { repository } from '../paths.ts'

/** A manifest as the chart renders it, reduced to what the tests look at. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly annotations?: Readonly<Record<string, string>>
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec?: WorkloadSpec
  readonly rules?: readonly {
    readonly apiGroups: readonly string[]
    readonly resources: readonly string[]
    readonly verbs: readonly string[]
  }[]
}

interface WorkloadSpec {
  readonly replicas?: number
  readonly ipFamilyPolicy?: string
  readonly selector?: object
  readonly template?: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> }
    readonly spec: {
      readonly hostNetwork?: boolean
      readonly containers: readonly Container[]
      readonly initContainers?: readonly Container[]
    }
  }
}

interface Container {
  readonly name: string
  readonly image: string
  readonly args?: readonly string[]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly securityContext?: { readonly privileged?: boolean; readonly runAsUser?: number }
}

const run = promisify(execFile)

/**
 * Renders the chart with values, as `helm template` does: without a cluster.
 *
 * @throws Error with Helm's message when the chart refuses the values
 */
export async function renderChart(values: object): Promise<readonly Manifest[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-chart-'))
  try {
    const file = join(directory, 'values.yaml')
    await writeFile(file, stringify(values))
    const chart = join(repository, 'helm/kube-ovn')
    const { stdout } = await run(await helmPath(), ['template', 'kube-ovn', chart, '--values', file])
    return [...parseAllDocuments(stdout)]
      .map((document) => document.toJS() as Manifest | null)
      .filter((manifest) => manifest !== null)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The workload of this name. */
export function workload(manifests: readonly Manifest[], name: string): Manifest {
  const found = manifests.find(
    (manifest) => manifest.metadata.name === name && manifest.spec?.template !== undefined,
  )
  if (found === undefined) throw new Error(`the chart renders no workload ${name}`)
  return found
}

/** A container of a workload, by name. */
export function container(manifest: Manifest, name: string): Container {
  const pod = manifest.spec?.template?.spec
  const found = [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].find(
    (each) => each.name === name,
  )
  if (found === undefined) throw new Error(`${manifest.metadata.name} has no container ${name}`)
  return found
}

/** Value of an environment variable of a container. */
export function environment({ env = [] }: Container, name: string): string | undefined {
  return env.find((each) => each.name === name)?.value
}

/** Built from its Go module by tools/bootstrap. */
async function helmPath(): Promise<string> {
  const cache =
    process.env['KUBE_OVN_CACHE'] ??
    (process.getuid?.() === 0 ? '/var/cache/kube-ovn' : join(homedir(), '.cache/kube-ovn'))
  const versions = await readFile(join(repository, 'tools/bootstrap/versions.json'), 'utf8')
  const { helm } = JSON.parse(versions) as { helm: string }
  return join(cache, 'helm', `v${helm}`, 'bin', 'helm')
}
