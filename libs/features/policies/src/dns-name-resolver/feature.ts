import type { ControlFeature } from '@kube-ovn/domains-control'
import { labelOfMade, resolverLabel, type ResolverLabel } from '@kube-ovn/domains-control/policies'
import type { ObjectChange } from '@kube-ovn/kube'
import {
  adminNetworkPolicyResource,
  clusterNetworkPolicyResource,
  dnsNameResolverResource,
  egressFirewallResource,
  type DnsNameResolver,
} from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import { desiredResolvers } from './desired.ts'
import { observeResolvers, type ResolverSnapshot } from './snapshot.ts'

/**
 * Has name servers tell which addresses the names in policies have. Keys are labels of resolvers, which an AdminNetworkPolicy and a
 * ClusterNetworkPolicy of one name share.
 */
export const dnsNameResolver: ControlFeature<ResolverLabel, ResolverSnapshot> = {
  name: 'dns-name-resolver',
  kinds: [],
  rights: [{ resource: dnsNameResolverResource, verbs: ['create', 'patch', 'delete'], writes: 'applied' }],
  triggers: [
    {
      on: 'object',
      resource: adminNetworkPolicyResource,
      keys: ({ key }) => [resolverLabel('adminPolicy', key)],
    },
    {
      on: 'object',
      resource: clusterNetworkPolicyResource,
      keys: ({ key }) => [resolverLabel('adminPolicy', key)],
    },
    {
      on: 'object',
      resource: egressFirewallResource,
      keys: ({ key }) => [resolverLabel('egressFirewall', key.slice(0, key.indexOf('/')))],
    },
    // What was made for those that are gone meanwhile.
    { on: 'object', resource: dnsNameResolverResource, keys: labelsOf },
  ],
  observe: observeResolvers,
  desired: (_label, snapshot) => (snapshot === undefined ? nothing : desiredResolvers(snapshot)),
}

function labelsOf({ old, new: current }: ObjectChange<DnsNameResolver>): readonly ResolverLabel[] {
  return [old, current].flatMap((resolver): readonly ResolverLabel[] => {
    const label = resolver === undefined ? undefined : labelOfMade(resolver)
    return label === undefined ? [] : [label]
  })
}
