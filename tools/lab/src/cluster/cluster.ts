import { join } from 'node:path'
import { inspectContainer, type Container } from '../docker/container.ts'
import { ApiClient } from '../kubernetes/client.ts'
import { insideContainer, type Place } from '../namespaces.ts'
import { labDirectory } from '../paths.ts'
import { plannedNodes, writeConfiguration } from './configuration.ts'
import { ensureMachineImages, ensureNodeSeed } from './images.ts'
import { removeLab, type FoundLab } from './leftovers.ts'
import { createNetworks, startMachine } from './machine.ts'
import { containerName, routerName } from './names.ts'
import { describeNode, startNodeMachine, type LabNode } from './node.ts'
import { createPhysicalNetwork } from './physical-network.ts'
import { describeRouter, startRouters, type Router } from './router.ts'
import { untilApiAnswers, untilNodesRegistered, untilPodsAdmitted } from './readiness.ts'
import {
  addressesOf,
  controlHost,
  defaultTopology,
  outsideHost,
  plainNodes,
  type AddressPair,
  type NodeSpec,
  type Topology,
} from './topology.ts'

export type { LabNode } from './node.ts'

/** A running cluster; disposing of it removes everything that it is made of, unless it is to be kept. */
export interface Cluster extends AsyncDisposable {
  /** As it was made; nodes may have come and gone since. */
  readonly topology: Topology
  /** Tells its addresses apart from those of other labs of this machine. */
  readonly block: number
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
  const block = await createNetworks(topology)
  const directory = labDirectory(topology.id)
  const seed = await ensureNodeSeed(topology, images)
  await writeConfiguration(topology, block, directory, images.pause)
  const [control, outside] = await Promise.all([
    startMachine(topology, block, images.node, { name: 'control', host: controlHost }),
    startMachine(topology, block, images.outside, { name: 'outside', host: outsideHost }),
  ])
  const physical = { topology, block, outside }
  await createPhysicalNetwork(physical)
  const [nodes, routers] = await Promise.all([
    Promise.all(
      plannedNodes(topology).map((plan) => startNodeMachine({ ...physical, image: images.node, seed }, plan)),
    ),
    startRouters(physical, images.outside),
  ])
  const cluster = assembleCluster(topology, block, { control, outside, nodes, routers })
  await untilApiAnswers(cluster)
  await Promise.all([untilNodesRegistered(cluster), untilPodsAdmitted(cluster)])
  return cluster
}

function completeTopology({ nodes, ...others }: WantedTopology): Topology {
  return {
    ...defaultTopology,
    ...others,
    ...(nodes === undefined ? {} : { nodes: typeof nodes === 'number' ? plainNodes(nodes) : nodes }),
  }
}

/**
 * Finds a lab that is running, e.g. one that was kept.
 *
 * @throws {DockerError} if a machine is missing
 */
export async function openCluster({ topology, block, nodes }: FoundLab): Promise<Cluster> {
  const inspect = (machine: string): Promise<Container> =>
    inspectContainer(containerName(topology.id, machine))
  const [control, outside, machines, routers] = await Promise.all([
    inspect('control'),
    inspect('outside'),
    Promise.all(
      nodes.map(async ({ name, spec }) =>
        describeNode(topology.id, block, { name, spec }, await inspect(name)),
      ),
    ),
    Promise.all(
      topology.routers.map(async (daemon, index) =>
        describeRouter(block, daemon, index, await inspect(routerName(index))),
      ),
    ),
  ])
  return assembleCluster(topology, block, { control, outside, nodes: machines, routers })
}

function assembleCluster(
  topology: Topology,
  block: number,
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
    block,
    directory,
    kubeconfig,
    api,
    control,
    nodes,
    outside: {
      container: outside,
      addresses: addressesOf(block, 'physical', outsideHost),
      place: insideContainer(outside),
    },
    routers,
    async [Symbol.asyncDispose]() {
      api[Symbol.dispose]()
      if (!topology.isKept) await removeLab(topology.id)
    },
  }
}
