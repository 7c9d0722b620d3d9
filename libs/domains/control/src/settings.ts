/** What the flags of the controller decide. Defaults and meanings are those of the flags. */
export interface ControlSettings {
  readonly clusterRouter: string
  readonly defaultSubnet: BuiltInSubnet & { readonly disableGatewayCheck: boolean }
  /** What the default subnet is on where it is an underlay; `undefined`: it is an overlay. */
  readonly defaultUnderlay: DefaultUnderlay | undefined
  readonly nodeSwitch: BuiltInSubnet
  readonly enableLb: boolean
  /** ProviderNetwork of a Vlan that names none. */
  readonly defaultProvider: string
  /** Subnet that leads out of the cluster where nobody names another. */
  readonly externalSubnet: string
  /** Whether VPCs may be connected to that one. */
  readonly enableEipSnat: boolean
  /** Whether NetworkPolicies are enforced. */
  readonly enableNp: boolean
  /** Whether AdminNetworkPolicies, BaselineAdminNetworkPolicies and ClusterNetworkPolicies are enforced. */
  readonly enableAnp: boolean
  /** Whether DNS names in policies are followed. */
  readonly enableDnsNameResolver: boolean
  readonly podNicType: string
  /** Addresses of a virtual machine are the machine's, not those of the pod that happens to run it. */
  readonly keepVmIp: boolean
  /** Another CNI makes the first NIC of each pod; pods have further ones here. */
  readonly nonPrimaryCni: boolean
  /** Addresses of node-local DNS caches, both families. */
  readonly nodeLocalDns: readonly string[]
  /** Prefixes of Services' addresses, where no ServiceCIDR says them. */
  readonly servicePrefixes: readonly string[]
  /** The address of Service `default/kubernetes` as the process sees it, if any: no subnet may contain it. */
  readonly apiServerAddress: string | undefined
  /** The controller's own. */
  readonly namespace: string
  /** Stored in NB_Global, where upstream looks for it before an upgrade. */
  readonly version: string
  /** What those flags decide that features declare; {@link flagsOf} reads them. */
  readonly flags: Readonly<Record<string, unknown>>
}

/** The Vlan of the default subnet, on the default ProviderNetwork. Both are made where they are not there. */
export interface DefaultUnderlay {
  /** NIC by which nodes are connected. */
  readonly interface: string
  /** The bridge on each node has the NIC's name. */
  readonly exchangesLinkName: boolean
  /** Name of the Vlan. */
  readonly vlan: string
  /** 0 is without a tag. */
  readonly vlanId: number
  /** The gateway is one of OVN. */
  readonly hasLogicalGateway: boolean
  /** The router of the VPC has an address there, too. */
  readonly isInterconnected: boolean
}

/** A subnet that exists in every cluster. Empty strings mean: derive it. */
export interface BuiltInSubnet {
  readonly name: string
  readonly cidrBlock: string
  readonly gateway: string
  readonly excludeIps: readonly string[]
}
