import { kubectl } from './kubectl.ts'
import { isPodReady, type PodObject } from './workloads.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** What pods that are not Ready say about it: their last log lines and events, for a reader who can not look any more. */
export async function describePodsNotReady(cluster: Cluster): Promise<string> {
  const pods = (await cluster.api.list<PodObject>('/api/v1/pods')).filter((pod) => !isPodReady(pod))
  const parts = await Promise.all(
    pods.slice(0, 6).map(async ({ metadata: { name, namespace = 'default' } }) => {
      const [log, description] = await Promise.all([
        kubectl(cluster, 'logs', '-n', namespace, name, '--all-containers', '--tail=20').catch(String),
        kubectl(cluster, 'describe', 'pod', '-n', namespace, name).catch(String),
      ])
      return `── ${namespace}/${name}\n${log}\n${description.slice(description.indexOf('Events:'))}\n`
    }),
  )
  return parts.join('')
}
