import type { NetworkPolicy, Resource } from './core/index.ts'

/**
 * A NetworkPolicy about further networks, which an annotation names. Its definition is not ours, and need not be installed.
 *
 * @see https://github.com/k8snetworkplumbingwg/multi-networkpolicy
 */
export type MultiNetworkPolicy = NetworkPolicy

export const multiNetworkPolicyResource: Resource<MultiNetworkPolicy> = {
  group: 'k8s.cni.cncf.io',
  version: 'v1beta1',
  kind: 'MultiNetworkPolicy',
  plural: 'multi-networkpolicies',
  namespaced: true,
}
