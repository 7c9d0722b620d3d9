import type { ControlFeature } from '@kube-ovn/domains-control'
import { networkPolicies } from '@kube-ovn/kube-api/core'
import {
  networkPolicyAcl,
  networkPolicyAddresses,
  networkPolicyMeter,
  networkPolicyMeterBand,
  networkPolicyPortGroup,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { desiredNetworkPolicy } from './desired.ts'
import { networkPolicyFlags } from './flags.ts'
import { observeNetworkPolicy, type NetworkPolicySnapshot } from './snapshot.ts'

/** Restricts who may talk to pods, as NetworkPolicies say. Keys are `namespace/name`. */
export const networkPolicy: ControlFeature<string, NetworkPolicySnapshot> = {
  name: 'network-policy',
  kinds: [
    networkPolicyPortGroup,
    networkPolicyAddresses,
    networkPolicyAcl,
    networkPolicyMeter,
    networkPolicyMeterBand,
  ],
  flags: networkPolicyFlags,
  memberships: [
    { kind: networkPolicyPortGroup.name, column: 'acls' },
    { kind: networkPolicyAddresses.name, column: 'addresses' },
    { kind: networkPolicyMeter.name, column: 'bands' },
  ],
  triggers: [{ on: 'object', resource: networkPolicies, keys: ({ key }) => [key] }],
  observe: observeNetworkPolicy,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredNetworkPolicy(snapshot)),
}
