import {
  AnnotationInvalidError,
  forwarderAnnotations,
  podAnnotations,
  primaryProvider,
  readPodNetwork,
  type Annotations,
  type PodNetwork,
  type PodRoute,
} from '@kube-ovn/annotations'
import { formatIp, tryParseIp } from '@kube-ovn/ip'
import type { Store } from '@kube-ovn/kube'
import type { Pod } from '@kube-ovn/kube-api/core'
import { readInEffect, type Subnet } from '@kube-ovn/kube-api'
import { AttachmentError, type AttachmentStage } from '../errors.ts'
import { mtuOfNetwork } from '../kube-objects.ts'
import { podIdentities } from '../kube-objects.ts'
import type { AttachmentRequest, PodAddress, RouteText } from './snapshot.ts'

/** What the controller decided about a pod's interface. */
export interface Allocation {
  /** The Pod's uid in the API, which events refer to. */
  readonly uid: string
  /** Of the network in annotations and names: that of several NICs in one network ends with the interface. */
  readonly provider: string
  /** What the port is named after: the Pod, or the machine that runs in it, in this Pod and in those after it. */
  readonly holder: string
  readonly subnet: string
  readonly mac: string
  readonly addresses: readonly PodAddress[]
  readonly ownsDefaultRoute: boolean
  /** Further ones, that the Pod asks for. */
  readonly routes: readonly RouteText[]
  /** Those that the interface has no address for. */
  readonly otherRoutes: readonly RouteText[]
  /** Of the subnet or its physical network, bytes; 0 means: as the tunnel allows. */
  readonly mtu: number
  /** The subnet is on a physical network: its switch is connected to the bridge of that. */
  readonly isUnderlay: boolean
  /** Those that are no routers of OVN, and have to answer before the pod starts. */
  readonly physicalGateways: readonly string[]
  /** The pod forwards packets. */
  readonly forwards?: true
}

/** Where the answer comes from. */
export interface AllocationCaches {
  readonly pods: Store<Pod>
  readonly subnets: Store<Subnet>
  /** Of the node's object: they say by which MTU it is connected to physical networks. */
  readonly labels: Readonly<Record<string, string>>
}

/** Something that is still missing, and who is expected to supply it. */
export interface Pending {
  readonly stage: AttachmentStage
  readonly reason: string
}

/**
 * Reads what the controller decided, or what is still to be waited for.
 *
 * @throws AttachmentError when the pod that was seen before is gone: nobody wants the interface any more; when no Subnet has the network's provider
 */
export function readAllocation(
  request: AttachmentRequest,
  caches: AllocationCaches,
  wasSeen: boolean,
): Allocation | Pending {
  const pod = readPod(request, caches.pods, wasSeen)
  if ('reason' in pod) return pod
  if (request.provider !== primaryProvider) requireSubnet(request, pod, caches.subnets)
  const provider = nicProvider(request, pod)
  const network = trying(() => readPodNetwork(pod.metadata.annotations, provider))
  if ('reason' in network) return network
  const asked = trying(() => readAskedRoutes(pod, request, provider), 'parse-routes')
  if ('reason' in asked) return asked
  const { ownsDefaultRoute } = asked
  const hasAddresses = network.addresses.v4 !== undefined || network.addresses.v6 !== undefined
  if (hasAddresses && ownsDefaultRoute && !network.isRouted) {
    return {
      stage: 'wait-route',
      reason: 'kube-ovn-controller has not marked the Pod as routed; its events say why',
    }
  }
  const name = network.logicalSwitch ?? ''
  const subnet = caches.subnets.get(name)
  if (subnet === undefined)
    return { stage: 'get-subnet', reason: `Subnet "${name}" of the Pod does not exist` }
  const inEffect = readInEffect(subnet) ?? subnet.spec ?? {}
  const isUnderlay = (inEffect.vlan ?? '') !== ''
  const isPhysical = isUnderlay && inEffect.logicalGateway !== true && inEffect.u2oInterconnection !== true
  const mtu =
    (inEffect.mtu ?? 0) > 0 || !isPhysical ? (inEffect.mtu ?? 0) : physicalMtu(pod, provider, caches.labels)
  if (typeof mtu === 'object') return mtu
  const addresses = podAddresses(network)
  const routed = isUnderlay && inEffect.u2oInterconnection === true ? byRouter(addresses, subnet) : addresses
  if ('reason' in routed) return routed
  return {
    uid: pod.metadata.uid ?? '',
    provider,
    holder: network.virtualMachine ?? request.podName,
    subnet: name,
    mac: network.mac,
    ...{ addresses: routed, ownsDefaultRoute, mtu, isUnderlay },
    physicalGateways: isUnderlay ? physicalGateways(pod, provider, subnet, addresses) : [],
    ...divided(asked.routes, routed),
    ...(forwarderAnnotations.forwarding.read(pod.metadata.annotations) === true ? { forwards: true } : {}),
  }
}

