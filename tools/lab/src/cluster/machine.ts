import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startContainer, type Container } from '../docker/container.ts'
import { imageArchiveMount, imageArchives } from '../docker/image.ts'
import { createInternalNetwork } from '../docker/network.ts'
import { DockerError } from '../errors.ts'
import { labDirectory, programs } from '../paths.ts'
import { configurationDirectory, programDirectory } from './control-plane.ts'
import { dropStrayPackets } from '../uplink/stray-packets.ts'
import { labelsOf, removeLab, type FoundLab } from './leftovers.ts'
import { multusMount } from './multus.ts'
import { containerName, networkName } from './names.ts'
import { addressesOf, maxBlocks, subnetsOf, type Blocks, type NodeSpec, type Topology } from './topology.ts'

/**
 * Takes the first block of addresses that nothing on this machine uses.
 *
 * @param seen the lab whose tunnel network this one shares
 */
export async function createNetworks(topology: Topology, seen?: FoundLab): Promise<Blocks> {
  for (let own = 0; own < maxBlocks; own++) {
    const blocks = { own, tunnel: seen?.blocks.own ?? own }
    if (await createNetwork(topology, blocks, 'kubernetes')) {
      if (seen !== undefined || (await createNetwork(topology, blocks, 'tunnel'))) {
        dropStrayPackets()
        return blocks
      }
      await removeLab(topology.id)
    }
  }
  const details = { method: 'POST', path: '/networks/create', status: 0, reason: '172.30.0.0/16 is used up' }
  throw new DockerError('no free addresses for a lab', details)
}

function createNetwork(
  topology: Topology,
  blocks: Blocks,
  network: 'kubernetes' | 'tunnel',
): Promise<boolean> {
  const { ipv4, ipv6 } = subnetsOf(blocks, network)
  return createInternalNetwork({
    name: networkName(topology, network),
    ipv4Subnet: ipv4,
    ipv6Subnet: ipv6,
    labels: labelsOf(topology, blocks),
  })
}

/** Starts a machine: the control machine, the outside host, a router, or a node, which has a directory for its containerd. */
export async function startMachine(
  topology: Topology,
  blocks: Blocks,
  image: string,
  machine: {
    readonly name: string
    readonly host: number
    readonly spec?: NodeSpec
    readonly containerd?: string
  },
): Promise<Container> {
  const directory = labDirectory(topology.id)
  const attachment = (network: 'kubernetes' | 'tunnel') => ({
    network: networkName(topology, network),
    ...addressesOf(blocks, network, machine.host),
  })
  const isNode = machine.containerd !== undefined
  const isControl = machine.name === 'control'
  mkdirSync(imageArchives, { recursive: true })
  return startContainer({
    name: containerName(topology.id, machine.name),
    hostname: machine.name,
    image,
    command: [`${configurationDirectory}/start`],
    labels: labelsOf(topology, blocks, machine),
    mounts: [
      `${join(directory, machine.name)}:${configurationDirectory}`,
      `${join(directory, 'logs', machine.name)}:/var/log/lab`,
      ...(isNode || isControl ? [`${programs.kubernetes}:${programDirectory}:ro`] : []),
      ...(isNode
        ? [`${imageArchives}:${imageArchiveMount}:ro`, `${machine.containerd}:/var/lib/containerd`]
        : []),
      ...(isNode && topology.hasNetworkAttachments ? [multusMount] : []),
    ],
    volumes: isNode ? ['/var/lib/kubelet'] : [],
    // Only nodes have tunnels, and what is outside is reached through the physical network alone.
    networks: isNode
      ? [attachment('kubernetes'), attachment('tunnel')]
      : isControl
        ? [attachment('kubernetes')]
        : [],
    extraHosts: [],
  })
}
