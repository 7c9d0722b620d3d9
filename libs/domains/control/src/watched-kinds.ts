import type { Store } from '@kube-ovn/kube'
import type { ConfigMap, Namespace, NetworkPolicy, Node, Pod, StatefulSet } from '@kube-ovn/kube-api/core'
import type {
  AdminNetworkPolicy,
  BaselineAdminNetworkPolicy,
  ClusterNetworkPolicy,
  DnsNameResolver,
  EgressFirewall,
  Ip,
  IpPool,
  OvnEip,
  MultiNetworkPolicy,
  NetworkAttachmentDefinition,
  SecurityGroup,
  ProviderNetwork,
  RouterLbRule,
  Subnet,
  SwitchLbRule,
  Vip,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  Vlan,
  Vpc,
  VpcDns,
} from '@kube-ovn/kube-api'

/** The objects of each resource that decisions of several features are based on. */
export interface WatchedKinds {
  readonly pods: Pod
  readonly nodes: Node
  readonly namespaces: Namespace
  readonly subnets: Subnet
  readonly vpcs: Vpc
  readonly vlans: Vlan
  readonly providerNetworks: ProviderNetwork
  readonly ips: Ip
  readonly ipPools: IpPool
  readonly vips: Vip
  readonly ovnEips: OvnEip
  readonly switchLbRules: SwitchLbRule
  /** None before its definition was installed: Helm leaves definitions as they are when it upgrades. */
  readonly routerLbRules: RouterLbRule
  /** The same. */
  readonly vpcDnses: VpcDns
  /** Those of the controller's own namespace. */
  readonly configMaps: ConfigMap
  readonly networkPolicies: NetworkPolicy
  /** None where its definition is not installed. */
  readonly multiNetworkPolicies: MultiNetworkPolicy
  /** None where the network policy API is not installed. */
  readonly adminNetworkPolicies: AdminNetworkPolicy
  readonly baselineAdminNetworkPolicies: BaselineAdminNetworkPolicy
  readonly clusterNetworkPolicies: ClusterNetworkPolicy
  /** The same. */
  readonly egressFirewalls: EgressFirewall
  readonly dnsNameResolvers: DnsNameResolver
  readonly securityGroups: SecurityGroup
  readonly statefulSets: StatefulSet
  /** None where Multus is not installed. */
  readonly networkAttachments: NetworkAttachmentDefinition
  /** None where KubeVirt is not installed. */
  readonly machines: VirtualMachine
  readonly machineInstances: VirtualMachineInstance
  readonly machineMigrations: VirtualMachineInstanceMigration
}

export type WatchedStores = { readonly [N in keyof WatchedKinds]: Store<WatchedKinds[N]> }

/** Names of the index functions of the stores. */
export const storeIndex = {
  /** Subnets by the provider that they specify. */
  subnetsByProvider: 'provider',
  /** IP objects of a subnet. */
  ipsBySubnet: 'subnet',
  /** IP objects of a pod, by `namespace/name`. */
  ipsByPod: 'pod',
  /** IPPools of a subnet. */
  poolsBySubnet: 'subnet',
  /** Vips of a subnet. */
  vipsBySubnet: 'subnet',
  /** OvnEips of a subnet; those that name none are of none. */
  eipsBySubnet: 'subnet',
  /** OvnEips that were made for a Vpc. */
  eipsByVpc: 'vpc',
  /** VpcDnses of a Vpc. */
  dnsesByVpc: 'vpc',
  /** Pods that may have the addresses of a Vip beside their own. */
  podsBySharedVip: 'shared-vip',
  /** Pods that have, or want, the addresses of a Vip as their own. */
  podsByBorrowedVip: 'borrowed-vip',
  /** Pods that forward for a Service in an attached network, by its `namespace/name`. */
  podsByForwardedService: 'forwarded-service',
  /** Pods that may send from an address beside their own, by that address. */
  podsByPortVip: 'port-vip',
  /** Pods that were given an address, by `namespace/address`; by `namespace/`, whichever it is. */
  podsByAddress: 'address',
  /** Pods that run a machine, by `namespace/name`. */
  podsByMachine: 'machine',
  /** Moves of a machine from node to node, by its `namespace/name`. */
  migrationsByMachine: 'machine',
  /** DNSNameResolvers that were made for names in policies, by `label/value`. */
  resolversByLabel: 'label',
  /** SecurityGroups by what their port group would be called. */
  securityGroupsByGroup: 'group',
  /** Nodes that have an address as their own, by that address. */
  nodesByAddress: 'address',
} as const
