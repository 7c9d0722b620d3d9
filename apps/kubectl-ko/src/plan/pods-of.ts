import type { ManifestObject } from '@kube-ovn/assembly-controller'
import { fieldsOf } from './manifest.ts'

/** What other controllers make of a workload is told with names that end so where these are drawn. */
const drawn = 'planned'

/**
 * The pods that would be made of a workload, one on a node after the other. Nodes that a pod could not go to are not told
 * from others: a port is the same wherever its pod is.
 */
export function podsOf(object: ManifestObject, nodes: readonly string[]): readonly ManifestObject[] {
  const { kind, metadata } = object
  const spec = fieldsOf('spec' in object ? object.spec : undefined)
  const { metadata: { labels = {}, annotations = {} } = {}, spec: podSpec = {} } = fieldsOf(
    spec['template'],
  ) as {
    readonly metadata?: { readonly labels?: object; readonly annotations?: object }
    readonly spec?: { readonly nodeName?: string }
  }
  const names = namesOf(kind, metadata.name, spec, nodes.length)
  return names.map((name, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: metadata.namespace ?? 'default',
      labels: { ...labels },
      annotations: { ...annotations },
      ownerReferences: [
        {
          apiVersion: object.apiVersion,
          kind: kind === 'Deployment' ? 'ReplicaSet' : kind,
          name: kind === 'Deployment' ? `${metadata.name}-${drawn}` : metadata.name,
          uid: drawn,
          controller: true,
        },
      ],
    },
    spec: { ...podSpec, nodeName: podSpec.nodeName ?? nodes[index % nodes.length] },
    status: { phase: 'Pending' },
  }))
}

function namesOf(
  kind: string,
  name: string,
  spec: Readonly<Record<string, unknown>>,
  nodes: number,
): readonly string[] {
  const count = (field: string): number => (typeof spec[field] === 'number' ? spec[field] : 1)
  const numbered = (length: number, prefix: string): readonly string[] =>
    Array.from({ length }, (_, index) => `${prefix}-${index}`)
  switch (kind) {
    case 'Deployment':
    case 'ReplicaSet':
      return numbered(count('replicas'), `${name}-${drawn}`)
    case 'StatefulSet':
      return numbered(count('replicas'), name)
    case 'DaemonSet':
      return numbered(nodes, `${name}-${drawn}`)
    case 'Job':
      return numbered(count('parallelism'), `${name}-${drawn}`)
    default:
      return []
  }
}
