import type { Packet } from '../packet.ts'
import type { PolicyObjects } from '../policy-world.ts'
import { adminVerdict } from './admin-policy.ts'
import { firewallVerdict } from './egress-firewall.ts'
import { podOf, type Direction, type Question, type Verdict } from './known.ts'
import { networkPolicyVerdict } from './network-policy.ts'
import { nicOf } from './nics.ts'
import { securityGroupVerdict } from './security-group.ts'
import { subnetVerdict } from './subnet.ts'

/**
 * Whether an end of a packet lets it through, by what the specifications of all APIs say of objects; `undefined` where that end is no pod.
 *
 * Administrators come first, then the SecurityGroups of the pod, or without any its NetworkPolicies and its subnet, then the baseline. What
 * nobody speaks of passes.
 */
export function isAllowed(
  objects: PolicyObjects,
  direction: Direction,
  packet: Packet,
  { isLax = false, followsNames = false }: Partial<Pick<Question, 'isLax' | 'followsNames'>> = {},
): boolean | undefined {
  const [own, peer] = direction === 'ingress' ? [packet.to, packet.from] : [packet.from, packet.to]
  const pod = podOf(objects, own)
  const nic = pod === undefined ? undefined : nicOf(pod, own)
  if (pod === undefined || nic === undefined) return undefined
  const question: Question = { objects, direction, pod, nic, peer, packet, isLax, followsNames }
  const said = direction === 'ingress' ? ingress : egress
  for (const ask of said) {
    const verdict = ask(question)
    if (verdict !== undefined) return verdict === 'allow'
  }
  return true
}

type Ask = (question: Question) => Verdict | undefined

const ingress: readonly Ask[] = [
  (one) => adminVerdict('Admin', one),
  securityGroupVerdict,
  (one) => subnetVerdict(one, 'before'),
  networkPolicyVerdict,
  (one) => subnetVerdict(one, 'behind'),
  (one) => adminVerdict('Baseline', one),
]

/** SecurityGroups and rules of a subnet are asked before the load balancer, firewalls and policies behind it: all must allow what a pod sends. */
const egress: readonly Ask[] = [
  (one) => (beforeBalancing(one) === 'deny' ? 'deny' : undefined),
  firewallVerdict,
  (one) => adminVerdict('Admin', one),
  networkPolicyVerdict,
  (one) => adminVerdict('Baseline', one),
]

function beforeBalancing(question: Question): Verdict | undefined {
  const ofGroups = securityGroupVerdict(question)
  return ofGroups ?? subnetVerdict(question, 'before') ?? subnetVerdict(question, 'behind')
}
