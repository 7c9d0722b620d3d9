import { contains, parseCidr, parseIp } from '@kube-ovn/ip'
import type { LabelSelector, Node, Pod } from '@kube-ovn/kube-api/core'
import type { Endpoint, Packet } from '../packet.ts'
import type { PolicyObjects } from '../policy-world.ts'
import type { Nic } from './nics.ts'
import { selects } from './selector.ts'

export type Direction = 'ingress' | 'egress'

/** What a tier says; nothing where it is not about the packet. */
export type Verdict = 'allow' | 'deny'

/** A packet as one of its ends sees it. */
export interface Question {
  readonly objects: PolicyObjects
  readonly direction: Direction
  /** Whose policies are asked. */
  readonly pod: Pod
  /** By which the packet goes there. */
  readonly nic: Nic
  readonly peer: Endpoint
  readonly packet: Packet
  /** Policies that do not say it themselves are about TCP, UDP and SCTP alone. */
  readonly isLax: boolean
  /** Somebody finds out what DNS names stand for. */
  readonly followsNames: boolean
}

export function podOf(objects: PolicyObjects, end: Endpoint): Pod | undefined {
  if (end.kind !== 'pod') return undefined
  return objects.pods.find(
    ({ metadata }) => metadata.name === end.name && metadata.namespace === end.namespace,
  )
}

export function nodeOf({ nodes }: PolicyObjects, end: Endpoint): Node | undefined {
  return end.kind === 'node' ? nodes.find(({ metadata }) => metadata.name === end.name) : undefined
}

function labelsOfNamespace(
  { namespaces }: PolicyObjects,
  name: string | undefined,
): Readonly<Record<string, string>> {
  return namespaces.find(({ metadata }) => metadata.name === name)?.metadata.labels ?? {}
}

/** A pod of the cluster's network that runs. */
export function isMember({ spec, status }: Pod): boolean {
  return spec.hostNetwork !== true && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}

/** Whether the selectors select the pod; one of namespaces that is absent means the namespace `own`. */
export function selectsPod(
  objects: PolicyObjects,
  pod: Pod | undefined,
  pods: LabelSelector,
  namespaces: LabelSelector | undefined,
  own?: string,
): boolean {
  if (pod === undefined || !isMember(pod) || !selects(pods, pod.metadata.labels)) return false
  const { namespace } = pod.metadata
  return namespaces === undefined
    ? namespace === own
    : selects(namespaces, labelsOfNamespace(objects, namespace))
}

/** Whether there is any of those because of which a node is let in at its own pods. */
export function hasNetworkPolicies({ networkPolicies, multiNetworkPolicies }: PolicyObjects): boolean {
  return networkPolicies.length > 0 || multiNetworkPolicies.length > 0
}

/** Whether it is the node that the pod runs on. */
export function isOwnNode({ pod, peer }: Question): boolean {
  return peer.kind === 'node' && peer.name === pod.spec.nodeName
}

/**
 * Numbers of a named port for the packet's protocol: those of all pods that a policy is for, or for egress that a rule is about, as the
 * original takes them and docs/user/policies.md says.
 */
export function numbersOf(pods: readonly Pod[], name: string, { protocol }: Packet): readonly number[] {
  return pods
    .flatMap(({ spec }) => spec.containers.flatMap(({ ports = [] }) => ports))
    .filter((port) => port.name === name && (port.protocol ?? 'TCP').toLowerCase() === protocol)
    .map(({ containerPort }) => containerPort)
}

/** Whether the address is in the prefix; `undefined` where the text is none. */
export function isWithin(prefix: string, address: string): boolean | undefined {
  const cidr = prefixOf(prefix)
  if (cidr === undefined) return undefined
  const ip = parseIp(address)
  return (typeof ip === 'number' ? 4 : 6) === cidr.family && contains(cidr, ip)
}

export function prefixOf(text: string): ReturnType<typeof parseCidr> | undefined {
  try {
    return parseCidr(text)
  } catch {
    return undefined
  }
}
