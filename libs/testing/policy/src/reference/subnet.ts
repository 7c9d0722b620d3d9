import type { Subnet } from '@kube-ovn/kube-api'
import { hasNetworkPolicies, isOwnNode, isWithin, type Question, type Verdict } from './known.ts'
import { annotationOf } from './nics.ts'

/** Rules of `acls` as the worlds have them: what comes from, or goes to, a prefix. */
const simpleMatch = /^ip[46]\.(src|dst) == (\S+)$/

/** How a subnet's own rules rank among each other, and that which lets a node in at its own pods, see docs/design/own-node.md. */
const rank = { ownNode: 3000, among: 1900, allowed: 1001, closed: 1000 } as const

/** Rules above this are asked before NetworkPolicies, the others behind them. */
const ofPolicies = 2001

/** Of all subnets, that of the NIC. */
function subnetOf({ objects, pod, nic }: Pick<Question, 'objects' | 'pod' | 'nic'>): Subnet | undefined {
  const name = annotationOf(pod, nic, 'logical_switch')
  return objects.subnets.find(({ metadata }) => metadata.name === name)
}

/**
 * What a subnet lets through: its `acls` as they are written, and where it is private itself, `allowSubnets` and nodes.
 *
 * @see docs/reference/crds/subnets.md
 */
export function subnetVerdict(question: Question, when: 'before' | 'behind'): Verdict | undefined {
  const { direction, packet, peer } = question
  const spec = subnetOf(question)?.spec
  if (spec === undefined) return undefined
  const own = (spec.cidrBlock ?? '').split(',')
  const isIn = (prefixes: readonly string[], address: string): boolean =>
    prefixes.some((prefix) => isWithin(prefix, address) === true)
  const among = isIn(own, packet.from.address) && isIn(own, packet.to.address)
  const wanted = direction === 'ingress' ? 'to-lport' : 'from-lport'
  const acls = spec.acls ?? []
  const rules: readonly (readonly [number, Verdict])[] = [
    ...acls
      .filter((acl) => acl.direction === wanted && isMatch(acl.match ?? '', question))
      .map((acl) => [acl.priority ?? 0, acl.action === 'drop' ? 'deny' : 'allow'] as const),
    ...(direction === 'ingress' && hasNetworkPolicies(question.objects) && isOwnNode(question)
      ? [[rank.ownNode, 'allow'] as const]
      : []),
    ...(spec.allowEWTraffic === true && acls.length > 0 && among ? [[rank.among, 'allow'] as const] : []),
    ...(spec.private === true && direction === 'ingress'
      ? [
          [rank.closed, 'deny'] as const,
          ...(among || isIn(spec.allowSubnets ?? [], peer.address) ? [[rank.allowed, 'allow'] as const] : []),
          ...(peer.kind === 'node' ? [[rank.allowed, 'allow'] as const] : []),
        ]
      : []),
  ]
  const asked = rules.filter(([priority]) => priority > ofPolicies === (when === 'before'))
  return [...asked].sort(([a], [b]) => b - a)[0]?.[1]
}

function isMatch(match: string, { packet }: Question): boolean {
  const [, side, prefix = ''] = simpleMatch.exec(match) ?? []
  const { address } = side === 'src' ? packet.from : packet.to
  return isWithin(prefix, address) === true
}
