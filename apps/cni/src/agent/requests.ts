import { primaryProvider } from '@kube-ovn/annotations'
import type { AttachmentRequest } from '@kube-ovn/features-node'
import { z } from 'zod'

const route = z.object({ dst: z.string().default(''), gw: z.string().default('') })

const attachment = z.object({
  pod_name: z.string().min(1),
  pod_namespace: z.string().min(1),
  container_id: z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/),
  net_ns: z.string().default(''),
  if_name: z.string().min(1).max(15),
  provider: z.string().default(''),
  routes: z.array(route).nullish(),
  pod_uid: z.string().default(''),
  network: z.string().default(''),
})

/** An attachment is removed by its container and interface alone. */
const removal = attachment.extend({
  pod_name: z.string().default(''),
  pod_namespace: z.string().default(''),
})

const collection = z.object({
  network: z.string(),
  valid_attachments: z.array(z.object({ container_id: z.string(), if_name: z.string() })),
})

/** What was wrong with the body of a request: the field, and what it should be. */
export interface Refusal {
  readonly refusal: string
}

/** The name of the network in the configuration that is installed; an old plugin does not tell it. */
const primaryNetwork = 'kube-ovn'

/** Reads the body of add or check. */
export function parseAttachmentRequest(body: unknown): AttachmentRequest | Refusal {
  const parsed = attachment.safeParse(body)
  if (!parsed.success) return refuse(parsed.error)
  if (parsed.data.net_ns === '') return { refusal: 'net_ns: a path of a network namespace is required' }
  return toRequest(parsed.data)
}

/** Reads the body of del, which may leave out the pod and its namespace. */
export function parseRemovalRequest(body: unknown): AttachmentRequest | Refusal {
  const parsed = removal.safeParse(body)
  return parsed.success ? toRequest(parsed.data) : refuse(parsed.error)
}

function toRequest(message: z.infer<typeof removal>): AttachmentRequest {
  return {
    podNamespace: message.pod_namespace,
    podName: message.pod_name,
    podUid: message.pod_uid,
    containerId: message.container_id,
    ifName: message.if_name,
    netns: message.net_ns,
    // An old plugin may leave it empty.
    provider: message.provider === '' ? primaryProvider : message.provider,
    network: message.network === '' ? primaryNetwork : message.network,
    routes: message.routes ?? [],
  }
}

export interface CollectionRequest {
  readonly network: string
  readonly valid: readonly { readonly containerId: string; readonly ifName: string }[]
}

/** Reads the body of gc. */
export function parseCollectionRequest(body: unknown): CollectionRequest | Refusal {
  const parsed = collection.safeParse(body)
  if (!parsed.success) return refuse(parsed.error)
  return {
    network: parsed.data.network,
    valid: parsed.data.valid_attachments.map(({ container_id, if_name }) => ({
      containerId: container_id,
      ifName: if_name,
    })),
  }
}

function refuse(error: z.ZodError): Refusal {
  return { refusal: error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ') }
}
