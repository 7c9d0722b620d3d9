import type { Pod } from '@kube-ovn/kube-api/core'

export interface PodFields {
  readonly name?: string
  readonly namespace?: string
  /** Not set: the pod is not scheduled yet. */
  readonly node?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly hostNetwork?: boolean
  readonly phase?: NonNullable<Pod['status']>['phase']
  readonly deletionTimestamp?: string
  readonly ownerReferences?: Pod['metadata']['ownerReferences']
}

/** A pod with one container, pending unless said otherwise. */
export function pod(fields: PodFields = {}): Pod {
  const {
    name = 'pod',
    namespace = 'default',
    node,
    annotations,
    labels,
    hostNetwork,
    phase = 'Pending',
  } = fields
  const { deletionTimestamp, ownerReferences } = fields
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      ...(annotations === undefined ? {} : { annotations }),
      ...(labels === undefined ? {} : { labels }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    spec: {
      containers: [{ name: 'main', image: 'example.com/image' }],
      ...(node === undefined ? {} : { nodeName: node }),
      ...(hostNetwork === undefined ? {} : { hostNetwork }),
    },
    status: { phase },
  }
}