/** One of several NICs in a network has annotations of its own. */
function nicProvider({ provider, ifName }: AttachmentRequest, { metadata }: Pod): string {
  const own = `${provider}.${ifName}`
  return provider !== primaryProvider && podAnnotations(own).allocated.key in (metadata.annotations ?? {})
    ? own
    : provider
}

interface AskedRoutes {
  readonly ownsDefaultRoute: boolean
  readonly routes: readonly PodRoute[]
}

/** What the Pod asks for one of several NICs in a network goes before what it asks for all of them. */
function readAskedRoutes(
  { metadata }: Pod,
  { ifName, provider }: AttachmentRequest,
  own: string,
): AskedRoutes {
  const [nic, network] = [podAnnotations(own), podAnnotations(provider)]
  const { annotations } = metadata
  return {
    ownsDefaultRoute:
      nic.defaultRoute.read(annotations) ?? network.defaultRoute.read(annotations) ?? ifName === 'eth0',
    routes: nic.routes.read(annotations) ?? network.routes.read(annotations) ?? [],
  }
}

/** Routes of a family in which there is no address would lead nowhere. */
function divided(
  routes: readonly PodRoute[],
  addresses: readonly PodAddress[],
): Pick<Allocation, 'routes' | 'otherRoutes'> {
  const isMeant = ({ family }: PodRoute): boolean =>
    addresses.some(({ ip }) => ip.includes(':') === (family === 6))
  const text = ({ destination, gateway }: PodRoute): RouteText => ({ dst: destination, gw: gateway ?? '' })
  return {
    routes: routes.filter(isMeant).map(text),
    otherRoutes: routes.filter((route) => !isMeant(route)).map(text),
  }
}

/** MTU of the NIC by which the node is connected to the physical network of a pod. */
function physicalMtu(
  { metadata }: Pod,
  provider: string,
  labels: Readonly<Record<string, string>>,
): number | Pending {
  const network = podAnnotations(provider).providerNetwork.read(metadata.annotations) ?? ''
  if (network === '') return 0
  const mtu = mtuOfNetwork(labels, network)
  if (mtu !== undefined) return mtu
  const reason = `this node is not connected to ProviderNetwork ${network} yet; the status of that says why`
  return { stage: 'mtu', reason }
}

/** A machine that moves to this node is not heard before it runs here. */
function physicalGateways(
  { metadata }: Pod,
  provider: string,
  subnet: Subnet,
  addresses: readonly PodAddress[],
): readonly string[] {
  const isWaiting = (podAnnotations(provider).activationStrategy.read(metadata.annotations) ?? '') !== ''
  const isLogical = (readInEffect(subnet) ?? subnet.spec)?.logicalGateway === true
  if (isLogical || isWaiting || subnet.spec?.disableGatewayCheck === true) return []
  const own = new Set(addresses.map(({ ip }) => ip))
  return addresses.flatMap(({ gateway }) => (gateway === undefined || own.has(gateway) ? [] : [gateway]))
}

/** What leaves the subnet goes to the router of the VPC, which knows the way to the gateway outside, too. */
function byRouter(addresses: readonly PodAddress[], { status }: Subnet): readonly PodAddress[] | Pending {
  const gateways = (status?.u2oInterconnectionIP ?? '')
    .split(',')
    .map((text) => tryParseIp(text.trim()))
    .filter((ip) => ip !== undefined)
    .map((ip) => formatIp(ip))
  const routed = addresses.map((address) => {
    const gateway = gateways.find((text) => text.includes(':') === address.ip.includes(':'))
    return gateway === undefined ? undefined : { ...address, gateway }
  })
  const known = routed.filter((address) => address !== undefined)
  if (known.length === addresses.length) return known
  const reason = 'kube-ovn-controller has not given the router an address in the Subnet; its events say why'
  return { stage: 'u2o-address', reason }
}

/** What the controller decided about an interface that another plugin makes (macvlan, host-device, …). */
export type DelegatedAllocation = Pick<
  Allocation,
  'uid' | 'addresses' | 'ownsDefaultRoute' | 'routes' | 'otherRoutes'
