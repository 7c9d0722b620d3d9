import { formatIp, parseIp, tryParseIp } from '@kube-ovn/ip'
import type { DualStackCidr, DualStackIp, Family, Ip, Mac } from '@kube-ovn/ip'
import { addressesAnnotation, cidrsAnnotation, macAnnotation, usableGateways } from './addresses.ts'
import { addressPoolAnnotation, type AddressPool } from './address-pool.ts'
import {
  annotation,
  flagAnnotation,
  namesAnnotation,
  splitNames,
  textAnnotation,
  type Annotation,
  type Annotations,
} from './annotation.ts'
import { AnnotationInvalidError } from './errors.ts'
import { routesAnnotation, type PodRoute } from './pod-routes.ts'

/**
 * Names the network of a NIC: `ovn` for the primary one, `<nad>.<namespace>.ovn` for further ones, `<nad>.<namespace>`
 * for a NIC of another CNI that only takes its addresses here. One of several NICs in a network ends with `.<interface>`.
 */
export type Provider = string

export const primaryProvider: Provider = 'ovn'

/** Whether the network is one of switches of OVN: the first one, or a further one. */
export function isOvnProvider(provider: Provider): boolean {
  const parts = provider.split('.', 4)
  return provider === primaryProvider || (parts.length === 3 && parts[2] === primaryProvider)
}

/** The network that a NIC is in, as its Subnet and policies name it: of several NICs in one network each has a provider that ends with its interface. */
export function networkOfNic(provider: Provider): Provider {
  const [name, namespace, suffix, nic] = provider.split('.', 4)
  return suffix === primaryProvider && nic !== undefined ? `${name}.${namespace}.${suffix}` : provider
}

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
  /** Of a NIC on a VLAN: the tag of its frames; 0 is none. For others to read. */
  readonly vlanId: Annotation<string>
  /** Of a NIC on a VLAN: the ProviderNetwork. For others to read. */
  readonly providerNetwork: Annotation<string>
  /** veth-pair, offload-port, dpdk-port or sriov. */
  readonly podNicType: Annotation<string>
  /** Set by the user: the only family wanted on a dual-stack subnet. */
  readonly ipFamily: Annotation<Family>
  /** Set by the user, for all pods of a workload: where their addresses come from. */
  readonly ipPool: Annotation<AddressPool>
  /** Set by the user: name of the Vip whose addresses and MAC address the NIC has as its own; empty for none. */
  readonly borrowedVip: Annotation<string>
  /** Set by the user: the port sends from its own addresses only. */
  readonly portSecurity: Annotation<boolean>
  /** Set by the user: further addresses that the port may send from. */
  readonly portVips: Annotation<readonly Ip[]>
  /** Set by the user: SecurityGroups that the port is in. */
  readonly securityGroups: Annotation<readonly string[]>
  /** Set by the user: what DHCPv4 answers to the port, in place of what its Subnet says, as `key=value` separated by commas. */
  readonly dhcpV4Options: Annotation<string>
  /** The same of DHCPv6. */
  readonly dhcpV6Options: Annotation<string>
  /** Set by the user: the port gets frames for MAC addresses that nobody has. */
  readonly layer2Forward: Annotation<boolean>
  /** Set by the user, first network only: the router's next hop for what the Pod sends out of the cluster. */
  readonly northGateway: Annotation<DualStackIp>
  /** Set by the user, to any text: traffic reaches the port once what runs in the Pod announces itself by RARP. */
  readonly activationStrategy: Annotation<string>
  /** Set by the user, also while the Pod runs: what the NIC sends and receives is copied to the node's mirror. */
  readonly mirror: Annotation<boolean>
  /** Set by the user: whether the default route is by this NIC. Without it, that of `eth0` is. */
  readonly defaultRoute: Annotation<boolean>
  /** Set by the user: further routes by this NIC. */
  readonly routes: Annotation<readonly PodRoute[]>
  /** Name of the KubeVirt machine that runs in the Pod. */
  readonly virtualMachine: Annotation<string>
}

/** Those of providers that were asked for of late: users choose names as they like, so that few are remembered. */
const known = new Map<Provider, PodAnnotations>()
const mostKnown = 16

/** Of the part of a key before its slash. */
const longestPrefix = 253
const suffix = '.kubernetes.io'

/** How long the name of a provider may be, since annotations are named after it. */
export const longestProvider = longestPrefix - suffix.length

