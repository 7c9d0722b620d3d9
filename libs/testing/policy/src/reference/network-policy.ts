import { contains } from '@kube-ovn/ip'
import type { NetworkPolicyPeer, NetworkPolicyPort, Pod } from '@kube-ovn/kube-api/core'
import {
  hasNetworkPolicies,
  isMember,
  isOwnNode,
  isWithin,
  numbersOf,
  podOf,
  prefixOf,
  selectsPod,
  type Question,
  type Verdict,
} from './known.ts'
import { multiNetworkPolicyTerms } from './multi-network-policy.ts'
import { nicOf, type Nic } from './nics.ts'
import { networkPolicyTerms, type PolicyTerms } from './policy-terms.ts'

/**
 * What the NetworkPolicies and MultiNetworkPolicies for a pod's NIC say: nothing where none is for it in this direction.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function networkPolicyVerdict(question: Question): Verdict | undefined {
  const { objects, pod, nic, direction, packet } = question
  if (hasNetworkPolicies(objects) && isOwnNode(question)) return 'allow'
  const { networkPolicies, multiNetworkPolicies } = objects
  const all = [
    ...networkPolicies.map(networkPolicyTerms),
    ...multiNetworkPolicies.map(multiNetworkPolicyTerms),
  ]
  const own = all.filter(
    (policy) => isAbout(policy, nic) && isFor(policy, objects, pod) && policy.restricted.includes(direction),
  )
  if (own.some((policy) => allows(policy, question))) return 'allow'
  // Lax ones are about TCP, UDP and SCTP.
  const isolating = own.filter(({ isLax = question.isLax }) => packet.protocol !== 'icmp' || !isLax)
  return isolating.length === 0 ? undefined : 'deny'
}

function isAbout({ networks }: PolicyTerms, nic: Nic | undefined): boolean {
  return networks === undefined || (nic !== undefined && networks.includes(nic.network))
}

function isFor({ namespace, podSelector }: PolicyTerms, objects: Question['objects'], pod: Pod): boolean {
  return namespace === pod.metadata.namespace && selectsPod(objects, pod, podSelector, undefined, namespace)
}

function allows(policy: PolicyTerms, question: Question): boolean {
  return policy.rules[question.direction].some(({ peers, ports }) => {
    const isFromPeer = peers === undefined || peers.some((peer) => isPeer(peer, policy, question))
    if (!isFromPeer || ports === undefined) return isFromPeer
    return ports.some((port) => isPort(port, question, served(policy, peers, question)))
  })
}

/** Pods by which named ports go. */
function served(
  policy: PolicyTerms,
  peers: readonly NetworkPolicyPeer[] | undefined,
  { objects, direction }: Question,
): readonly Pod[] {
  return objects.pods.filter((pod) => {
    if (direction === 'ingress') return isFor(policy, objects, pod)
    if (peers === undefined || peers.every(({ ipBlock }) => ipBlock !== undefined))
      return isMember(pod) && policy.namespace === pod.metadata.namespace
    return peers.some((peer) => isSelected(peer, policy, objects, pod))
  })
}

/** A pod is a peer by its NICs in the networks of the policy, a block wherever its addresses are. */
function isPeer(given: NetworkPolicyPeer, policy: PolicyTerms, { objects, peer }: Question): boolean {
  if (given.ipBlock !== undefined) return isInBlock(given.ipBlock, peer.address)
  const pod = podOf(objects, peer)
  return pod !== undefined && isAbout(policy, nicOf(pod, peer)) && isSelected(given, policy, objects, pod)
}

function isSelected(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  { namespace }: PolicyTerms,
  objects: Question['objects'],
  pod: Pod,
): boolean {
  if (ipBlock !== undefined || (podSelector ?? namespaceSelector) === undefined) return false
  return selectsPod(objects, pod, podSelector ?? {}, namespaceSelector, namespace)
}

/** A block with something in it that can not be used is about nobody. */
function isInBlock(
  { cidr, except = [] }: NonNullable<NetworkPolicyPeer['ipBlock']>,
  address: string,
): boolean {
  const block = prefixOf(cidr)
  if (block === undefined) return false
  const excepted = except.map(prefixOf)
  const isUsable = excepted.every(
    (one) =>
      one !== undefined &&
      one.family === block.family &&
      one.prefixLength >= block.prefixLength &&
      contains(block, one.network),
  )
  return (
    isUsable && isWithin(cidr, address) === true && !except.some((one) => isWithin(one, address) === true)
  )
}

function isPort(
  { protocol = 'TCP', port, endPort }: NetworkPolicyPort,
  { packet }: Question,
  served: readonly Pod[],
): boolean {
  if (protocol.toLowerCase() !== packet.protocol || packet.protocol === 'icmp') return false
  if (protocol !== protocol.toUpperCase()) return false
  if (port === undefined) return true
  if (typeof port === 'string')
    return endPort === undefined && numbersOf(served, port, packet).includes(packet.port)
  const last = endPort ?? port
  return port >= 1 && last <= 65_535 && port <= packet.port && packet.port <= last
}
