import { withSampling } from '@kube-ovn/domains-control/policies'
import { serviceCidrTable, serviceCidrWatch } from '@kube-ovn/domains-control/topology'
import { egressFirewallResource } from '@kube-ovn/kube-api'
import { firewallAcl, firewallAddresses, firewallPortGroup } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { desiredFirewall } from './desired.ts'
import { insideKey, observeFirewall, type FirewallSnapshot } from './snapshot.ts'

/** Keeps pods of a namespace from what its EgressFirewall denies. Keys are `namespace/name`, and one for what is inside of the cluster. */
export const egressFirewall = withSampling<string, FirewallSnapshot>({
  name: 'egress-firewall',
  kinds: [firewallPortGroup, firewallAddresses, firewallAcl],
  rights: [{ resource: egressFirewallResource, subresource: 'status', verbs: ['patch'] }],
  memberships: [
    { kind: firewallPortGroup.name, column: 'acls' },
    { kind: firewallAddresses.name, column: 'addresses' },
  ],
  watches: [serviceCidrWatch],
  tables: [serviceCidrTable],
  triggers: [{ on: 'object', resource: egressFirewallResource, keys: ({ key }) => [key] }],
  initialKeys: () => [insideKey],
  observe: observeFirewall,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredFirewall(snapshot)),
})
