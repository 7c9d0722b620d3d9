import { contains } from '@kube-ovn/ip'
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, Pod } from '@kube-ovn/kube-api/core'
import { isMember, isOwnNode, isWithin, numbersOf, podOf, prefixOf, selectsPod } from './known.ts'
import type { Question, Verdict } from './known.ts'

const enforcement = 'ovn.kubernetes.io/network_policy_enforcement'

/**
 * What the NetworkPolicies of a pod say: nothing where none is for it in this direction.
 *
 * @see https://kubernetes.io/docs/concepts/services-networking/network-policies/
 */
export function networkPolicyVerdict(question: Question): Verdict | undefined {
  const { objects, pod, direction, packet } = question
  if (objects.networkPolicies.length > 0 && isOwnNode(question)) return 'allow'
  const own = objects.networkPolicies.filter(
    (policy) =>
      policy.metadata.namespace === pod.metadata.namespace &&
      selectsPod(objects, pod, policy.spec?.podSelector ?? {}, undefined, pod.metadata.namespace) &&
      restricts(policy, direction),
  )
  if (own.some((policy) => allows(policy, question))) return 'allow'
  // Lax ones are about TCP, UDP and SCTP.
  const isolating = own.filter((policy) => packet.protocol !== 'icmp' || !isLax(policy))
  return isolating.length === 0 ? undefined : 'deny'
}

/** Without any of policyTypes ingress is restricted, and egress where there are rules for it. */
function restricts({ spec }: NetworkPolicy, direction: Question['direction']): boolean {
  const { policyTypes = [], egress = [] } = spec ?? {}
  if (policyTypes.length === 0) return direction === 'ingress' || egress.length > 0
  return policyTypes.includes(direction === 'ingress' ? 'Ingress' : 'Egress')
}

function isLax({ metadata }: NetworkPolicy): boolean {
  return metadata.annotations?.[enforcement] === 'lax'
}

function allows(policy: NetworkPolicy, question: Question): boolean {
  const { ingress = [], egress = [] } = policy.spec ?? {}
  const rules =
    question.direction === 'ingress'
      ? ingress.map(({ from, ports }) => ({ peers: from ?? [], ports: ports ?? [] }))
      : egress.map(({ to, ports }) => ({ peers: to ?? [], ports: ports ?? [] }))
  return rules.some(
    ({ peers, ports }) =>
      (peers.length === 0 || peers.some((peer) => isPeer(peer, policy, question))) &&
      (ports.length === 0 || ports.some((port) => isPort(port, question, served(policy, peers, question)))),
  )
}

/** Pods by which named ports go. */
function served(
  policy: NetworkPolicy,
  peers: readonly NetworkPolicyPeer[],
  { objects, direction }: Question,
): readonly Pod[] {
  const { namespace } = policy.metadata
  return objects.pods.filter((pod) =>
    direction === 'ingress'
      ? namespace === pod.metadata.namespace &&
        selectsPod(objects, pod, policy.spec?.podSelector ?? {}, undefined, namespace)
      : peers.length === 0
        ? isMember(pod) && namespace === pod.metadata.namespace
        : peers.some((peer) => isSelected(peer, policy, objects, pod)),
  )
}

function isPeer(given: NetworkPolicyPeer, policy: NetworkPolicy, { objects, peer }: Question): boolean {
  if (given.ipBlock !== undefined) return isInBlock(given.ipBlock, peer.address)
  return isSelected(given, policy, objects, podOf(objects, peer))
}

function isSelected(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  { metadata }: NetworkPolicy,
  objects: Question['objects'],
  pod: Pod | undefined,
): boolean {
  if (ipBlock !== undefined || (podSelector ?? namespaceSelector) === undefined) return false
  return selectsPod(objects, pod, podSelector ?? {}, namespaceSelector, metadata.namespace)
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
