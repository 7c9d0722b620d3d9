/** A link of the node with what decides whether tunnels may end at it. In the kernel's order. */
export interface TunnelLink {
  readonly name: string
  readonly mtu: number
  /** Addresses with prefix length, in the kernel's order. */
  readonly addresses: readonly string[]
  /** Preferred sources of the link's on-link routes: where there are any, a tunnel ends at one of them. */
  readonly preferredSources: readonly string[]
  /** Bridge of ours that the link is a port of: the bridge carries its addresses. */
  readonly bridge?: string
}

/** Everything that decides where tunnels end. */
export interface TunnelSnapshot {
  readonly settings: TunnelSettings
  readonly node: {
    /** Labelled `ovs_dp_type=userspace`: tunnels end at the interface of the userspace data path. */
    readonly hasUserspaceDatapath: boolean
    /** Annotation `tunnel_interface`. */
    readonly tunnelInterface: string
    /** Annotation `node_networks`: address by name of network. */
    readonly networks: ReadonlyMap<string, string>
    readonly internalAddresses: readonly string[]
  }
  readonly links: readonly TunnelLink[]
}

/** Flags and environment that tunnels depend on. */
export interface TunnelSettings {
  readonly networkType: NetworkType
  /** `--mtu`; 0 derives it. */
  readonly mtu: number
  /** `--iface`: a name, or regular expressions separated by commas. */
  readonly iface: string
  readonly dpdkTunnelIface: string
  readonly acceptsHostMasks: boolean
  readonly hasEncapChecksum: boolean
  /** `POD_IP`: the address of the agent's own (host network) pod. */
  readonly podIp: string
}

export const networkTypes = ['geneve', 'vxlan', 'stt', 'vlan'] as const
export type NetworkType = (typeof networkTypes)[number]
