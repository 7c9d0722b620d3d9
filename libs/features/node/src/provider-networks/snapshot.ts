/** Which VLAN interfaces of a NIC are kept working, by ports of the bridge in their place. */
export interface VlanChoice {
  /** All of them. */
  readonly preservesAll: boolean
  /** Names of those that are; what is not there is taken once it comes. */
  readonly named: readonly string[]
  /** Names of NICs of other networks, which are not. */
  readonly others: readonly string[]
}

/** A VLAN interface that is made where it is missing, to be the NIC. */
interface MadeVlan {
  /** NIC that it is made of. */
  readonly parent: string
  /** Tag of its frames. */
  readonly id: number
}

/** How a node is connected to a physical network. */
export interface ProviderBridge {
  /** Name of the ProviderNetwork. */
  readonly network: string
  /** Generation of its specification: what was taken back is tried again when that was edited. */
  readonly generation: number
  readonly bridge: string
  /** NIC as the specification names it; `undefined` where the operator connects the bridge, with DPDK. */
  readonly source: string | undefined
  /** Where the NIC is named, for who is told of it. */
  readonly field: string
  /** Name of the NIC while it is connected: another one when the bridge has its name. */
  readonly nic: string
  /** Tags that frames may have; 0 stands for those without. */
  readonly trunks: readonly number[]
  /** Tags of before stay: a subnet is on a Vlan that is gone, or not in effect as it is written. */
  readonly keepsTrunks: boolean
  readonly vlans: VlanChoice
  /** `undefined`: a NIC that is not there is not made. */
  readonly makes: MadeVlan | undefined
  /** Frames to a MAC address that is not known are sent by the way in which they came once (`--mac-learning-fallback`). */
  readonly hasMacLearningFallback: boolean
}
