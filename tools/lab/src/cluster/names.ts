/** What tells a lab from others, and whose tunnel network it has if not its own. */
export interface LabName {
  readonly id: string
  readonly sees?: string
}

/** The name of a machine's container. */
export function containerName(id: string, machine: string): string {
  return `kube-ovn-${id}-${machine}`
}

/** The name of the machine in a container, of which the engine says the name with a slash before it. */
export function machineName(id: string, container: string): string {
  return container.replace(/^\//, '').slice(containerName(id, '').length)
}

/** The name of one of a lab's Docker networks. */
export function networkName({ id, sees }: LabName, network: 'kubernetes' | 'tunnel'): string {
  return `kube-ovn-${network === 'tunnel' ? (sees ?? id) : id}-${network}`
}

/** The name of the node with a number, from 1. */
export function nodeName(number: number): string {
  return `node-${number}`
}

/** The number of a node, or 0 if that is no name of a node. */
export function nodeNumber(name: string): number {
  return Number(/^node-(\d+)$/.exec(name)?.[1] ?? 0)
}

/** The name of the router with index `index`. */
export function routerName(index: number): string {
  return `router-${index + 1}`
}

/** The switch of the physical network, and the outside host's own port on it. */
export const switchName = 'br0'

/** The outside host's port in a VLAN. */
export function vlanPort(vlan: number): string {
  return `vlan${vlan}`
}
