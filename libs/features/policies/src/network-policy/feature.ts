import { isNamedAfterGroup } from '@kube-ovn/domains-control'
import {
  networkPolicyKey,
  networkPolicyResources,
  objectOfNetworkPolicy,
  withSampling,
} from '@kube-ovn/domains-control/policies'
import {
  networkPolicyAcl,
  networkPolicyAddresses,
  networkPolicyMeter,
  networkPolicyMeterBand,
  networkPolicyPortGroup,
  networkPolicyGroupName,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { desiredNetworkPolicy } from './desired.ts'
import { networkPolicyFlags } from './flags.ts'
import { observeNetworkPolicy, type NetworkPolicySnapshot } from './snapshot.ts'

/** Restricts who may talk to pods, as NetworkPolicies and MultiNetworkPolicies say. Keys are those of `networkPolicyKey`. */
export const networkPolicy = withSampling<string, NetworkPolicySnapshot>({
  name: 'network-policy',
  kinds: [
    networkPolicyPortGroup,
    networkPolicyAddresses,
    networkPolicyAcl,
    networkPolicyMeter,
    networkPolicyMeterBand,
  ],
  mayOwn(key, { id }) {
    const [namespace = '', name = ''] = objectOfNetworkPolicy(key).split('/')
    return isNamedAfterGroup(networkPolicyGroupName(namespace, name), id)
  },
  flags: networkPolicyFlags,
  memberships: [
    { kind: networkPolicyPortGroup.name, column: 'acls' },
    { kind: networkPolicyAddresses.name, column: 'addresses' },
    { kind: networkPolicyMeter.name, column: 'bands' },
  ],
  triggers: (['NetworkPolicy', 'MultiNetworkPolicy'] as const).map((kind) => ({
    on: 'object' as const,
    resource: networkPolicyResources[kind],
    keys: ({ key }: { readonly key: string }) => [networkPolicyKey(kind, key)],
  })),
  observe: observeNetworkPolicy,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredNetworkPolicy(snapshot)),
})
