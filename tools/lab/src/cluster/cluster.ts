import { join } from 'node:path'
import { inspectContainer, type Container } from '../docker/container.ts'
import { ApiClient } from '../kubernetes/client.ts'
import { insideContainer, type Place } from '../namespaces.ts'
import { LabUsageError } from '../errors.ts'
import { checkProxyMode } from '../machine-check.ts'
import { labDirectory } from '../paths.ts'
import { plannedNodes, writeConfiguration } from './configuration.ts'
import { attachControl, leadControlToPods } from './control-routes.ts'
import { ensureMachineImages, ensureNodeSeed } from './images.ts'
import { findLabs, removeLab, type FoundLab } from './leftovers.ts'
import { createNetworks, startMachine } from './machine.ts'
import { containerName, routerName } from './names.ts'
import { installNetworkAttachments } from './network-attachments.ts'
import { describeNode, startNodeMachine, type LabNode } from './node.ts'
import { createPhysicalNetwork, joinPhysicalNetworks } from './physical-network.ts'
import { ensureReaper } from './reaper.ts'
import { describeRouter, startRouters, type Router } from './router.ts'
import { untilApiAnswers, untilNodesRegistered, untilPodsAdmitted } from './readiness.ts'
import {
  addressesOf,
  controlHost,
  defaultTopology,
  outsideHost,
  plainNodes,
  secondPodRange,
  type AddressPair,
  type Blocks,
  type NodeSpec,
  type Topology,
} from './topology.ts'

export type { LabNode } from './node.ts'

/** A running cluster; disposing of it removes everything that it is made of, unless it is to be kept. */
export interface Cluster extends AsyncDisposable {
  /** As it was made; nodes may have come and gone since. */
  readonly topology: Topology
  /** Tells its addresses apart from those of other labs of this machine. */
  readonly blocks: Blocks
  readonly directory: string
  readonly kubeconfig: string
  readonly api: ApiClient
  readonly control: Container
  /** Another list whenever a node is added, removed or started again; only those functions set it. */
  nodes: readonly LabNode[]
  /** A plain host and switch on the physical network. */
  readonly outside: { readonly container: Container; readonly addresses: AddressPair; readonly place: Place }
  readonly routers: readonly Router[]
}

/** A topology with what differs from the default; a number stands for so many plain nodes. */
export type WantedTopology = Partial<Omit<Topology, 'nodes'>> & {
  readonly nodes?: number | readonly NodeSpec[]
}

/**
 * Brings up a Kubernetes cluster in containers: a control machine, nodes and an outside host.
 *
 * It returns once the API server is ready and every node has registered; nodes become Ready when a network is installed. If it fails, it
 * leaves nothing.
 */
export async function createCluster(wanted: WantedTopology = {}): Promise<Cluster> {
  const topology = completeTopology(wanted)
  checkProxyMode(topology.proxyMode)
  if (!topology.isKept) ensureReaper()
  try {
    return await bringUp(topology)
  } catch (error) {
    await removeLab(topology.id)
    throw error
  }
}

async function bringUp(topology: Topology): Promise<Cluster> {
  const images = await ensureMachineImages(topology)
  await removeLab(topology.id)
  const seen = topology.sees === undefined ? undefined : await findLab(topology.sees)
  const blocks = await createNetworks(topology, seen)
  const directory = labDirectory(topology.id)
  const seed = await ensureNodeSeed(topology, images)
  await writeConfiguration(topology, blocks, directory, images.pause)
  const [control, outside] = await Promise.all([
    startMachine(topology, blocks, images.node, { name: 'control', host: controlHost }),
    startMachine(topology, blocks, images.outside, { name: 'outside', host: outsideHost }),
  ])
  const physical = { topology, blocks, outside }
  await createPhysicalNetwork(physical)
  await attachControl(physical, control)
  if (seen !== undefined)
    await joinPhysicalNetworks(physical, {
      ...seen,
      outside: await inspectContainer(containerName(seen.topology.id, 'outside')),
    })
  const [nodes, routers] = await Promise.all([
    Promise.all(
      plannedNodes(topology).map((plan) => startNodeMachine({ ...physical, image: images.node, seed }, plan)),
    ),
    startRouters(physical, images.outside),
  ])
  await leadControlToPods(control, topology.stack, nodes)
  const cluster = assembleCluster(topology, blocks, { control, outside, nodes, routers })
  await untilApiAnswers(cluster)
  await Promise.all([
    untilNodesRegistered(cluster),
    untilPodsAdmitted(cluster),
    topology.hasNetworkAttachments ? installNetworkAttachments(cluster.api) : undefined,
  ])
  return cluster
}

/**
 * Finds a lab by its id.
 *
 * @throws {LabUsageError} if there is none
 */
export async function findLab(id: string): Promise<FoundLab> {
  const labs = await findLabs()
  const lab = labs.find(({ topology }) => topology.id === id)
  if (lab !== undefined) return lab
  const known = labs.map(({ topology }) => topology.id).join(', ')
  throw new LabUsageError('there is no such lab', {
    argument: `--id ${id}`,
    cure: known === '' ? 'there is none; npm run lab -- up makes one' : `one of ${known}`,
  })
}

/** What a topology is with what it does not say. */
export function completeTopology({ nodes, ...others }: WantedTopology): Topology {
  return {
    ...defaultTopology,
    ...(others.sees === undefined ? {} : { podRange: secondPodRange }),
    ...others,
    ...(nodes === undefined ? {} : { nodes: typeof nodes === 'number' ? plainNodes(nodes) : nodes }),
  }
}

/**
 * Finds a lab that is running, e.g. one that was kept.
 *
 * @throws {DockerError} if a machine is missing
 */
export async function openCluster({ topology, blocks, nodes }: FoundLab): Promise<Cluster> {
  const inspect = (machine: string): Promise<Container> =>
    inspectContainer(containerName(topology.id, machine))
  const [control, outside, machines, routers] = await Promise.all([
    inspect('control'),
    inspect('outside'),
    Promise.all(
      nodes.map(async ({ name, spec }) =>
        describeNode(topology, blocks, { name, spec }, await inspect(name)),
      ),
    ),
    Promise.all(
      topology.routers.map(async (daemon, index) =>
        describeRouter(blocks, daemon, index, await inspect(routerName(index))),
      ),
    ),
  ])
  return assembleCluster(topology, blocks, { control, outside, nodes: machines, routers })
}

function assembleCluster(
  topology: Topology,
  blocks: Blocks,
  machines: {
    readonly control: Container
    readonly outside: Container
    readonly nodes: readonly LabNode[]
    readonly routers: readonly Router[]
  },
): Cluster {
  const { control, outside, nodes, routers } = machines
  const directory = labDirectory(topology.id)
  const kubeconfig = join(directory, 'kubeconfig')
  const api = new ApiClient(kubeconfig)
  return {
    topology,
    blocks,
    directory,
    kubeconfig,
    api,
    control,
    nodes,
    outside: {
      container: outside,
      addresses: addressesOf(blocks, 'physical', outsideHost),
      place: insideContainer(outside),
    },
    routers,
    async [Symbol.asyncDispose]() {
      api[Symbol.dispose]()
      if (!topology.isKept) await removeLab(topology.id)
    },
  }
}
