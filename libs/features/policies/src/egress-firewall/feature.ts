import { isNamedAfterGroup } from '@kube-ovn/domains-control'
import { withSampling } from '@kube-ovn/domains-control/policies'
import { serviceCidrTable, serviceCidrWatch } from '@kube-ovn/domains-control/topology'
import { aclLoggingAnnotation } from '@kube-ovn/annotations'
import { egressFirewallName, egressFirewallResource } from '@kube-ovn/kube-api'
import { namespaces, type Namespace } from '@kube-ovn/kube-api/core'
import {
  firewallAcl,
  firewallAddresses,
  firewallMeter,
  firewallMeterBand,
  firewallPortGroup,
  clusterAddressSetName,
  firewallGroupName,
} from '@kube-ovn/ovn-names'
import type { ObjectChange } from '@kube-ovn/kube'
import { nothing } from '@kube-ovn/reconcile'
import { desiredFirewall } from './desired.ts'
import { insideKey, observeFirewall, type FirewallSnapshot } from './snapshot.ts'

/** Keeps pods of a namespace from what its EgressFirewall denies. Keys are `namespace/name`, and one for what is inside of the cluster. */
export const egressFirewall = withSampling<string, FirewallSnapshot>({
  name: 'egress-firewall',
  kinds: [firewallPortGroup, firewallAddresses, firewallAcl, firewallMeter, firewallMeterBand],
  mayOwn(key, { id }) {
    if (key === insideKey) return ([4, 6] as const).some((family) => id === clusterAddressSetName(family))
    const [namespace = ''] = key.split('/')
    return isNamedAfterGroup(firewallGroupName(namespace), id)
  },
  rights: [{ resource: egressFirewallResource, subresource: 'status', verbs: ['patch'] }],
  memberships: [
    { kind: firewallPortGroup.name, column: 'acls' },
    { kind: firewallMeter.name, column: 'bands' },
    { kind: firewallAddresses.name, column: 'addresses' },
  ],
  watches: [serviceCidrWatch],
  tables: [serviceCidrTable],
  triggers: [
    { on: 'object', resource: egressFirewallResource, keys: ({ key }) => [key] },
    {
      on: 'object',
      resource: namespaces,
      keys: (change: ObjectChange<Namespace>) =>
        hasOtherLog(change) ? [`${change.key}/${egressFirewallName}`] : [],
    },
  ],
  initialKeys: () => [insideKey],
  observe: observeFirewall,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredFirewall(snapshot)),
})

function hasOtherLog({ old, new: current }: ObjectChange<Namespace>): boolean {
  const { key } = aclLoggingAnnotation
  return old?.metadata.annotations?.[key] !== current?.metadata.annotations?.[key]
}
