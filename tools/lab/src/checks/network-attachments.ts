import { ApiError } from '../errors.ts'
import { claimRow, equalRow, type Check } from './check.ts'
import type { ApiClient, ApiObject } from '../kubernetes/client.ts'

const config = JSON.stringify({ cniVersion: '1.0.0', name: 'attached', type: 'kube-ovn' })

/** Pods' further networks can be described, also by those who make mistakes. */
export const networkAttachments: Check = {
  name: 'network attachments',
  async run({ api, topology }) {
    if (!topology.hasNetworkAttachments) return []
    const wanted = attachment(config)
    const stored = await api.apply(wanted)
    await api.delete(wanted)
    return [
      equalRow('a NetworkAttachmentDefinition is stored', config, stored.spec.config),
      claimRow(
        'one whose configuration is no text is refused',
        await isRefused(api),
        'refused',
        'stored all the same',
      ),
    ]
  },
}

function attachment<T>(value: T): ApiObject & { readonly spec: { readonly config: T } } {
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name: 'attached', namespace: 'default' },
    spec: { config: value },
  }
}

async function isRefused(api: ApiClient): Promise<boolean> {
  try {
    await api.create(attachment({ type: 'kube-ovn' }))
  } catch (error) {
    if (error instanceof ApiError && error.details.status === 422) return true
    throw error
  }
  await api.delete(attachment(''))
  return false
}
