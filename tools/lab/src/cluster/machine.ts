import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startContainer, type Container } from '../docker/container.ts'
import { imageArchiveMount, imageArchives } from '../docker/image.ts'
import { createInternalNetwork } from '../docker/network.ts'
import { DockerError } from '../errors.ts'
import { labDirectory, programs } from '../paths.ts'
import { configurationDirectory, programDirectory } from './control-plane.ts'
import { labelsOf, removeLab } from './leftovers.ts'
import { containerName, networkName } from './names.ts'
import { addressesOf, maxBlocks, subnetsOf, type NodeSpec, type Topology } from './topology.ts'

/** Takes the first block of addresses that nothing on this machine uses. */
export async function createNetworks(topology: Topology): Promise<number> {
  for (let block = 0; block < maxBlocks; block++) {
    if (await createNetwork(topology, block, 'kubernetes')) {
      if (await createNetwork(topology, block, 'tunnel')) return block
      await removeLab(topology.id)
    }
  }
  const details = { method: 'POST', path: '/networks/create', status: 0, reason: '172.30.0.0/16 is used up' }
  throw new DockerError('no free addresses for a lab', details)
}

function createNetwork(
  topology: Topology,
  block: number,
  network: 'kubernetes' | 'tunnel',
): Promise<boolean> {
  const { ipv4, ipv6 } = subnetsOf(block, network)
  return createInternalNetwork({
    name: networkName(topology.id, network),
    ipv4Subnet: ipv4,
    ipv6Subnet: ipv6,
    labels: labelsOf(topology, block),
  })
}

/** Starts a machine: the control machine, the outside host, a router, or a node, which has a directory for its containerd. */
export async function startMachine(
  topology: Topology,
  block: number,
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
    network: networkName(topology.id, network),
    ...addressesOf(block, network, machine.host),
  })
  const isNode = machine.containerd !== undefined
  const isControl = machine.name === 'control'
  mkdirSync(imageArchives, { recursive: true })
  return startContainer({
    name: containerName(topology.id, machine.name),
    hostname: machine.name,
    image,
    command: [`${configurationDirectory}/start`],
    labels: labelsOf(topology, block, machine),
    mounts: [
      `${join(directory, machine.name)}:${configurationDirectory}`,
      `${join(directory, 'logs', machine.name)}:/var/log/lab`,
      ...(isNode || isControl ? [`${programs.kubernetes}:${programDirectory}:ro`] : []),
      ...(isNode
        ? [`${imageArchives}:${imageArchiveMount}:ro`, `${machine.containerd}:/var/lib/containerd`]
        : []),
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
