import type { EgressFirewallRule } from '@kube-ovn/kube-api'
import { isWithin, nodeOf, prefixOf, type Question } from './known.ts'
import { isNamed } from './names.ts'
import { isReadable, selects } from './selector.ts'

/**
 * Whether the EgressFirewall of the pod's namespace denies what it sends: by its first rule that is about the packet. It has no say about what
 * stays inside of the cluster, and what it allows is for others to decide.
 *
 * @see https://ovn-kubernetes.io/features/network-security-controls/egress-firewall/
 */
export function firewallVerdict(question: Question): 'deny' | undefined {
  const { objects, pod, peer } = question
  if (peer.kind === 'pod') return undefined
  const firewall = objects.egressFirewalls.find(
    ({ metadata }) => metadata.namespace === pod.metadata.namespace && metadata.name === 'default',
  )
  for (const rule of firewall?.spec?.egress ?? []) {
    const isAllowing = rule.type === 'Allow'
    const [to, ports] = [isDestination(rule.to, question, !isAllowing), isPort(rule.ports, question)]
    // What can not be read allows nothing, and denies everything.
    const isAbout = to === undefined || ports === undefined ? !isAllowing : to && ports
    if (isAbout) return isAllowing ? undefined : 'deny'
  }
  return undefined
}

/** `undefined` where it can not be read. */
function isDestination(
  to: EgressFirewallRule['to'],
  question: Question,
  isDenying: boolean,
): boolean | undefined {
  const { objects, peer } = question
  const { cidrSelector, nodeSelector, dnsName } = to
  if (Object.keys(to).length !== 1) return undefined
  if (dnsName !== undefined) return question.followsNames ? isNamed(dnsName, question, isDenying) : undefined
  if (nodeSelector !== undefined && !isReadable(nodeSelector)) return undefined
  if (nodeSelector !== undefined)
    return peer.kind === 'node' && selects(nodeSelector, nodeOf(objects, peer)?.metadata.labels)
  if (cidrSelector === undefined || prefixOf(cidrSelector) === undefined) return undefined
  return isWithin(cidrSelector, peer.address) === true
}

function isPort(ports: EgressFirewallRule['ports'], { packet }: Question): boolean | undefined {
  if (ports === undefined || ports.length === 0) return true
  return ports.some(
    ({ protocol, port }) => protocol.toLowerCase() === packet.protocol && port === packet.port,
  )
}
