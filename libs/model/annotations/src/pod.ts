import type { DualStackCidr, DualStackIp, Family, Mac } from '@kube-ovn/ip'
import { addressesAnnotation, cidrsAnnotation, macAnnotation, usableGateways } from './addresses.ts'
import {
  annotation,
  flagAnnotation,
  textAnnotation,
  type Annotation,
  type Annotations,
} from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'

/**
 * Names the network of a NIC: `ovn` for the primary one, `<nad>.<namespace>.ovn` for further ones, `<nad>.<namespace>`
 * for a NIC of another CNI that only takes its addresses here.
 */
export type Provider = string

export const primaryProvider: Provider = 'ovn'

/** The NIC type of a Pod that asks for none. */
export const defaultNicType = 'veth-pair'

/** The annotations of a Pod about one NIC. Users set some of them to ask for a value; the controller fills in the rest. */
export interface PodAnnotations {
  /** Addresses were allocated and the port is in the Northbound. */
  readonly allocated: Annotation<boolean>
  /** Policies are in place: the NIC may be configured. */
  readonly routed: Annotation<boolean>
  /** May be set by the user: static addresses. Empty for a NIC with a MAC address only. */
  readonly ipAddress: Annotation<DualStackIp>
  /** May be set by the user: static MAC address. */
  readonly macAddress: Annotation<Mac>
  /** Both families of a dual-stack subnet, even for a Pod with one. */
  readonly cidr: Annotation<DualStackCidr>
  readonly gateway: Annotation<DualStackIp>
  /** May be set by the user: name of the Subnet. */
  readonly logicalSwitch: Annotation<string>
  readonly logicalRouter: Annotation<string>
  /** veth-pair, offload-port, dpdk-port or sriov. */
  readonly podNicType: Annotation<string>
  /** Set by the user: the only family wanted on a dual-stack subnet. */
  readonly ipFamily: Annotation<Family>
}

const known = new Map<Provider, PodAnnotations>()

/** Gives the annotations of the NIC in the provider's network. */
export function podAnnotations(provider: Provider = primaryProvider): PodAnnotations {
  const cached = known.get(provider)
  if (cached !== undefined) return cached
  const prefix = `${provider}.kubernetes.io`
  const made: PodAnnotations = {
    allocated: flagAnnotation(`${prefix}/allocated`),
    routed: flagAnnotation(`${prefix}/routed`),
    ipAddress: addressesAnnotation(`${prefix}/ip_address`),
    macAddress: macAnnotation(`${prefix}/mac_address`),
    cidr: cidrsAnnotation(`${prefix}/cidr`),
    gateway: addressesAnnotation(`${prefix}/gateway`),
    logicalSwitch: textAnnotation(`${prefix}/logical_switch`),
    logicalRouter: textAnnotation(`${prefix}/logical_router`),
    podNicType: textAnnotation(`${prefix}/pod_nic_type`),
    ipFamily: annotation(`${prefix}/ip_family`, parseFamily, (family) => `ipv${family}`),
  }
  known.set(provider, made)
  return made
}

/** What the node agent needs to know to configure a NIC. */
export interface PodNetwork {
  readonly provider: Provider
  /** Empty for a NIC with a MAC address only. */
  readonly addresses: DualStackIp
  readonly mac: Mac
  readonly cidrs: DualStackCidr
  /** Of the families in which the Pod has an address. */
  readonly gateways: DualStackIp
  readonly logicalSwitch: string | undefined
  readonly logicalRouter: string | undefined
  readonly nicType: string
  /** False: wait, the controller is not done. */
  readonly isRouted: boolean
}

/**
 * Reads the network that the controller gave the Pod; `undefined` before it did.
 *
 * Addresses alone say nothing: a user may have set them as a request.
 *
 * @throws AnnotationInvalidError
 */
export function readPodNetwork(
  annotations: Annotations | undefined,
  provider: Provider = primaryProvider,
): PodNetwork | undefined {
  const pod = podAnnotations(provider)
  if (pod.allocated.read(annotations) !== true) return undefined
  const mac = pod.macAddress.read(annotations)
  if (mac === undefined) return undefined
  const addresses = pod.ipAddress.read(annotations) ?? {}
  return {
    provider,
    addresses,
    mac,
    cidrs: pod.cidr.read(annotations) ?? {},
    gateways: usableGateways(pod.gateway.read(annotations), addresses),
    logicalSwitch: requested(pod.logicalSwitch, annotations),
    logicalRouter: requested(pod.logicalRouter, annotations),
    nicType: requested(pod.podNicType, annotations) ?? defaultNicType,
    isRouted: pod.routed.read(annotations) ?? false,
  }
}

/** What the user asks for. Nothing asked for is `undefined`, an empty annotation too. */
export interface PodRequest {
  readonly addresses: DualStackIp | undefined
  readonly mac: Mac | undefined
  /** Name of the Subnet. */
  readonly logicalSwitch: string | undefined
  readonly family: Family | undefined
}

/**
 * Reads what the Pod asks for. Once addresses were allocated the same annotations hold them, so a Pod that was
 * allocated asks for what it has.
 *
 * @throws AnnotationInvalidError, also when the addresses are not of the family asked for.
 */
export function readPodRequest(
  annotations: Annotations | undefined,
  provider: Provider = primaryProvider,
): PodRequest {
  const pod = podAnnotations(provider)
  const addresses = requested(pod.ipAddress, annotations)
  const family = requested(pod.ipFamily, annotations)
  if (
    addresses !== undefined &&
    family !== undefined &&
    (family === 4 ? addresses.v6 : addresses.v4) !== undefined
  ) {
    throw new AnnotationInvalidError({
      field: pod.ipAddress.key,
      value: pod.ipAddress.format(addresses),
      cure: `give an IPv${family} address only, or remove the annotation ${pod.ipFamily.key}`,
    })
  }
  return {
    addresses,
    mac: requested(pod.macAddress, annotations),
    logicalSwitch: requested(pod.logicalSwitch, annotations),
    family,
  }
}

function requested<T>(wanted: Annotation<T>, annotations: Annotations | undefined): T | undefined {
  return annotations?.[wanted.key] === '' ? undefined : wanted.read(annotations)
}

function parseFamily(text: string, field: string): Family {
  if (text === 'ipv4') return 4
  if (text === 'ipv6') return 6
  throw new AnnotationInvalidError({ field, value: text, cure: 'write ipv4 or ipv6 in lower case' })
}
