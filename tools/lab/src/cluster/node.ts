import { createContainerdDirectory } from '../docker/containerd-seed.ts'
import { insideContainer, type Place } from '../namespaces.ts'
import { startMachine } from './machine.ts'
import { networkName, type LabName } from './names.ts'
import { attachToPhysicalNetwork } from './physical-network.ts'
import { addressesOf, type AddressPair, type Blocks, type NodeSpec, type Topology } from './topology.ts'
import type { Container } from '../docker/container.ts'
import type { NodePlan } from './configuration.ts'
import type { FoundNode } from './leftovers.ts'

/** A node of the lab, as long as it is not started again: then it is another one, with other process ids. */
export interface LabNode {
  readonly name: string
  readonly spec: NodeSpec
  readonly container: Container
  readonly kubernetes: AddressPair
  readonly tunnel: AddressPair
  readonly physical: AddressPair
  /** The node itself: its files and its network. */
  readonly place: Place
}

/** What a node is put into. */
export interface NodeSurroundings {
  readonly topology: Topology
  readonly blocks: Blocks
  readonly outside: Container
  /** The image of machines. */
  readonly image: string
  /** The directory that its containerd starts with. */
  readonly seed: string
}

/** Starts the machine of a node whose files are written, and plugs it in. */
export async function startNodeMachine(
  { topology, blocks, outside, image, seed }: NodeSurroundings,
  plan: NodePlan,
): Promise<LabNode> {
  const containerd = await createContainerdDirectory(topology.id, plan.name, seed)
  const container = await startMachine(topology, blocks, image, { ...plan, containerd })
  const { name, host, spec } = plan
  await attachToPhysicalNetwork(
    { topology, blocks, outside },
    { container, name, host, nics: spec.physicalNics, isLedOutside: true },
  )
  return describeNode(topology, blocks, plan, container)
}

/** Where the node of a container is to be found. */
export function describeNode(
  lab: LabName,
  blocks: Blocks,
  { name, spec }: FoundNode,
  container: Container,
): LabNode {
  const nic = (network: 'kubernetes' | 'tunnel'): AddressPair => {
    const { ipv4 = '', ipv6 = '' } = container.nics[networkName(lab, network)] ?? {}
    return { ipv4, ipv6 }
  }
  const kubernetes = nic('kubernetes')
  return {
    name,
    spec,
    container,
    kubernetes,
    tunnel: nic('tunnel'),
    physical: addressesOf(blocks, 'physical', hostNumber(kubernetes)),
    place: insideContainer(container),
  }
}

/** The number of a host, which is the same in every network of the lab. */
export function hostNumber({ ipv4 }: AddressPair): number {
  return Number(ipv4.slice(ipv4.lastIndexOf('.') + 1))
}
