import { bgpAnnotations, givenProviders, readPodNetwork, type BgpPolicy } from '@kube-ovn/annotations'
import { refusalOf } from '@kube-ovn/errors'
import { cidrOf, networkText, tryParseCidr, tryParseIp, type Ip } from '@kube-ovn/ip'
import { readInEffect, type Subnet } from '@kube-ovn/kube-api'
import { isAlive, type KubeObject, type Pod, type Service } from '@kube-ovn/kube-api/core'
import type { AnnouncedRoute, AnnouncementProblem, NeighborView, SpeakerSnapshot } from './snapshot.ts'

/** What is announced, and what nobody can make sense of. */
export interface Announced {
  /** Prefixes without host bits, in no order. */
  readonly prefixes: ReadonlySet<string>
  readonly problems: readonly AnnouncementProblem[]
}

/** Says which prefixes the speaker of a node announces. An object that nobody can make sense of announces nothing, and keeps no other from it. */
export function desiredPrefixes({ subnets, pods, services, nodeName }: SpeakerSnapshot): Announced {
  const problems: AnnouncementProblem[] = []
  const prefixes = new Set<string>()
  const policies = new Map<string, BgpPolicy | undefined>()
  const tell = (kind: string, object: KubeObject) => (problem: Omit<AnnouncementProblem, 'object'>) => {
    const { namespace, name } = object.metadata
    problems.push({
      object: [kind, namespace, name].filter((part) => part !== undefined).join('/'),
      ...problem,
    })
  }
  for (const subnet of subnets) {
    const policy = policyOf(subnet, tell('Subnet', subnet))
    const cidrs = cidrsInEffect(subnet)
    if (cidrs.length > 0) policies.set(subnet.metadata.name, policy)
    if (policy === 'cluster') for (const cidr of cidrs) prefixes.add(cidr)
  }
  for (const pod of pods) {
    const facts = factsOf(pod)
    for (const problem of facts.problems) tell('Pod', pod)(problem)
    for (const nic of facts.nics) {
      // Of a Subnet that there is not, nobody knows a way to the address.
      if (!policies.has(nic.subnet)) continue
      const policy = facts.policy ?? policies.get(nic.subnet)
      const isOurs = policy === 'cluster' || (policy === 'local' && pod.spec.nodeName === nodeName)
      if (isOurs) for (const prefix of nic.prefixes) prefixes.add(prefix)
    }
  }
  for (const service of services)
    for (const address of serviceAddresses(service, tell('Service', service)))
      prefixes.add(hostPrefix(address))
  return { prefixes, problems }
}

/**
 * Says which routes a neighbour is told: those of the family that is spoken with it, and IPv4 ones over IPv6 where it takes them so.
 * An IPv6 route can have no IPv4 next hop.
 */
export function desiredRoutes(
  prefixes: Iterable<string>,
  { nextHop, extendedNextHop }: NeighborView,
): readonly AnnouncedRoute[] {
  if (nextHop === undefined) return []
  const isIpv6 = nextHop.includes(':')
  return [...prefixes]
    .filter((prefix) => prefix.includes(':') === isIpv6 || (isIpv6 && extendedNextHop))
    .map((prefix) => ({ prefix, nextHop }))
}

type Tell = (problem: Omit<AnnouncementProblem, 'object'>) => void

/** `undefined` for none, and for one that is told of. */
function policyOf(object: KubeObject, tell: Tell): BgpPolicy | undefined {
  try {
    return bgpAnnotations.policy.read(object.metadata.annotations)
  } catch (error) {
    tell(refusalOf(error))
    return undefined
  }
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
  readonly nics: readonly { readonly subnet: string; readonly prefixes: readonly string[] }[]
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
  if (pod.spec.hostNetwork === true || !isAlive(pod)) return { policy: undefined, nics: [], problems }
  const policy = policyOf(pod, tell)
  if (problems.length > 0) return { policy, nics: [], problems }
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
  return { policy, nics, problems }
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

function hostPrefix(address: Ip): string {
  return networkText(cidrOf(address, typeof address === 'number' ? 32 : 128))
}
