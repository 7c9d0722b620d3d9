/** A Subnet of a physical network, as far as a NIC of a node in it goes by it. */
export interface ExternalSubnet {
  readonly name: string
  /** Of the Vlan; empty where it is on none. */
  readonly vlan: string
  /** With prefix length. */
  readonly cidrs: readonly string[]
  /** In canonical form, at most one of each family. */
  readonly gateways: readonly string[]
  /** Bytes; 0 where it says none. */
  readonly mtu: number
  readonly checksGateways: boolean
}

/** Everything that the node's NIC in an external Subnet depends on. */
export interface NodeEipSnapshot {
  readonly nodeName: string
  /** Of the OvnEip; in canonical form, at most one of each family. */
  readonly addresses: readonly string[]
  readonly mac: string
  readonly subnet: ExternalSubnet
  /** Bytes, of the NIC by which the node is connected to the physical network. */
  readonly mtu: number
  /** Addresses of the routers of VPCs in the Subnet. */
  readonly routers: readonly string[]
  /** br-int runs in user space: nobody would complete a partial checksum. */
  readonly hasUserspaceDatapath: boolean
}
