import {
  bgpAnnotations,
  givenProviders,
  readPodNetwork,
  readSharedVips,
  speakerApp,
  type BgpPolicy,
} from '@kube-ovn/annotations'
import { refusalOf } from '@kube-ovn/errors'
import { networkText, tryParseCidr, tryParseIp, type Ip } from '@kube-ovn/ip'
import {
  bgpPeerCondition,
  isConditionTrue,
  readInEffect,
  type BgpPeer,
  type Subnet,
} from '@kube-ovn/kube-api'
import { isAlive, type KubeObject, type Node, type Pod, type Service } from '@kube-ovn/kube-api/core'
import { hostPrefix, policyOf, tellingOf, type Tell } from './object.ts'
import type {
  Announced,
  AnnouncedRoute,
  AnnouncementProblem,
  NeighborView,
  SpeakerSnapshot,
} from './snapshot.ts'
import { AnnouncedVips, type VipHolder } from './vips.ts'

/**
 * Says which prefixes the speaker of a node announces. An object that nobody can make sense of announces nothing, and keeps no other from it.
 *
 * Without its Node object, a speaker announces nothing. On a node that is being drained, what any other can announce as well is left to it.
 */
export function desiredPrefixes(snapshot: SpeakerSnapshot): Announced {
  const problems: AnnouncementProblem[] = []
  const prefixes = new Set<string>()
  const standing = standingOf(snapshot)
  if (standing === 'gone') return { prefixes, problems }
  const { subnets, pods, services, vips, nodeName } = snapshot
  const known = new Map<string, KnownSubnet>()
  const tell = (kind: string, object: KubeObject): Tell => tellingOf(kind, object, problems)
  const announce = (prefix: string, policy: BgpPolicy | undefined, isHere: boolean): void => {
    if (policy === 'cluster' ? standing === 'serving' : policy === 'local' && isHere) prefixes.add(prefix)
  }
  for (const subnet of subnets) {
    const policy = policyOf(subnet, tell('Subnet', subnet))
    const cidrs = cidrsInEffect(subnet)
    if (cidrs.length > 0) known.set(subnet.metadata.name, { policy, cidrs, here: new Set(), isSpread: false })
    if (policy === 'cluster') for (const cidr of cidrs) announce(cidr, policy, false)
  }
  const announcedVips = new AnnouncedVips()
  for (const vip of vips) announcedVips.add(vip, known, tell('Vip', vip))
  for (const pod of pods) {
    const facts = factsOf(pod)
    const isHere = pod.spec.nodeName === nodeName
    announcedVips.place({ pod, ...facts }, isHere)
    for (const problem of facts.problems) tell('Pod', pod)(problem)
    for (const nic of facts.nics) {
      const subnet = known.get(nic.subnet)
      // Of a Subnet that there is not, nobody knows a way to the address.
      if (subnet === undefined) continue
      const policy = facts.hasBadPolicy ? undefined : (facts.policy ?? subnet.policy)
      if (policy === 'local' && isHere) for (const prefix of nic.prefixes) subnet.here.add(prefix)
      else subnet.isSpread = true
      for (const prefix of nic.prefixes) announce(prefix, policy, isHere)
    }
  }
  for (const { subnet, policy, prefixes, isHere, isElsewhere } of announcedVips.all) {
    for (const prefix of prefixes) announce(prefix, policy, isHere)
    const of = known.get(subnet)
    if (of === undefined) continue
    if (policy === 'local' && isHere) for (const prefix of prefixes) of.here.add(prefix)
    if (policy !== 'local' || isElsewhere) of.isSpread = true
  }
  if (snapshot.aggregates) for (const subnet of known.values()) aggregate(subnet, prefixes)
  for (const service of services)
    for (const address of serviceAddresses(service, tell('Service', service)))
      announce(hostPrefix(address), 'cluster', false)
  return { prefixes, problems }
}

interface KnownSubnet {
  readonly policy: BgpPolicy | undefined
  readonly cidrs: readonly string[]
  /** What of it is announced because it is here, and nowhere else. */
  readonly here: Set<string>
  /** Something of it is elsewhere, or has a policy of its own. */
  isSpread: boolean
}

/** Puts prefixes of a Subnet, all of which is here, in the place of those of its Pods. */
function aggregate({ policy, cidrs, here, isSpread }: KnownSubnet, prefixes: Set<string>): void {
  if (policy !== 'local' || isSpread || here.size === 0) return
  for (const prefix of here) prefixes.delete(prefix)
  const families = new Set([...here].map(isOfIpv6))
  for (const cidr of cidrs) if (families.has(isOfIpv6(cidr))) prefixes.add(cidr)
}

function isOfIpv6(prefix: string): boolean {
  return prefix.includes(':')
}

/**
 * Whether there is a Node, and whether traffic may enter by it: `leaving` is one that takes no pods any more, while one that does has a speaker
 * to whom routers listen.
 */
function standingOf({ nodes, pods, bgpPeers, nodeName }: SpeakerSnapshot): 'serving' | 'leaving' | 'gone' {
  let own: Node | undefined
  const open = new Set<string>()
  for (const node of nodes) {
    if (node.metadata.name === nodeName) own = node
    else if (node.spec?.unschedulable !== true) open.add(node.metadata.name)
  }
  if (own === undefined) return 'gone'
  if (own.spec?.unschedulable !== true || bgpPeers === undefined) return 'serving'
  const sessions = sessionsOf(bgpPeers)
  for (const pod of pods) {
    const { nodeName: place = '' } = pod.spec
    if (pod.metadata.labels?.['app'] !== speakerApp || !open.has(place) || !isReady(pod)) continue
    if (sessions.get(place) !== false) return 'leaving'
  }
  return 'serving'
}