>

/**
 * Reads the addresses of an interface that another plugin makes, or what is still to be waited for.
 *
 * @throws AttachmentError when no Subnet has the provider, or when the pod that was seen before is gone
 */
export function readDelegatedAllocation(
  request: AttachmentRequest,
  caches: Pick<AllocationCaches, 'pods' | 'subnets'>,
  wasSeen: boolean,
): DelegatedAllocation | Pending {
  const pod = readPod(request, caches.pods, wasSeen)
  if ('reason' in pod) return pod
  requireSubnet(request, pod, caches.subnets)
  const addresses = trying(() => readAddresses(pod.metadata.annotations, request.provider))
  if ('reason' in addresses) return addresses
  const asked = trying(() => readAskedRoutes(pod, request, request.provider), 'parse-routes')
  if ('reason' in asked) return asked
  const { ownsDefaultRoute, routes } = asked
  return { uid: pod.metadata.uid ?? '', addresses, ownsDefaultRoute, ...divided(routes, addresses) }
}

/** @throws AttachmentError when no Subnet has the provider, and the Pod names none for it */
function requireSubnet(request: AttachmentRequest, { metadata }: Pod, subnets: Store<Subnet>): void {
  const { provider, ifName } = request
  const isNamed = [provider, `${provider}.${ifName}`].some(
    (nic) => (podAnnotations(nic).logicalSwitch.read(metadata.annotations) ?? '') !== '',
  )
  if (isNamed) return
  const isServed = [...subnets.values()].some(
    (subnet) => (readInEffect(subnet) ?? subnet.spec)?.provider === provider,
  )
  if (isServed) return
  throw new AttachmentError({
    pod: keyOf(request),
    stage: 'provider',
    reason: `provider ${provider} is not bound to any subnet: give a Subnet spec.provider ${provider}`,
  })
}

function keyOf({ podNamespace, podName }: AttachmentRequest): string {
  return `${podNamespace}/${podName}`
}

/** The very Pod that is to have the interface, as far as it was seen. */
export function podOf(request: AttachmentRequest, pods: Store<Pod>): Pod | undefined {
  const pod = pods.get(keyOf(request))
  const isIt = pod !== undefined && (request.podUid === '' || podIdentities(pod).includes(request.podUid))
  return isIt ? pod : undefined
}

function readPod(request: AttachmentRequest, pods: Store<Pod>, wasSeen: boolean): Pod | Pending {
  const key = keyOf(request)
  const pod = podOf(request, pods)
  if (pod !== undefined) return pod
  if (wasSeen)
    throw new AttachmentError({ pod: key, stage: 'get-pod', reason: 'the Pod was deleted meanwhile' })
  return { stage: 'get-pod', reason: `the API server has not sent Pod ${key} to this node yet` }
}

/** The addresses that the controller gave; `undefined` before it did. */
function readAddresses(
  annotations: Annotations | undefined,
  provider: string,
): readonly PodAddress[] | undefined {
  const keys = podAnnotations(provider)
  if (keys.allocated.read(annotations) !== true) return undefined
  return podAddresses({
    addresses: keys.ipAddress.read(annotations) ?? {},
    cidrs: keys.cidr.read(annotations) ?? {},
    gateways: keys.gateway.read(annotations) ?? {},
  })
}

function trying<T extends object>(
  read: () => T | undefined,
  stage: AttachmentStage = 'wait-address',
): T | Pending {
  try {
    return (
      read() ?? {
        stage: 'wait-address',
        reason: 'kube-ovn-controller has not allocated an address to the Pod; its events say why',
      }
    )
  } catch (error) {
    if (!(error instanceof AnnotationInvalidError)) throw error
    const { field, value, cure } = error.details
    return { stage, reason: `annotation ${field}="${value}" is not valid: ${cure}` }
  }
}

function podAddresses(network: Pick<PodNetwork, 'addresses' | 'cidrs' | 'gateways'>): readonly PodAddress[] {
  const families = [
    { ip: network.addresses.v4, cidr: network.cidrs.v4, gateway: network.gateways.v4, host: 32 },
    { ip: network.addresses.v6, cidr: network.cidrs.v6, gateway: network.gateways.v6, host: 128 },
  ]
  return families.flatMap(({ ip, cidr, gateway, host }) =>
    ip === undefined
      ? []
      : [
          {
            ip: formatIp(ip),
            prefixLength: cidr?.prefixLength ?? host,
            gateway: gateway === undefined ? undefined : formatIp(gateway),
          },
        ],
  )
}
