import { LabTimeoutError } from '../errors.ts'
import { runAt } from '../namespaces.ts'
import { networkName } from './names.ts'
import { physicalInterface } from './physical-network.ts'
import type { Cluster } from './cluster.ts'
import type { LabNode } from './node.ts'
import type { NetworkName } from './topology.ts'

/** A NIC of a node, as the node sees it. */
export interface NodeInterface {
  readonly name: string
  /** The index of its other end, in the namespace that has it. */
  readonly peerIndex: number
}

/** As ip(8) prints it. */
interface Link {
  readonly ifname: string
  readonly address: string
  readonly link_index?: number
}

/**
 * Finds the NIC of a node in a network of the lab.
 *
 * By its MAC: the engine orders NICs as it likes, and the one of the tunnels has given its addresses to a bridge, which has the same MAC but
 * no other end.
 */
export async function networkInterface(
  cluster: Cluster,
  node: LabNode,
  network: NetworkName,
): Promise<NodeInterface> {
  const links = JSON.parse(await runAt(node.place, ['ip', '-json', 'link'])) as Link[]
  const isMeant =
    network === 'physical'
      ? (link: Link) => link.ifname === physicalInterface
      : (link: Link) => link.address === node.container.nics[networkName(cluster.topology, network)]?.mac
  const found = links.find((link) => link.link_index !== undefined && isMeant(link))
  if (found?.link_index === undefined)
    throw new LabTimeoutError('a NIC of a node is missing', {
      what: `${node.name} in network ${network}`,
      timeoutMs: 0,
      seen: links.map(({ ifname }) => ifname).join(' '),
    })
  return { name: found.ifname, peerIndex: found.link_index }
}
