import { isIP } from 'node:net'
import { kubectl, type PodObject } from '@kube-ovn/lab'
import type { SuiteCluster } from './suite-cluster.ts'

/** What a user sees of a cluster. */
export type SeenCluster = Pick<SuiteCluster, 'api' | 'kubeconfig' | 'stack'>

/** What a pod is served at an address or by a name. It rejects after 5 s without an answer. */
export function fetchFrom(cluster: SeenCluster, pod: PodObject, host: string, port = 8080): Promise<string> {
  const url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}/`
  return kubectl(
    cluster,
    ...['exec', '-n', pod.metadata.namespace ?? '', pod.metadata.name, '--'],
    ...['busybox', 'wget', '-q', '-T', '5', '-O', '-', url],
  )
}
