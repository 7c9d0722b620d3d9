import type { KubeObject, Resource } from './core/object.ts'

/**
 * A further network of pods, for Multus. Its definition is not ours, and need not be installed.
 *
 * @see "Kubernetes Network Custom Resource Definition De-facto Standard", version 1.3
 */
export interface NetworkAttachmentDefinition extends KubeObject {
  readonly spec?: {
    /** A CNI configuration or list of such, as JSON. */
    readonly config?: string
  }
}

export const networkAttachmentResource: Resource<NetworkAttachmentDefinition> = {
  group: 'k8s.cni.cncf.io',
  version: 'v1',
  kind: 'NetworkAttachmentDefinition',
  plural: 'network-attachment-definitions',
  namespaced: true,
}

/** Whether Kube-OVN makes the NICs of the network itself, and not only gives them addresses. */
export function isOfKubeOvn({ spec }: NetworkAttachmentDefinition): boolean {
  let config: unknown
  try {
    config = JSON.parse(spec?.config ?? '')
  } catch {
    return false
  }
  return [config, ...listOf(config, 'plugins'), ...listOf(config, 'delegates')].some(
    (plugin) => fieldOf(plugin, 'type') === 'kube-ovn',
  )
}

function listOf(value: unknown, field: string): readonly unknown[] {
  const list = fieldOf(value, field)
  return Array.isArray(list) ? (list as readonly unknown[]) : []
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[field]
    : undefined
}
