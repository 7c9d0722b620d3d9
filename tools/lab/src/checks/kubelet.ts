import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { request } from 'undici'
import { kubectl, startKubectl } from '../kubernetes/kubectl.ts'
import { isPodReady, type PodObject } from '../kubernetes/workloads.ts'
import { claimRow, countRow, equalRow, firstOf, type Check, type CheckRow } from './check.ts'
import { sixPods } from './pod-to-pod.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'

interface ServiceObject extends ApiObject {
  readonly spec: { readonly clusterIPs: readonly string[] }
}

/** What kubelet and the API server do with pods over the network: probes, exec, logs, port-forward, names. */
export const kubelet: Check = {
  name: 'kubelet and DNS',
  async run(cluster) {
    const pods = await sixPods(cluster)
    const web = pods.filter(({ metadata }) => metadata.namespace === 'shop')
    const db = pods.filter(({ metadata }) => metadata.namespace === 'stock')
    const pod = firstOf(web, 'pod in namespace shop')
    return [
      countRow('HTTP readiness probes', web.filter(isPodReady).length, 3),
      countRow('TCP readiness probes', db.filter(isPodReady).length, 3),
      ...(await Promise.all([execRow(cluster, pod), logsRow(cluster, pod), forwardRow(cluster, pod)])),
      ...(await nameRows(cluster, pod)),
    ]
  },
}

async function execRow(cluster: Cluster, pod: PodObject): Promise<CheckRow> {
  const output = await kubectl(cluster, 'exec', '-n', 'shop', pod.metadata.name, '--', 'hostname')
  return equalRow('kubectl exec', pod.metadata.name, output.trim())
}

async function logsRow(cluster: Cluster, pod: PodObject): Promise<CheckRow> {
  const output = await kubectl(cluster, 'logs', '-n', 'shop', pod.metadata.name)
  return equalRow('kubectl logs', 'listening', output.trim())
}

async function forwardRow(cluster: Cluster, pod: PodObject): Promise<CheckRow> {
  const child = startKubectl(cluster, 'port-forward', '-n', 'shop', `pod/${pod.metadata.name}`, ':8080')
  try {
    const port = await forwardedPort(child)
    const { body } = await request(`http://127.0.0.1:${port}/`)
    return equalRow('kubectl port-forward', pod.metadata.name, (await body.text()).trim())
  } finally {
    child.kill()
    await once(child, 'close')
  }
}

/** Reads the line `Forwarding from 127.0.0.1:PORT -> 8080`. */
async function forwardedPort(child: ReturnType<typeof startKubectl>): Promise<string> {
  if (child.stdout === null) return ''
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return port
  }
  return ''
}

/** Asks for a Service by its short name, as a program in a pod does, and calls it. */
async function nameRows(cluster: Cluster, pod: PodObject): Promise<CheckRow[]> {
  const run = (...command: readonly string[]): Promise<string> =>
    kubectl(cluster, 'exec', '-n', 'shop', pod.metadata.name, '--', ...command)
  const service = await cluster.api.call<ServiceObject>('GET', '/api/v1/namespaces/shop/services/web')
  const found = await run('getent', 'ahosts', 'web')
  const answer = await run('busybox', 'wget', '-q', '-O', '-', 'http://web.shop.svc.cluster.local/')
  return [
    claimRow(
      'CoreDNS answers a pod with the ClusterIP of every family',
      service.spec.clusterIPs.every((address) => found.split(/\s+/).includes(address)),
      'found',
      found.trim(),
    ),
    claimRow('a pod reaches a Service by its name', answer.startsWith('web-'), 'answered', answer.trim()),
  ]
}