/** Gives the annotations of the NIC in the provider's network. */
export function podAnnotations(provider: Provider = primaryProvider): PodAnnotations {
  if (provider === primaryProvider) return ofPrimary
  const cached = known.get(provider)
  if (cached !== undefined) return cached
  const made = annotationsOf(provider)
  if (known.size >= mostKnown) known.clear()
  if (provider.length <= longestProvider) known.set(provider, made)
  return made
}

function annotationsOf(provider: Provider): PodAnnotations {
  const prefix = `${provider}.kubernetes.io`
  return {
    allocated: flagAnnotation(`${prefix}/allocated`),
    routed: flagAnnotation(`${prefix}/routed`),
    ipAddress: addressesAnnotation(`${prefix}/ip_address`),
    macAddress: macAnnotation(`${prefix}/mac_address`),
    cidr: cidrsAnnotation(`${prefix}/cidr`),
    gateway: addressesAnnotation(`${prefix}/gateway`),
    logicalSwitch: textAnnotation(`${prefix}/logical_switch`),
    logicalRouter: textAnnotation(`${prefix}/logical_router`),
    vlanId: textAnnotation(`${prefix}/vlan_id`),
    providerNetwork: textAnnotation(`${prefix}/provider_network`),
    podNicType: textAnnotation(`${prefix}/pod_nic_type`),
    ipFamily: annotation(`${prefix}/ip_family`, parseFamily, (family) => `ipv${family}`),
    ipPool: addressPoolAnnotation(`${prefix}/ip_pool`),
    borrowedVip: textAnnotation(`${prefix}/vip`),
    portSecurity: flagAnnotation(`${prefix}/port_security`),
    portVips: annotation(`${prefix}/port_vips`, parseAddresses, (ips) =>
      ips.map((ip) => formatIp(ip)).join(),
    ),
    securityGroups: namesAnnotation(`${prefix}/security_groups`),
    dhcpV4Options: textAnnotation(`${prefix}/dhcp-v4-options`),
    dhcpV6Options: textAnnotation(`${prefix}/dhcp-v6-options`),
    layer2Forward: flagAnnotation(`${prefix}/layer2_forward`),
    northGateway: addressesAnnotation(`${prefix}/north_gateway`),
    activationStrategy: textAnnotation(`${prefix}/activation_strategy`),
    mirror: flagAnnotation(`${prefix}/mirror`),
    defaultRoute: annotation(`${prefix}/default_route`, parseTrueOrFalse, String),
    routes: routesAnnotation(`${prefix}/routes`),
    virtualMachine: textAnnotation(`${prefix}/virtualmachine`),
  }
}

const ofPrimary = annotationsOf(primaryProvider)

/** Annotations by which a Pod asks for addresses of one NIC among several in the same network. */
export function interfaceAnnotations(
  attachment: { readonly namespace: string; readonly name: string },
  nic: string,
): Pick<PodAnnotations, 'ipAddress' | 'macAddress'> {
  const prefix = `${attachment.name}.${attachment.namespace}.kubernetes.io`
  return {
    ipAddress: addressesAnnotation(`${prefix}/ip_address.${nic}`),
    macAddress: macAnnotation(`${prefix}/mac_address.${nic}`),
  }
}

/** Keys by which a Pod asks for addresses of its first network: they belong into the template of a workload. */
export function addressRequestKeys(): readonly string[] {
  const { ipAddress, macAddress, logicalSwitch, ipFamily, ipPool } = podAnnotations()
  return [ipAddress, macAddress, logicalSwitch, ipFamily, ipPool].map(({ key }) => key)
}

/**
 * Finds the annotations about NICs that a Pod was given and does not have any more.
 *
 * Others write `<something>.kubernetes.io/allocated`, too: where we did, there is a `cidr` beside it.
 */
export function staleNicKeys(
  annotations: Annotations | undefined,
  providers: ReadonlySet<Provider>,
): readonly string[] {
  const given = annotations ?? {}
  const keys = Object.keys(given)
  const stale = keys
    .flatMap((key) => furtherProvider(key) ?? [])
    .filter((provider) => !providers.has(provider) && `${provider}${suffix}/cidr` in given)
    .map((provider) => `${provider}${suffix}`)
  const prefixes = new Set(stale)
  return keys.filter((key) => prefixes.has(key.slice(0, key.indexOf('/'))))
}

