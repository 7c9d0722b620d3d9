import { waitForObjects } from '../kubernetes/wait.ts'
import type { ApiClient, ApiObject } from '../kubernetes/client.ts'

/**
 * The custom resource of the Network Plumbing Working Group's de-facto standard for multiple networks, in which a Pod's further networks are
 * described.
 *
 * Multus, which attaches them, can not be had as a Go module; whoever tries an attachment calls the CNI plugin with `spec.config` as Multus
 * would.
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

/** Makes NetworkAttachmentDefinitions known to a cluster, and waits until it takes them. */
export async function installNetworkAttachments(api: ApiClient): Promise<void> {
  await api.apply(definition)
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
