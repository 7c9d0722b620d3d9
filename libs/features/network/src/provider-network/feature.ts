import { providerNetworkKeysOf, readProviderNetworkRequest } from '@kube-ovn/annotations'
import { apiVersion, providerNetworkResource, takesPart } from '@kube-ovn/kube-api'
import type { ProviderNetworkSpec } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { observedOf } from '@kube-ovn/domains-control'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { builtInProviderNetwork, localnets } from '@kube-ovn/domains-control/topology'
import { desiredNetwork, type NodeState, type ProviderNetworkSnapshot } from './desired.ts'

/** The network of the default subnet, which is not there. */
interface MissingNetwork {
  readonly name: string
  readonly spec: ProviderNetworkSpec
}

/** Says of each provider network on which nodes it is ready, as these tell, and which Vlans are on it, and keeps it while somebody is. Makes that of the default subnet. */
export const providerNetwork: ControlFeature<string, ProviderNetworkSnapshot | MissingNetwork> = {
  name: 'provider-network',
  kinds: [],
  tables: [localnets],
  rights: [
    { resource: providerNetworkResource, verbs: ['create', 'patch'] },
    { resource: providerNetworkResource, subresource: 'status', verbs: ['patch'] },
  ],
  // Nodes come and change one by one.
  paceMs: 1000,
  triggers: [{ on: 'object', resource: providerNetworkResource, keys: (change) => [change.key] }],
  initialKeys: ({ settings }) => (settings.defaultUnderlay === undefined ? [] : [settings.defaultProvider]),
  observe: observeProviderNetwork,
  desired(_name, snapshot) {
    if (snapshot === undefined) return nothing
    return 'object' in snapshot ? desiredNetwork(snapshot) : creation(snapshot)
  },
}

function creation({ name, spec }: MissingNetwork): Desired {
  const create = { apiVersion, kind: providerNetworkResource.kind, metadata: { name }, spec: { ...spec } }
  return { ...nothing, patches: [{ resource: providerNetworkResource, name, create }] }
}

function observeProviderNetwork(
  name: string,
  world: ControlWorld,
): ProviderNetworkSnapshot | MissingNetwork | undefined {
  const object = world.providerNetworks.get(name)
  if (object === undefined) {
    const spec = builtInProviderNetwork(name, world.settings)
    return spec === undefined ? undefined : { name, spec }
  }
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
    subnets: world
      .table(localnets)
      .find('network', name)
      .map(({ subnet }) => subnet)
      .toSorted(),
    observed: observedOf(providerNetworkResource, object, world),
    now: world.now(),
  }
}