/** The networks in which a Pod was given addresses, as its annotations say; the primary one first. */
export function givenProviders(annotations: Annotations | undefined): readonly Provider[] {
  const given = annotations ?? {}
  const further = Object.keys(given).flatMap((key) => furtherProvider(key) ?? [])
  return ofPrimary.allocated.key in given ? [primaryProvider, ...further] : further
}

/** Providers of the NICs that have their addresses, with the families of these; what is written for one may be anybody's text. */
export function allocatedNics(
  annotations: Annotations | undefined,
): readonly { readonly provider: Provider; readonly families: readonly Family[] }[] {
  const given = annotations ?? {}
  return givenProviders(annotations).flatMap((provider) => {
    if (given[`${provider}${suffix}/allocated`] !== 'true') return []
    const words = (given[`${provider}${suffix}/ip_address`] ?? '').split(',', 2).filter((word) => word !== '')
    const families = ([4, 6] as const).filter((family) =>
      words.some((word) => word.includes(':') === (family === 6)),
    )
    return [{ provider, families }]
  })
}

/** Where a NIC is that has its addresses. */
export interface PlacedNic {
  readonly provider: Provider
  /** In canonical text, the first two at most: a NIC has no more. */
  readonly addresses: readonly string[]
  readonly logicalSwitch: string | undefined
  /** Absent on a network that OVN does not route. */
  readonly logicalRouter: string | undefined
}

/** Says where the NICs are that have their addresses, as the controller wrote it; text that is no address counts for nothing. */
export function placedNics(annotations: Annotations | undefined): readonly PlacedNic[] {
  const given = annotations ?? {}
  return allocatedNics(annotations).map(({ provider }) => {
    const words = (given[`${provider}${suffix}/ip_address`] ?? '').split(',', 2)
    return {
      provider,
      addresses: words.flatMap((word) => {
        const ip = tryParseIp(word)
        return ip === undefined ? [] : [formatIp(ip)]
      }),
      logicalSwitch: given[`${provider}${suffix}/logical_switch`] || undefined,
      logicalRouter: given[`${provider}${suffix}/logical_router`] || undefined,
    }
  })
}

/** The provider of a further NIC whose `allocated` this is. There is a dot in its name. */
function furtherProvider(key: string): Provider | undefined {
  const end = `${suffix}/allocated`
  if (!key.endsWith(end)) return undefined
  const provider = key.slice(0, -end.length)
  const dot = provider.indexOf('.', 1)
  return dot < 0 || dot === provider.length - 1 || provider.includes('/') ? undefined : provider
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
  /** Name of the machine that runs in the Pod, whose port it is then. */
  readonly virtualMachine: string | undefined
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
    virtualMachine: requested(pod.virtualMachine, annotations),
    isRouted: pod.routed.read(annotations) ?? false,
  }
}

/** Reads what a Pod asks for one NIC of several in a network: nothing is `undefined`, an empty annotation too. */
export function readInterfaceRequest(
  annotations: Annotations | undefined,
  { ipAddress, macAddress }: ReturnType<typeof interfaceAnnotations>,
): Pick<PodRequest, 'addresses' | 'mac'> {
  return { addresses: requested(ipAddress, annotations), mac: requested(macAddress, annotations) }
}

/** What the user asks for. Nothing asked for is `undefined`, an empty annotation too. */
export interface PodRequest {
  readonly addresses: DualStackIp | undefined
  readonly mac: Mac | undefined
  /** Name of the Subnet. */
  readonly logicalSwitch: string | undefined
  readonly family: Family | undefined
  readonly pool: AddressPool | undefined
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
    pool: requested(pod.ipPool, annotations),
  }
}

function requested<T>(wanted: Annotation<T>, annotations: Annotations | undefined): T | undefined {
  return annotations?.[wanted.key] === '' ? undefined : wanted.read(annotations)
}

function parseTrueOrFalse(text: string, field: string): boolean {
  if (text === 'true') return true
  if (text === 'false') return false
  throw new AnnotationInvalidError({ field, value: text, cure: 'write true or false, or remove it' })
}

function parseFamily(text: string, field: string): Family {
  if (text === 'ipv4') return 4
  if (text === 'ipv6') return 6
  throw new AnnotationInvalidError({ field, value: text, cure: 'write ipv4 or ipv6 in lower case' })
}

function parseAddresses(text: string, field: string): readonly Ip[] {
  return [...new Set(splitNames(text, field).map((part) => parseIp(part, field)))]
}
