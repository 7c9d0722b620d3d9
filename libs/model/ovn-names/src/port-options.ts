/** Options of ports of type `virtual` (ovn-nb(5), Logical_Switch_Port). */
export const virtualPortOption = {
  address: 'virtual-ip',
  /** Names of the ports that may take the address, separated by commas. */
  parents: 'virtual-parents',
} as const

/** Upstream's mark of a port that answers ARP for a SwitchLBRule. Stock OVN reads it on router ports only. */
export const arpProxyOption = 'arp_proxy'
