import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startContainer, type Container } from '../docker/container.ts'
import { imageArchiveMount, imageArchives } from '../docker/image.ts'
import { createInternalNetwork } from '../docker/network.ts'
import { LabMachineError } from '../errors.ts'
import { labDirectory, programs } from '../paths.ts'
import { configurationDirectory, programDirectory } from './control-plane.ts'
import { dropStrayPackets } from '../uplink/stray-packets.ts'
import { labelsOf, removeLab, type FoundLab } from './leftovers.ts'
import { multusMount } from './multus.ts'
import { containerName, networkName } from './names.ts'
import {
  addressesOf,
  labRanges,
  maxBlocks,
  networkNames,
  subnetsOf,
  type Blocks,
  type NodeSpec,
  type Topology,
} from './topology.ts'
import { isInUse, rangesInUse } from './used-ranges.ts'

/**
 * Takes the first block of addresses that nothing on this machine uses.
 *
 * @param seen the lab whose tunnel network this one shares
 * @throws {LabMachineError} if there is none
 */
export async function createNetworks(topology: Topology, seen?: FoundLab): Promise<Blocks> {
  const used = await rangesInUse()
  for (let own = 0; own < maxBlocks; own++) {
    const blocks = { own, tunnel: seen?.blocks.own ?? own }
    if (ownSubnets(blocks).some((subnet) => isInUse(subnet, used))) continue
    if (await createNetwork(topology, blocks, 'kubernetes')) {
      if (seen !== undefined || (await createNetwork(topology, blocks, 'tunnel'))) {
        dropStrayPackets()
        return blocks
      }
      await removeLab(topology.id)
    }
  }
  throw new LabMachineError('no addresses are free for a lab', {
    what: `${labRanges.ipv4} and ${labRanges.ipv6} are used up by labs, or by routes of this machine`,
    cure: 'remove labs (npm run lab -- status, npm run lab -- down --id NAME), or the routes (ip route show root 10.172.0.0/16)',
  })
}

/** Not those of the lab whose tunnel network it shares. */
function ownSubnets({ own }: Blocks): readonly string[] {
  return networkNames
    .map((network) => subnetsOf({ own, tunnel: own }, network))
    .flatMap(({ ipv4, ipv6 }) => [ipv4, ipv6])
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
