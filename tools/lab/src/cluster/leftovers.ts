import { listContainers, removeContainer, thawContainer, type ListedContainer } from '../docker/container.ts'
import { removeContainerdDirectories } from '../docker/containerd-seed.ts'
import { listNetworks, removeNetworks } from '../docker/network.ts'
import { LabExistsError } from '../errors.ts'
import { dropStrayPackets } from '../uplink/stray-packets.ts'
import { machineName, nodeNumber } from './names.ts'
import type { Blocks, NodeSpec, Topology } from './topology.ts'

const idLabel = 'kube-ovn.lab'
const ownerLabel = 'kube-ovn.lab.owner'
const topologyLabel = 'kube-ovn.lab.topology'
const nodeLabel = 'kube-ovn.lab.node'

/** What containers and networks of a lab are found by, also after the process that made them is gone. */
export function labelsOf(
  topology: Topology,
  blocks: Blocks,
  machine?: { readonly name: string; readonly spec?: NodeSpec },
): Record<string, string> {
  const { id, isKept, owner = process.pid, ...made } = topology
  return {
    [idLabel]: id,
    [ownerLabel]: isKept ? 'kept' : String(owner),
    [topologyLabel]: JSON.stringify({ ...made, blocks } satisfies MadeTopology),
    ...(machine?.spec === undefined
      ? {}
      : { [nodeLabel]: JSON.stringify({ name: machine.name, spec: machine.spec } satisfies FoundNode) }),
  }
}

type MadeTopology = Omit<Topology, 'id' | 'isKept' | 'owner'> & { readonly blocks: Blocks }

/** A node that is there. */
export interface FoundNode {
  readonly name: string
  readonly spec: NodeSpec
}

/** A machine that is there, by its name in its lab. */
interface FoundMachine {
  readonly name: string
  readonly isRunning: boolean
}

/** A lab that is there, be it as much as a network of it. */
export interface FoundLab {
  /** As it was made; nodes may have come and gone since. */
  readonly topology: Topology
  readonly blocks: Blocks
  /** The nodes that it has now, by their number. */
  readonly nodes: readonly FoundNode[]
  /** Everything that is a container, nodes as well. */
  readonly machines: readonly FoundMachine[]
  /** The process that it is to end with is alive, or it is to be kept. */
  readonly isOwned: boolean
}

/** Lists the labs of this machine. */
export async function findLabs(): Promise<readonly FoundLab[]> {
  // Networks come first, and go last.
  const [containers, networks] = await Promise.all([listContainers(idLabel), listNetworks(idLabel)])
  const byLab = Map.groupBy([...containers, ...networks], ({ Labels }) => Labels[idLabel] ?? '')
  return [...byLab].map(([id, parts]) =>
    describeLab(
      id,
      parts[0]?.Labels ?? {},
      containers.filter(({ Labels }) => Labels[idLabel] === id),
    ),
  )
}

function describeLab(
  id: string,
  labels: ListedContainer['Labels'],
  machines: readonly ListedContainer[],
): FoundLab {
  const { blocks, ...made } = JSON.parse(labels[topologyLabel] ?? '{}') as MadeTopology
  const owner = labels[ownerLabel] ?? ''
  const isKept = owner === 'kept'
  return {
    topology: { id, ...made, isKept, ...(isKept ? {} : { owner: Number(owner) }) },
    blocks,
    nodes: machines
      .flatMap(({ Labels }) => Labels[nodeLabel] ?? [])
      .map((text) => JSON.parse(text) as FoundNode)
      .sort((a, b) => nodeNumber(a.name) - nodeNumber(b.name)),
    machines: machines.map(({ Names, State }) => ({
      name: machineName(id, Names[0] ?? ''),
      // What is paused still has its processes.
      isRunning: State === 'running' || State === 'paused',
    })),
    isOwned: isKept || isAlive(Number(owner)),
  }
}

/** Removes what is left of labs whose process is gone. */
export async function removeLeftovers(): Promise<void> {
  const labs = await findLabs()
  await Promise.all(labs.filter((lab) => !lab.isOwned).map((lab) => removeLab(lab.topology.id)))
}

/**
 * Makes sure that a lab may be made under this name.
 *
 * @throws {LabExistsError} if one is kept or in use under it
 */
export async function claimLabName(id: string): Promise<void> {
  const found = (await findLabs()).find((lab) => lab.topology.id === id)
  if (found?.isOwned === true) {
    const cure = `remove it with "npm run lab -- down --id ${id}" or take another name with --id`
    throw new LabExistsError('a lab of this name exists', { id, cure })
  }
}

/** Removals by lab: whoever fails and whoever is told to end may both want one. */
const removals = new Map<string, Promise<void>>()

/** Removes a lab: containers, volumes, networks, files. Nothing of it may be there already. */
export function removeLab(id: string): Promise<void> {
  const removal = (removals.get(id) ?? Promise.resolve()).catch(() => undefined).then(() => removeNow(id))
  removals.set(id, removal)
  return removal
}

async function removeNow(id: string): Promise<void> {
  dropStrayPackets()
  const seeing = (await findLabs()).filter(({ topology }) => topology.sees === id)
  // They have machines in its tunnel network.
  await Promise.all(seeing.map(({ topology }) => removeLab(topology.id)))
  const label = `${idLabel}=${id}`
  const containers = await listContainers(label)
  await Promise.all(
    containers.map(async ({ Id, State }) => {
      // What is frozen can not be killed.
      if (State === 'paused') await thawContainer(Id)
      await removeContainer(Id)
    }),
  )
  await removeNetworks(label)
  removeContainerdDirectories(id)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
