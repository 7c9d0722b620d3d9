import type { SecurityGroup, SecurityGroupRule } from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import { sourcePort } from '../packet.ts'
import {
  hasNetworkPolicies,
  isMember,
  isOwnNode,
  isWithin,
  podOf,
  type Question,
  type Verdict,
} from './known.ts'
import { annotationOf, nicOf, type Nic } from './nics.ts'

/** Rules with a lower number than this are asked before the node of the pod is let in. */
const beforeNode = 15_484

/** SecurityGroups that there are of those that a pod names for a NIC. */
function securityGroupsOf(
  { objects }: Pick<Question, 'objects'>,
  pod: Pod,
  nic: Nic | undefined,
): readonly SecurityGroup[] {
  const text = nic === undefined ? '' : annotationOf(pod, nic, 'security_groups')
  const names = text.split(',').map((name) => name.trim())
  return objects.securityGroups.filter(({ metadata }) => names.includes(metadata.name))
}

/**
 * What the SecurityGroups of a pod say: what none of them allows is dropped; nothing is said where there is none.
 *
 * @see docs/user/policies.md
 */
export function securityGroupVerdict(question: Question): Verdict | undefined {
  const { pod, nic, objects, direction } = question
  const groups = securityGroupsOf(question, pod, nic)
  if (groups.length === 0) return undefined
  const first = groups.filter(({ spec }) => (spec?.tier ?? 0) === 0)
  const then = groups.filter(({ spec }) => spec?.tier === 1)
  const isProbe = direction === 'ingress' && hasNetworkPolicies(objects) && isOwnNode(question)
  if (first.length > 0) {
    const decided = decide(first, question, isProbe)
    if (decided !== 'pass') return decided
  } else if (isProbe) return 'allow'
  const decided = decide(then, question, false)
  return decided === 'pass' ? 'deny' : decided
}

function decide(groups: readonly SecurityGroup[], question: Question, isProbe: boolean): Verdict | 'pass' {
  const rules = groups.flatMap(
    ({ spec }) => (question.direction === 'ingress' ? spec?.ingressRules : spec?.egressRules) ?? [],
  )
  const about = rules
    .filter((rule) => isAbout(rule, question))
    .sort((a, b) => (a.priority ?? 0) - (b.priority ?? 0))
  const [rule] = about
  if (isProbe && (rule === undefined || (rule.priority ?? 0) > beforeNode)) return 'allow'
  if (rule !== undefined) return rule.policy === 'allow' ? 'allow' : rule.policy === 'pass' ? 'pass' : 'deny'
  const peer = podOf(question.objects, question.peer)
  const isAmong = groups.some(
    (group) =>
      group.spec?.allowSameGroupTraffic === true &&
      peer !== undefined &&
      isMember(peer) &&
      securityGroupsOf(question, peer, nicOf(peer, question.peer)).includes(group),
  )
  return isAmong ? 'allow' : 'deny'
}

function isAbout(rule: SecurityGroupRule, question: Question): boolean {
  const { packet, peer, objects, direction } = question
  if (rule.ipVersion !== `ipv${packet.family}`) return false
  if (rule.remoteType === 'address' && !isIn(rule.remoteAddress, peer.address)) return false
  if (rule.remoteType === 'securityGroup') {
    const pod = podOf(objects, peer)
    const names = pod === undefined || !isMember(pod) ? [] : securityGroupsOf(question, pod, nicOf(pod, peer))
    if (!names.some(({ metadata }) => metadata.name === rule.remoteSecurityGroup)) return false
  }
  const own = direction === 'ingress' ? packet.to : packet.from
  if (rule.localAddress !== undefined && !isIn(rule.localAddress, own.address)) return false
  const { sourcePortRangeMin: first = 1, sourcePortRangeMax: last = 65_535 } = rule
  if (rule.protocol === 'icmp') return packet.protocol === 'icmp'
  if (rule.protocol === 'tcp' || rule.protocol === 'udp' || rule.protocol === 'sctp')
    return (
      packet.protocol === rule.protocol &&
      (rule.localAddress === undefined || (first <= sourcePort && sourcePort <= last)) &&
      (rule.portRangeMin ?? 0) <= packet.port &&
      packet.port <= (rule.portRangeMax ?? 0)
    )
  return true
}

function isIn(text: string | undefined, address: string): boolean {
  if (text === undefined) return false
  return text.includes('/') ? isWithin(text, address) === true : text === address
}
