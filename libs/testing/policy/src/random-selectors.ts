import type { AdminNetworkPolicy, AdminPolicySubject, EgressFirewall } from '@kube-ovn/kube-api'
import type { LabelSelector } from '@kube-ovn/kube-api/core'
import type { PolicyObjects } from './policy-world.ts'
import { Random } from './random.ts'

/** Definitions of these APIs know of an operator that it is a text, and of values that they are a list. */
const unreadable: readonly [LabelSelector, ...LabelSelector[]] = [
  { matchExpressions: [{ key: 'team', operator: 'in', values: ['red'] }] },
  { matchExpressions: [{ key: 'env', operator: 'NotIn' }] },
  { matchExpressions: [{ key: 'app', operator: 'Exists', values: ['web'] }] },
]

/** In one of twelve worlds some selectors of administrators' policies and firewalls can not be read. */
export function withOddSelectors(seed: number, objects: PolicyObjects): PolicyObjects {
  // Of its own, so that the rest of a world is what it was.
  const random = new Random(seed ^ 0x0dd5)
  if (random.chance(11 / 12)) return objects
  return {
    ...objects,
    adminNetworkPolicies: objects.adminNetworkPolicies.map((policy) => spoiltPolicy(random, policy)),
    baselineAdminNetworkPolicies: objects.baselineAdminNetworkPolicies.map((policy) =>
      spoiltPolicy(random, policy),
    ),
    clusterNetworkPolicies: objects.clusterNetworkPolicies.map((policy) => spoiltPolicy(random, policy)),
    egressFirewalls: objects.egressFirewalls.map((firewall) => spoiltFirewall(random, firewall)),
  }
}

function spoiltPolicy(random: Random, { spec = {}, ...policy }: AdminNetworkPolicy): AdminNetworkPolicy {
  const spoilt = <P extends AdminPolicySubject & { readonly nodes?: LabelSelector }>(peer: P): P => {
    if (random.chance(0.7)) return peer
    const selector = random.of(...unreadable)
    if (peer.nodes !== undefined) return { ...peer, nodes: selector }
    if (peer.namespaces !== undefined) return { ...peer, namespaces: selector }
    if (peer.pods === undefined) return peer
    const which = random.of('podSelector', 'namespaceSelector')
    return { ...peer, pods: { ...peer.pods, [which]: selector } }
  }
  const { subject, ingress = [], egress = [] } = spec
  return {
    ...policy,
    spec: {
      ...spec,
      ...(subject && { subject: random.chance(0.2) ? spoilt(subject) : subject }),
      ingress: ingress.map((rule) => ({ ...rule, ...(rule.from && { from: rule.from.map(spoilt) }) })),
      egress: egress.map((rule) => ({ ...rule, ...(rule.to && { to: rule.to.map(spoilt) }) })),
    },
  }
}

function spoiltFirewall(random: Random, { spec, ...firewall }: EgressFirewall): EgressFirewall {
  const egress = (spec?.egress ?? []).map((rule) =>
    random.chance(0.7) ? rule : { ...rule, to: { nodeSelector: random.of(...unreadable) } },
  )
  return { ...firewall, spec: { egress } }
}