/** Whether the speaker of a node has a session with any router; nothing of nodes whose speakers tell of none. */
function sessionsOf(bgpPeers: Iterable<BgpPeer>): ReadonlyMap<string, boolean> {
  const sessions = new Map<string, boolean>()
  for (const { spec, status } of bgpPeers) {
    const node = spec?.node ?? ''
    const isUp = isConditionTrue(status?.conditions, bgpPeerCondition.type)
    sessions.set(node, isUp || sessions.get(node) === true)
  }
  return sessions
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
}

/**
 * Says which prefixes a neighbour is to know: those of the family that is spoken with it, and IPv4 ones over IPv6 where it takes them so.
 * An IPv6 route can have no IPv4 next hop.
 */
export function prefixesOf(
  prefixes: Iterable<string>,
  { address, extendedNextHop }: Pick<NeighborView, 'address' | 'extendedNextHop'>,
): readonly string[] {
  const isIpv6 = isOfIpv6(address)
  return [...prefixes].filter((prefix) => isOfIpv6(prefix) === isIpv6 || (isIpv6 && extendedNextHop))
}

/** Counts, by family, the prefixes that no neighbour is to know. */
export function prefixesOfNobody(
  prefixes: Iterable<string>,
  neighbors: readonly Pick<NeighborView, 'address' | 'extendedNextHop'>[],
): ReadonlyMap<'ipv4' | 'ipv6', number> {
  const hasIpv6 = neighbors.some(({ address }) => isOfIpv6(address))
  const hasIpv4 = neighbors.some(({ address, extendedNextHop }) => extendedNextHop || !isOfIpv6(address))
  const counts = new Map<'ipv4' | 'ipv6', number>()
  for (const prefix of prefixes) {
    const family = isOfIpv6(prefix) ? 'ipv6' : 'ipv4'
    if (family === 'ipv6' ? !hasIpv6 : !hasIpv4) counts.set(family, (counts.get(family) ?? 0) + 1)
  }
  return counts
}

/** Says which routes a neighbour is told: none as long as there is no next hop. */
export function desiredRoutes(prefixes: Iterable<string>, neighbor: NeighborView): readonly AnnouncedRoute[] {
  const { nextHop, attributes } = neighbor
  if (nextHop === undefined) return []
  return prefixesOf(prefixes, neighbor).map((prefix) => ({ prefix, nextHop, ...attributes }))
}

function cidrsInEffect(subnet: Subnet): readonly string[] {
  return (readInEffect(subnet)?.cidrBlock ?? '')
    .split(',')
    .flatMap((text) => tryParseCidr(text.trim()) ?? [])
    .map((cidr) => networkText(cidr))
}

/** What of a Pod decides, whatever its Subnets say. */
interface PodFacts {
  /** Absent: that of each NIC's Subnet counts. */
  readonly policy: BgpPolicy | undefined
  /** Nobody can make sense of it: nothing is announced, though the addresses are in use. */
  readonly hasBadPolicy: boolean
  readonly nics: VipHolder['nics']
  readonly shares: VipHolder['shares']
  readonly problems: readonly Omit<AnnouncementProblem, 'object'>[]
}

/** Facts of Pods as they are: of thousands of them one has changed. */
const known = new WeakMap<Pod, PodFacts>()

function factsOf(pod: Pod): PodFacts {
  const found = known.get(pod) ?? readFacts(pod)
  known.set(pod, found)
  return found
}

function readFacts(pod: Pod): PodFacts {
  const { annotations } = pod.metadata
  const problems: Omit<AnnouncementProblem, 'object'>[] = []
  const tell: Tell = (problem) => problems.push(problem)
  if (pod.spec.hostNetwork === true || !isAlive(pod))
    return { policy: undefined, hasBadPolicy: false, nics: [], shares: [], problems }
  const policy = policyOf(pod, tell)
  const hasBadPolicy = problems.length > 0
  const nics = givenProviders(annotations).flatMap((provider) => {
    try {
      const network = readPodNetwork(annotations, provider)
      if (network?.logicalSwitch === undefined) return []
      const { v4, v6 } = network.addresses
      const addresses = [v4, v6].filter((address) => address !== undefined)
      return { subnet: network.logicalSwitch, prefixes: addresses.map(hostPrefix) }
    } catch (error) {
      tell(refusalOf(error))
      return []
    }
  })
  return { policy, hasBadPolicy, nics, shares: readSharedVips(annotations), problems }
}

/** Addresses of a Service inside of the cluster: any node forwards to its pods. */
function serviceAddresses(service: Service, tell: Tell): readonly Ip[] {
  const { type = 'ClusterIP', clusterIP = '', clusterIPs } = service.spec ?? {}
  const policy = policyOf(service, tell)
  if (policy === undefined) return []
  if (type !== 'ClusterIP') {
    const value = `${policy} of a Service of type ${type}`
    tell({ field: bgpAnnotations.policy.key, value, cure: 'annotate a Service of type ClusterIP' })
    return []
  }
  if (policy === 'local') {
    tell({ field: bgpAnnotations.policy.key, value: policy, cure: 'write true: a Service is on every node' })
    return []
  }
  return (clusterIPs ?? [clusterIP]).flatMap((text) => tryParseIp(text) ?? [])
}
