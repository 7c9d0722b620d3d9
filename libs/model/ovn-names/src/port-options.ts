/** Options of ports of type `virtual` (ovn-nb(5), Logical_Switch_Port). */
export const virtualPortOption = {
  address: 'virtual-ip',
  /** Names of the ports that may take the address, separated by commas. */
  parents: 'virtual-parents',
} as const

/** Of a router port: the table of routes for what comes in there (ovn-nb(5), Logical_Router_Port). */
export const routeTableOption = 'route_table'

/**
 * Of a switch's port to a router: addresses for which the router answers ARP and neighbour solicitations (ovn-nb(5), Logical_Switch_Port).
 * Upstream marks the port of a Vip by it, with `true`.
 */
export const arpProxyOption = 'arp_proxy'

/** Options of a port that is on two chassis while a machine moves (ovn-nb(5), Logical_Switch_Port). */
export const migrationOption = {
  /** Host names of the chassis that may have the port, the one that has it first, separated by commas. */
  requestedChassis: 'requested-chassis',
  /** How the second chassis learns that the machine is there: `rarp`, by the packet that a hypervisor sends then. */
  activationStrategy: 'activation-strategy',
} as const
