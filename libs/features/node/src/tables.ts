import { ovnEipResource, providerNetworkResource, subnetResource, vlanResource } from '@kube-ovn/kube-api'
import { endpointSlices, nodes, pods, serviceCidrs, services } from '@kube-ovn/kube-api/core'
import type { EndpointSlice } from '@kube-ovn/kube-api/core'
import { sliceLabel } from '@kube-ovn/annotations'
import { objectTable } from '@kube-ovn/reconcile/work'
import { rowTable, sourceTable } from '@kube-ovn/tables'
import { readSubnetFacts } from './subnet-facts.ts'
import type { TunnelSettings } from './tunnels/snapshot.ts'

/** What the agent was started with, as far as features of the node go by it. */
export interface AgentFacts {
  readonly nodeName: string
  /** `--cluster-router`: the VPC whose subnets the node reaches. */
  readonly clusterRouter: string
  /** `--node-switch`: the join subnet. */
  readonly nodeSwitch: string
  /** `--service-cluster-ip-range`: used where there are no ServiceCIDR objects. */
  readonly fallbackServicePrefixes: readonly string[]
  readonly tunnel: TunnelSettings
  /** `--enable-mirror`, `--mirror-iface`: whether all of the integration bridge is mirrored, and the NIC where mirrored packets come out. */
  readonly mirror: { readonly isOfAll: boolean; readonly link: string }
  /** `--acl-sample-collector-set`, `--acl-sample-targets`: which set of collectors tells whom of samples; nobody has it made here. */
  readonly samples: { readonly set: number; readonly targets: readonly string[] }
  /** `--mac-learning-fallback`: bridges of physical networks send to where a MAC address was seen once. */
  readonly hasMacLearningFallback: boolean
  /** `--replace-kube-proxy`: Services are served by the agent, not by kube-proxy. */
  readonly servesServices: boolean
  /** `--enable-tproxy`: the kubelet reaches probed ports of pods of all VPCs. */
  readonly reachesVpcs: boolean
}

/** The key of what exists once on a node. */
export const theNode = 'node'

/** One row, {@link theNode}: what follows from many things together is derived from it. */
export const agentTable = sourceTable<AgentFacts>({ name: 'agent' })

/** Of this node only. */
export const podTable = objectTable({ resource: pods })
export const nodeTable = objectTable({ resource: nodes })
export const providerNetworkTable = objectTable({ resource: providerNetworkResource })
export const vlanTable = objectTable({ resource: vlanResource })
export const subnetTable = objectTable({ resource: subnetResource })
/** Those of routers and nodes. */
export const ovnEipTable = objectTable({ resource: ovnEipResource })
export const serviceTable = objectTable({ resource: services })

/** Slices by the Service that they are of. */
export const sliceIndexes = {
  service: ({ metadata }: EndpointSlice): readonly string[] => {
    const name = metadata.labels?.[sliceLabel.service] ?? ''
    return name === '' ? [] : [`${metadata.namespace ?? ''}/${name}`]
  },
}

export const sliceTable = objectTable({ resource: endpointSlices, indexes: sliceIndexes })
export const serviceCidrTable = objectTable({ resource: serviceCidrs })

/**
 * MTU of what travels in tunnels, bytes; no row until it is known. What it was stays in effect while the end of the tunnels can not be told,
 * so it is no function of what is now.
 */
export const tunnelMtuTable = sourceTable<number>({ name: 'tunnel-mtu' })

/** What is in effect of each Subnet. */
export const subnetFactsTable = rowTable({
  name: 'subnet-facts',
  of: subnetTable,
  reads: { agent: agentTable },
  row: (subnet, { agent }) => readSubnetFacts(subnet, agent.get(theNode)?.clusterRouter ?? ''),
})
