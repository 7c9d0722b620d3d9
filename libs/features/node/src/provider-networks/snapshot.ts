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
  /** Tags of before stay: a subnet is on a Vlan that is gone. */
  readonly keepsTrunks: boolean
  /** Frames to a MAC address that is not known are sent by the way in which they came once (`--mac-learning-fallback`). */
  readonly hasMacLearningFallback: boolean
}
