import { waitForObjects } from '../kubernetes/wait.ts'
import type { ApiClient, ApiObject } from '../kubernetes/client.ts'
import { multusUser } from './multus.ts'

/**
 * The custom resource of the Network Plumbing Working Group's de-facto standard for multiple networks, in which a Pod's further networks are
 * described.
 *
 * Multus, which attaches them, is on every node (`multus.ts`).
 */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'network-attachment-definitions.k8s.cni.cncf.io' },
  spec: {
    group: 'k8s.cni.cncf.io',
    scope: 'Namespaced',
    names: {
      plural: 'network-attachment-definitions',
      singular: 'network-attachment-definition',
      kind: 'NetworkAttachmentDefinition',
      shortNames: ['net-attach-def'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { config: { type: 'string', description: 'A CNI configuration, as JSON.' } },
              },
            },
          },
        },
      },
    ],
  },
} as const

/** What Multus reads, and where it says what it did. */
const rights = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: multusUser },
    rules: [
      { apiGroups: ['k8s.cni.cncf.io'], resources: ['*'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'update'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: multusUser },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: multusUser },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: multusUser }],
  },
]

/** Makes NetworkAttachmentDefinitions known to a cluster, and to Multus, and waits until it takes them. */
export async function installNetworkAttachments(api: ApiClient): Promise<void> {
  for (const object of [...rights, definition]) await api.apply(object)
  await waitForObjects<Definition, true>(
    api,
    `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldSelector=metadata.name%3D${definition.metadata.name}`,
    'NetworkAttachmentDefinitions are established',
    ([found]) =>
      found?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ===
      true
        ? true
        : undefined,
  )
}

interface Definition extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}
