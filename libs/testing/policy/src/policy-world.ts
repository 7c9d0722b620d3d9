import type { ControlSettings } from '@kube-ovn/domains-control'
import type {
  AdminNetworkPolicy,
  BaselineAdminNetworkPolicy,
  ClusterNetworkPolicy,
  DnsNameResolver,
  EgressFirewall,
  MultiNetworkPolicy,
  NetworkAttachmentDefinition,
  SecurityGroup,
  Subnet,
} from '@kube-ovn/kube-api'
import type { Namespace, NetworkPolicy, Node, Pod } from '@kube-ovn/kube-api/core'
import type { Family } from '@kube-ovn/ip'

/** When everything in a world happens. */
export const worldTime = Date.UTC(2026, 0, 1)

/** Everything that policies of any API are in. */
export interface PolicyObjects {
  readonly nodes: readonly Node[]
  readonly namespaces: readonly Namespace[]
  readonly pods: readonly Pod[]
  readonly subnets: readonly Subnet[]
  /** Networks beside the first one. */
  readonly networkAttachments: readonly NetworkAttachmentDefinition[]
  readonly networkPolicies: readonly NetworkPolicy[]
  /** No API server has looked into them. */
  readonly multiNetworkPolicies: readonly MultiNetworkPolicy[]
  readonly adminNetworkPolicies: readonly AdminNetworkPolicy[]
  readonly baselineAdminNetworkPolicies: readonly BaselineAdminNetworkPolicy[]
  readonly clusterNetworkPolicies: readonly ClusterNetworkPolicy[]
  readonly egressFirewalls: readonly EgressFirewall[]
  readonly securityGroups: readonly SecurityGroup[]
  /** What name servers answered. */
  readonly dnsNameResolvers: readonly DnsNameResolver[]
}

/** A world as it is drawn. */
export interface PolicyWorld {
  readonly seed: number
  readonly families: readonly Family[]
  readonly settings: Partial<ControlSettings>
  readonly objects: PolicyObjects
}
