/** The node's own port on the join network, as the controller allocated it. */
export interface NodeNetwork {
  /** Name of the logical switch port. */
  readonly portName: string
  readonly mac: string
  /** Addresses with the prefix length of the join subnet, one per family. */
  readonly addresses: readonly string[]
  /** Gateways of the join subnet, one per family. */
  readonly gateways: readonly string[]
}

/** Everything that the node's NIC depends on. */
export interface NodeNicSnapshot {
  readonly network: NodeNetwork
  /** Bytes. */
  readonly mtu: number
  /** br-int runs in user space: nobody would complete a partial checksum. */
  readonly hasUserspaceDatapath: boolean
  readonly internalAddresses: readonly string[]
  /** Prefixes of overlay subnets of the default VPC, without the join subnet. */
  readonly subnets: readonly string[]
}
