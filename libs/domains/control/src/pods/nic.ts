import {
  interfaceAnnotations,
  podAnnotations,
  primaryProvider,
  type NetworkSelection,
  type Provider,
} from '@kube-ovn/annotations'
import { isOfKubeOvn } from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import { podPortName } from '@kube-ovn/ovn-names'
import type { ControlWorld } from '../world.ts'
import { askedOf, ovnProvider, type Attachment } from './asked-networks.ts'
import { PodNetworkRepeatedError, PodNetworkUnavailableError } from './errors.ts'
import type { Holder } from './holder.ts'

/** A NIC of a pod. */
export interface PodNic {
  /** Names the annotations about the NIC. */
  readonly provider: Provider
  /** Name of the port, of the IP object, and of the NIC in IPAM. */
  readonly port: string
  /** The NIC is a port of OVN, or another CNI's, which only takes addresses here. */
  readonly has: 'port' | 'addresses'
  /** The provider of the Subnets that serve it; absent for the NIC that every pod has. */
  readonly boundTo?: Provider
  /** What the request for the network says beside its name. */
  readonly asked?: Pick<NetworkSelection, 'addresses' | 'mac'>
  /** Annotations for one of several NICs in one network. */
  readonly own?: ReturnType<typeof interfaceAnnotations>
}

/** The NIC that every pod has. */
export function primaryNic({ namespace, name }: Pick<Holder, 'namespace' | 'name'>): PodNic {
  return { provider: primaryProvider, port: podPortName(namespace, name), has: 'port' }
}

export function isPrimary({ provider }: PodNic): boolean {
  return provider === primaryProvider
}

/**
 * Lists the NICs of a pod that concern us: the one in the cluster's network, unless it is replaced, and those that it
 * asks Multus for. NICs of other CNIs count when a Subnet gives them addresses; those in one network have the same ones.
 *
 * @throws AnnotationInvalidError, PodNetworkUnavailableError and PodNetworkRepeatedError
 */
export function nicsOf(pod: Pod, holder: Holder, world: ControlWorld): readonly PodNic[] {
  const { hasPrimary, attachments } = askedOf(pod, world.settings)
  const attached = attachments.flatMap(
    (attachment) => attachedNic(attachment, attachments, holder, world) ?? [],
  )
  return [
    ...(hasPrimary ? [primaryNic(holder)] : []),
    ...distinct(attached).filter((nic) => !isLeftAlone(pod, nic, world)),
  ]
}

/** The NICs of different providers. @throws PodNetworkRepeatedError since a port is for one NIC */
function distinct(nics: readonly PodNic[]): readonly PodNic[] {
  const byProvider = new Map<Provider, PodNic>()
  for (const nic of nics) {
    if (!byProvider.has(nic.provider)) byProvider.set(nic.provider, nic)
    else if (nic.has === 'port') throw new PodNetworkRepeatedError({ provider: nic.provider })
  }
  return [...byProvider.values()]
}

function attachedNic(
  attachment: Attachment,
  all: readonly Attachment[],
  holder: Holder,
  world: ControlWorld,
): PodNic | undefined {
  const { namespace, name, interface: nicName, addresses, mac } = attachment
  const definition = world.networkAttachments.get(`${namespace}/${name}`)
  if (definition === undefined) {
    const cure = 'create the NetworkAttachmentDefinition, or ask for one that exists'
    throw new PodNetworkUnavailableError({ network: `${namespace}/${name}`, cure })
  }
  const has = isOfKubeOvn(definition) ? 'port' : 'addresses'
  const boundTo = has === 'port' ? ovnProvider(attachment) : `${name}.${namespace}`
  if (has === 'addresses' && !isServed(boundTo, world)) return undefined
  const isOneOfSeveral =
    has === 'port' && all.filter((other) => other.name === name && other.namespace === namespace).length > 1
  const provider = isOneOfSeveral && nicName !== undefined ? `${boundTo}.${nicName}` : boundTo
  return {
    provider,
    port: podPortName(holder.namespace, holder.name, provider),
    has,
    boundTo,
    asked: { ...(addresses === undefined ? {} : { addresses }), ...(mac === undefined ? {} : { mac }) },
    ...(nicName === undefined ? {} : { own: interfaceAnnotations({ namespace, name }, nicName) }),
  }
}

/** Another CNI's network is our concern if there is a Subnet for it. */
function isServed(provider: Provider, world: ControlWorld): boolean {
  return world.subnetProviders.keys('provider', provider).length > 0
}

/** Who writes `allocated` without addresses wants none. */
function isLeftAlone(pod: Pod, { provider, port }: PodNic, world: ControlWorld): boolean {
  const { annotations } = pod.metadata
  const { allocated, ipAddress } = podAnnotations(provider)
  const isSettled = allocated.read(annotations) === true && (annotations?.[ipAddress.key] ?? '') === ''
  return isSettled && world.ipam.lease(port) === undefined
}
