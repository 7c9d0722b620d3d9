import { isOvnProvider } from '@kube-ovn/annotations'
import {
  AttachmentDiffersError,
  AttachmentError,
  type Attachment,
  type AttachmentRequest,
  type DelegatedAllocation,
  type PodAddress,
  type PodNics,
} from '@kube-ovn/features-node'
import {
  addPath,
  checkPath,
  delPath,
  gcPath,
  statusPath,
  type AddressMessage,
  type AttachedMessage,
} from '../protocol/messages.ts'
import { failure, type Answer, type Handler } from './api-server.ts'
import type { Readiness } from './readiness.ts'
import { parseAttachmentRequest, parseCollectionRequest, parseRemovalRequest } from './requests.ts'

/** Code of an error of ours in the sense of the CNI specification, which leaves 100 and above to plugins. */
const attachmentDiffers = 100

/** The agent's answers to the plugin, by path. */
export function createHandlers(podNics: PodNics, readiness: () => Readiness): ReadonlyMap<string, Handler> {
  return new Map<string, Handler>([
    [addPath, (body, signal) => add(podNics, body, signal)],
    [delPath, (body) => remove(podNics, body)],
    [checkPath, (body) => check(podNics, body)],
    [gcPath, (body) => collect(podNics, body)],
    [statusPath, async () => status(readiness())],
  ])
}

async function add(podNics: PodNics, body: unknown, signal: AbortSignal): Promise<Answer> {
  const request = parseAttachmentRequest(body)
  if ('refusal' in request) return failure(400, request.refusal)
  try {
    if (isDelegated(request))
      return { status: 200, body: delegatedMessage(request, await podNics.delegate(request, signal)) }
    return { status: 200, body: attachedMessage(await podNics.add(request, signal)) }
  } catch (error) {
    return attachmentFailure(error)
  }
}

async function remove(podNics: PodNics, body: unknown): Promise<Answer> {
  const request = parseRemovalRequest(body)
  if ('refusal' in request) return failure(400, request.refusal)
  // The plugin that made the interface removes it.
  if (isDelegated(request)) return { status: 204 }
  await podNics.remove(request)
  return { status: 204 }
}

async function check(podNics: PodNics, body: unknown): Promise<Answer> {
  const request = parseAttachmentRequest(body)
  if ('refusal' in request) return failure(400, request.refusal)
  // The plugin that made the interface checks it.
  if (isDelegated(request)) return { status: 204 }
  try {
    await podNics.check(request)
    return { status: 204 }
  } catch (error) {
    if (!(error instanceof AttachmentDiffersError)) return attachmentFailure(error)
    return failure(409, error.details.differences.join('; '), attachmentDiffers)
  }
}

async function collect(podNics: PodNics, body: unknown): Promise<Answer> {
  const request = parseCollectionRequest(body)
  if ('refusal' in request) return failure(400, request.refusal)
  await podNics.collect(request.network, request.valid)
  return { status: 204 }
}

function status({ reasons, code }: Readiness): Answer {
  return reasons.length === 0 ? { status: 204 } : failure(503, reasons.join('; '), code)
}

function attachmentFailure(error: unknown): Answer {
  if (!(error instanceof AttachmentError)) throw error
  const { stage, reason, pod } = error.details
  return failure(stage === 'provider' ? 400 : 500, `${reason} (pod ${pod}, stage ${stage})`)
}

/** Whether another plugin makes the interface and asks for addresses alone. */
function isDelegated({ provider }: AttachmentRequest): boolean {
  return !isOvnProvider(provider)
}

function delegatedMessage(
  request: AttachmentRequest,
  { addresses, ownsDefaultRoute, routes }: DelegatedAllocation,
): AttachedMessage {
  return {
    ips: addresses.map((address) => addressMessage(address, ownsDefaultRoute)),
    mac_address: '',
    routes: [...request.routes, ...routes],
    mtu: 0,
    nicname: '',
  }
}

function addressMessage({ ip, prefixLength, gateway }: PodAddress, hasDefaultRoute: boolean): AddressMessage {
  return {
    protocol: ip.includes(':') ? 'IPv6' : 'IPv4',
    ip,
    cidr: `${ip}/${prefixLength}`,
    gateway: hasDefaultRoute ? (gateway ?? '') : '',
  }
}

function attachedMessage({ allocation, wanted }: Attachment): AttachedMessage {
  return {
    ips: allocation.addresses.map((address) => addressMessage(address, allocation.ownsDefaultRoute)),
    mac_address: wanted.mac,
    routes: wanted.routes.map((route) => ({ dst: route.destination, gw: route.gateway ?? '' })),
    mtu: wanted.mtu,
    nicname: wanted.ifName,
  }
}
