import { createHash } from 'node:crypto'
import { serviceLabel } from '@kube-ovn/annotations'
import {
  backendsOf,
  backendsOn,
  protocolOf,
  servingBackends,
  type Place,
  type Protocol,
} from '@kube-ovn/endpoints'
import {
  contains,
  familyOf,
  formatIp,
  networkText,
  parseCidr,
  tryParseIp,
  type Cidr,
  type Family,
} from '@kube-ovn/ip'
import type { EndpointSlice, Service, ServicePort } from '@kube-ovn/kube-api/core'

/** Where clients of one kind are led to. */
export interface Backends {
  /** `address:port`, each once. */
  readonly list: readonly string[]
  /** There are some, but none that these clients may have: what they send is dropped, so that they try again. */
  readonly areElsewhere: boolean
}

/** A port of a Service in one family, as a node serves it. */
export interface ServedPort {
  /** `namespace/name/port/protocol` and the family. */
  readonly id: string
  /** The age of its Service, and that; in order of these texts. */
  readonly rank: string
  /** Of that, for names that may not be long. */
  readonly hash: string
  readonly family: Family
  readonly protocol: Protocol
  readonly port: number
  readonly hasAffinity: boolean
  readonly clusterIps: readonly string[]
  /** Of these, those of the external ones that only these may ask, as prefixes; all may where there are none. */
  readonly guarded: { readonly addresses: readonly string[]; readonly sources: readonly string[] }
  /** Addresses from outside: `externalIPs`, and those of type LoadBalancer. */
  readonly externalIps: readonly string[]
  readonly nodePort: number | undefined
  /** Of who asks a cluster address. */
  readonly inside: Backends
  /** Of who asks an address from outside or a node port. */
  readonly outside: Backends
  /** Clients from outside get backends on the node alone (`externalTrafficPolicy: Local`); who is inside gets all backends there. */
  readonly keepsSource: boolean
  /** They are not seen as themselves all the same: some of these backends would answer by another node. */
  readonly hidesSource: boolean
  readonly all: Backends
  /** Of UDP: where flows that are there may go on to lead, whatever new ones are led to. */
  readonly held: readonly string[]
}

/** What counts of the node beside its place. */
interface NodeFacts {
  /** Prefixes of backends that would answer clients outside by another node. */
  readonly leavingElsewhere?: readonly Cidr[]
  /** The addresses that its Node names. */
  readonly addresses?: readonly string[]
}

/** Reads what a node serves of a Service; nothing of one without a cluster address. */
export function servedPorts(
  service: Service,
  slices: readonly EndpointSlice[],
  place: Place,
  node: NodeFacts = {},
): readonly ServedPort[] {
  const { spec = {} } = service
  if (spec.type === 'ExternalName' || !isForProxy(service)) return []
  const clusterIps = clusterAddressesOf(service)
  if (clusterIps.length === 0) return []
  return ([4, 6] as const).flatMap((family) => {
    const own = clusterIps.filter((ip) => familyOfText(ip) === family)
    if (own.length === 0) return []
    return (spec.ports ?? []).map((port) => servedPort(service, slices, place, { family, own, port, node }))
  })
}

export function clusterAddressesOf({ spec = {} }: Service): readonly string[] {
  return (spec.clusterIPs ?? [spec.clusterIP ?? '']).flatMap(addressesOf)
}

/** Whether the usual proxy is to do anything for a Service. */
export function isForProxy({ metadata: { labels = {} } }: Service): boolean {
  return labels[serviceLabel.proxyName] === undefined && labels[serviceLabel.headless] === undefined
}

interface Part {
  readonly family: Family
  readonly own: readonly string[]
  readonly port: ServicePort
  readonly node: NodeFacts
}

function servedPort(
  { spec = {}, metadata, status }: Service,
  slices: readonly EndpointSlice[],
  place: Place,
  { family, own, port, node: { leavingElsewhere = [], addresses = [] } }: Part,
): ServedPort {
  const protocol = protocolOf(port)
  const ofFamily = (texts: readonly string[]) =>
    [...new Set(texts.flatMap(addressesOf))].filter((ip) => familyOfText(ip) === family)
  const ingress = ofFamily(
    spec.type === 'LoadBalancer'
      ? (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, ipMode }) =>
          ip === undefined || ipMode === 'Proxy' ? [] : [ip],
        )
      : [],
  )
  const everybody = backendsOf(slices, port, family)
  const near = backendsOn(place, 'hints', slices, port, family)
  const here = backendsOn(place, 'node', slices, port, family)
  const all = { list: near, areElsewhere: false }
  const local = { list: here, areElsewhere: here.length === 0 && everybody.length > 0 }
  const ranges = (spec.loadBalancerSourceRanges ?? []).flatMap((text) => prefixOf(text, family))
  const sources = ranges.map(networkText)
  const keepsSource = spec.externalTrafficPolicy === 'Local'
  const { namespace = '', name, creationTimestamp = '' } = metadata
  const id = `${namespace}/${name}/${port.port}/${protocol}/${family}`
  return {
    ...{
      id,
      rank: `${creationTimestamp} ${id}`,
      hash: createHash('sha256').update(id).digest('hex').slice(0, 16),
    },
    ...{ family, protocol, port: port.port, hasAffinity: spec.sessionAffinity === 'ClientIP' },
    clusterIps: own,
    externalIps: [...new Set([...ofFamily(spec.externalIPs ?? []), ...ingress])],
    guarded: {
      addresses: (spec.loadBalancerSourceRanges ?? []).length > 0 ? ingress : [],
      // A node that has such an address itself is seen by it when it asks there.
      sources: addresses.some((ip) => isIn(ranges, ip)) ? [...sources, ...ingress] : sources,
    },
    nodePort: spec.type === 'ClusterIP' || port.nodePort === 0 ? undefined : port.nodePort,
    inside: spec.internalTrafficPolicy === 'Local' ? local : all,
    outside: keepsSource ? local : all,
    ...{ keepsSource, all },
    hidesSource: keepsSource && here.some((backend) => isIn(leavingElsewhere, partsOf(backend).address)),
    held: protocol === 'udp' ? servingBackends(slices, port, family) : [],
  }
}

function isIn(prefixes: readonly Cidr[], address: string): boolean {
  if (prefixes.length === 0) return false
  const ip = tryParseIp(address)
  return ip !== undefined && prefixes.some((prefix) => contains(prefix, ip))
}

/** The address of a backend, without brackets, and its port. */
export function partsOf(backend: string): { readonly address: string; readonly port: number } {
  const colon = backend.lastIndexOf(':')
  const address = backend.slice(0, colon)
  return { address: address.replace(/^\[|\]$/g, ''), port: Number(backend.slice(colon + 1)) }
}

/** What is not an address, such as `None`, is none. */
function addressesOf(text: string): readonly string[] {
  const ip = tryParseIp(text)
  return ip === undefined ? [] : [formatIp(ip)]
}

function familyOfText(ip: string): Family {
  return ip.includes(':') ? 6 : 4
}

/** What can not be read lets nobody in. */
function prefixOf(text: string, family: Family): readonly Cidr[] {
  try {
    const cidr = parseCidr(text.trim())
    return familyOf(cidr.address) === family ? [cidr] : []
  } catch {
    return []
  }
}
