import { KubeOvnError } from '@kube-ovn/errors'
import type { Cluster } from './cluster.ts'

/** What the controller that leads says of itself. */
export interface ControllerState {
  /** Keys that wait to be looked at. */
  readonly queued: number
  readonly inWork: number
  /** Of the key that has been in work for longest. */
  readonly longestSeconds: number
  /** Keys whose rows somebody else changed, since it started, by feature. */
  readonly drift: readonly { readonly feature: string; readonly found: number; readonly healed: number }[]
  /** Rows without an object whose deletion waits for somebody to confirm it. */
  readonly orphansHeld: number
}

/** A Service answers by any of its pods: one of these asks meets the leader, as good as certainly. */
const attempts = 12

/**
 * Asks the controller that leads for its metrics, by its Service: that can be allowed to somebody who may ask no other.
 *
 * None where it does not answer, or may not be asked.
 */
export async function readControllerState(cluster: Cluster): Promise<ControllerState | undefined> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const samples = await readSamples(cluster)
    if (samples === undefined) return undefined
    if (sumOf(samples, 'leader_election_master_status') > 0) return stateOf(samples)
  }
  return undefined
}

async function readSamples({ client, namespace }: Cluster): Promise<readonly Sample[] | undefined> {
  // The second one is for metrics by TLS.
  for (const service of ['kube-ovn-controller:metrics', 'https:kube-ovn-controller:metrics']) {
    try {
      return parseSamples(
        await client.read(`/api/v1/namespaces/${namespace}/services/${service}/proxy/metrics`),
      )
    } catch (error) {
      if (!(error instanceof KubeOvnError)) throw error
    }
  }
  return undefined
}

interface Sample {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

/** Reads the text format of Prometheus. */
export function parseSamples(text: string): readonly Sample[] {
  return [...text.matchAll(/^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)/gim)].map(
    ([, name = '', labels = '', value]) => ({
      name,
      labels: new Map(
        [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', said = '']) => [key, said]),
      ),
      value: Number(value),
    }),
  )
}

export function stateOf(samples: readonly Sample[]): ControllerState {
  const found = byFeature(samples, 'kube_ovn_drift_found_total')
  const healed = byFeature(samples, 'kube_ovn_drift_healed_total')
  return {
    queued: sumOf(samples, 'workqueue_depth'),
    inWork: sumOf(samples, 'controller_runtime_active_workers'),
    longestSeconds: Math.max(0, ...valuesOf(samples, 'workqueue_longest_running_processor_seconds')),
    drift: [...found]
      .map(([feature, count]) => ({ feature, found: count, healed: healed.get(feature) ?? 0 }))
      .toSorted((a, b) => b.found - a.found || a.feature.localeCompare(b.feature)),
    orphansHeld: sumOf(samples, 'kube_ovn_orphans_held'),
  }
}

function valuesOf(samples: readonly Sample[], name: string): readonly number[] {
  return samples.filter((sample) => sample.name === name).map(({ value }) => value)
}

function sumOf(samples: readonly Sample[], name: string): number {
  return valuesOf(samples, name).reduce((sum, value) => sum + value, 0)
}

function byFeature(samples: readonly Sample[], name: string): ReadonlyMap<string, number> {
  return new Map(
    samples
      .filter((sample) => sample.name === name && sample.value > 0)
      .map(({ labels, value }) => [labels.get('controller') ?? '', value]),
  )
}
