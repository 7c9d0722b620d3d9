import type { Resource } from '@kube-ovn/kube'
import { renderChart as renderObjects, type ChartCluster } from '@kube-ovn/testing-kube'

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
  /** Of a Secret or a ConfigMap. */
  readonly data?: Readonly<Record<string, string>>
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
      readonly volumes?: readonly {
        readonly name: string
        readonly secret?: { readonly secretName: string; readonly defaultMode: number }
      }[]
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
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
  readonly securityContext?: { readonly privileged?: boolean; readonly runAsUser?: number }
}

/**
 * Renders the chart with values, as `helm template` does. The databases have a host unless the values name others.
 *
 * @throws Error with Helm's message when the chart refuses the values
 */
export async function renderChart(values: object, cluster?: ChartCluster): Promise<readonly Manifest[]> {
  return await renderObjects(values, cluster)
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

/** Of objects, in their order. */
export function names(manifests: readonly Manifest[]): readonly string[] {
  return manifests.map(({ metadata }) => metadata.name)
}

/** The kind of a manifest, as the API server serves it. */
export function resourceOf({ apiVersion, kind, metadata }: Manifest): Resource {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return {
    group,
    version,
    kind,
    plural: `${kind.toLowerCase()}s`.replace(/ys$/, 'ies'),
    namespaced: metadata.namespace !== undefined,
  }
}
