import type { Namespace, Node } from '@kube-ovn/kube-api/core'

export interface NodeFields {
  readonly name?: string
  /** InternalIP addresses. */
  readonly addresses?: readonly string[]
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly isReady?: boolean
}

/** A node, ready unless said otherwise. */
export function node(fields: NodeFields = {}): Node {
  const { name = 'n1', addresses = ['172.18.0.11'], annotations, labels, isReady = true } = fields
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', ...labels },
      ...(annotations === undefined ? {} : { annotations }),
    },
    status: {
      addresses: addresses.map((address) => ({ type: 'InternalIP', address })),
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  }
}

export interface NamespaceFields {
  readonly name?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
}

export function namespace(fields: NamespaceFields = {}): Namespace {
  const { name = 'default', annotations, labels } = fields
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: { 'kubernetes.io/metadata.name': name, ...labels },
      ...(annotations === undefined ? {} : { annotations }),
    },
    status: { phase: 'Active' },
  }
}
