import { listContainers, removeContainer } from '../docker/container.ts'
import { removeContainerdDirectories } from '../docker/containerd-seed.ts'
import { removeNetworks } from '../docker/network.ts'
import { LabExistsError } from '../errors.ts'
import type { PodNetwork, Stack, Topology } from './topology.ts'

const idLabel = 'kube-ovn.lab'
const ownerLabel = 'kube-ovn.lab.owner'
const topologyLabel = 'kube-ovn.lab.topology'

/** What containers and networks of a lab are found by, also after the process that made them is gone. */
export function labelsOf(topology: Topology, block: number): Record<string, string> {
  const { nodes, stack, podNetwork, isKept } = topology
  return {
    [idLabel]: topology.id,
    [ownerLabel]: isKept ? 'kept' : String(process.pid),
    [topologyLabel]: JSON.stringify({ nodes, stack, podNetwork, block }),
  }
}

/** A lab that is there. */
export interface FoundLab {
  readonly topology: Topology
  readonly block: number
  readonly containers: number
  readonly running: number
  /** The process that made it is alive, or it is to be kept. */
  readonly isOwned: boolean
}

/** Lists the labs of this machine. */
export async function findLabs(): Promise<readonly FoundLab[]> {
  const labs = new Map<string, FoundLab>()
  for (const container of await listContainers(idLabel)) {
    const id = container.Labels[idLabel] ?? ''
    const owner = container.Labels[ownerLabel] ?? ''
    const made = JSON.parse(container.Labels[topologyLabel] ?? '{}') as {
      nodes: number
      stack: Stack
      podNetwork: PodNetwork
      block: number
    }
    const known = labs.get(id)
    const isKept = owner === 'kept'
    labs.set(id, {
      topology: { id, nodes: made.nodes, stack: made.stack, podNetwork: made.podNetwork, isKept },
      block: made.block,
      containers: (known?.containers ?? 0) + 1,
      running: (known?.running ?? 0) + (container.State === 'running' ? 1 : 0),
      isOwned: isKept || isAlive(Number(owner)),
    })
  }
  return [...labs.values()]
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

/** Removes a lab: containers, volumes, networks, files. Nothing of it may be there already. */
export async function removeLab(id: string): Promise<void> {
  const label = `${idLabel}=${id}`
  const containers = await listContainers(label)
  await Promise.all(containers.map((container) => removeContainer(container.Id)))
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
