import type { ApiClient, ApiObject } from '../kubernetes/client.ts'
import { applyAll } from '../kubernetes/manifests.ts'
import { untilRolledOut } from '../kubernetes/workloads.ts'
import { listenerPort } from './plan.ts'

export const probeNamespace = 'kube-ovn-probe'

/** The label `app` of pods of the probe: those of the cluster's network, and those that stand for nodes. */
export const probeLabel = { pods: 'kube-ovn-probe', nodes: 'kube-ovn-probe-node' } as const

/** So many pods of the probe, a Service of them, and one in the network of each node. */
function probeObjects(image: string, replicas: number): readonly ApiObject[] {
  const containers = [
    {
      name: 'probe',
      image,
      imagePullPolicy: 'IfNotPresent',
      readinessProbe: { tcpSocket: { port: listenerPort }, periodSeconds: 1 },
    },
  ]
  const namespaced = (name: string) => ({ name, namespace: probeNamespace })
  const labels = { app: probeLabel.pods }
  const nodeLabels = { app: probeLabel.nodes }
  const own = { terminationGracePeriodSeconds: 0, nodeSelector: { 'kubernetes.io/os': 'linux' }, containers }
  return [
    {
      ...{ apiVersion: 'v1', kind: 'Namespace' },
      metadata: { name: probeNamespace, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
    },
    workload(
      'Deployment',
      namespaced(probeLabel.pods),
      labels,
      { replicas },
      {
        ...own,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: { matchLabels: labels },
          },
        ],
      },
    ),
    workload(
      'DaemonSet',
      namespaced(probeLabel.nodes),
      nodeLabels,
      {},
      {
        ...own,
        hostNetwork: true,
        tolerations: [{ operator: 'Exists' }],
      },
    ),
    service(namespaced(probeLabel.pods), labels),
  ]
}

interface NamespacedName {
  readonly name: string
  readonly namespace: string
}

function workload(
  kind: 'Deployment' | 'DaemonSet',
  metadata: NamespacedName,
  labels: Readonly<Record<string, string>>,
  more: object,
  spec: object,
): ApiObject & { readonly spec: object } {
  const template = { metadata: { labels }, spec }
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata,
    spec: { ...more, selector: { matchLabels: labels }, template },
  }
}

function service(
  metadata: NamespacedName,
  selector: Readonly<Record<string, string>>,
): ApiObject & { readonly spec: object } {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: {
      selector,
      ipFamilyPolicy: 'PreferDualStack',
      ports: [{ name: 'probe', port: 80, targetPort: listenerPort, protocol: 'TCP' }],
    },
  }
}

/** Runs pods of the probe, which a matrix on this cluster takes as its ends. Disposing of it removes them. */
export async function deployProbes(
  api: ApiClient,
  image: string,
  replicas: number,
): Promise<AsyncDisposable> {
  await using probes = new AsyncDisposableStack()
  probes.defer(() => api.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: probeNamespace } }))
  await applyAll(api, probeObjects(image, replicas))
  await Promise.all([
    untilRolledOut(api, 'deployments', probeNamespace, probeLabel.pods),
    untilRolledOut(api, 'daemonsets', probeNamespace, probeLabel.nodes),
  ])
  return probes.move()
}
