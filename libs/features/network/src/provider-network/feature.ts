import { providerNetworkKeysOf, readProviderNetworkRequest } from '@kube-ovn/annotations'
import { providerNetworkResource, takesPart } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import { observedOf } from '@kube-ovn/domains-control'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { desiredStatus, type NodeState, type ProviderNetworkSnapshot } from './desired.ts'

/** Says of each provider network on which nodes it is ready, as these tell, and which Vlans are on it. */
export const providerNetwork: ControlFeature<string, ProviderNetworkSnapshot> = {
  name: 'provider-network',
  kinds: [],
  rights: [{ resource: providerNetworkResource, subresource: 'status', verbs: ['patch'] }],
  // Nodes come and change one by one.
  paceMs: 1000,
  triggers: [{ on: 'object', resource: providerNetworkResource, keys: (change) => [change.key] }],
  observe: observeProviderNetwork,
  desired: (_name, snapshot) => (snapshot === undefined ? nothing : desiredStatus(snapshot)),
}

function observeProviderNetwork(name: string, world: ControlWorld): ProviderNetworkSnapshot | undefined {
  const object = world.providerNetworks.get(name)
  if (object === undefined) return undefined
  const keys = providerNetworkKeysOf(name)
  const nodes = world.connectedNodes
    .scan()
    .filter((node) => {
      const { isExcluded } = readProviderNetworkRequest(name, node.annotations)
      return takesPart(object, { ...node, isExcluded })
    })
    .map(({ name: node, labels, annotations }): NodeState => ({
      name: node,
      isReady: labels[keys.ready] === 'true',
      problem: annotations[keys.problem],
    }))
  return {
    ...{ name, object, nodes },
    vlans: world.vlansInEffect.find('provider', name).map((vlan) => vlan.name),
    observed: observedOf(providerNetworkResource, object, world),
    now: world.now(),
  }
}
