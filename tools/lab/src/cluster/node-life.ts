import { changeAddresses, killContainer, removeContainer, startAgain } from '../docker/container.ts'
import { removeContainerdDirectories } from '../docker/containerd-seed.ts'
import { DockerError } from '../errors.ts'
import { untilChassisGone } from '../observe/chassis.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { writeNodeConfiguration } from './configuration.ts'
import { leadControlToPods } from './control-routes.ts'
import { ensureMachineImages, ensureNodeSeed } from './images.ts'
import { nodeNamed } from './lookup.ts'
import { networkName, nodeName, nodeNumber } from './names.ts'
import { describeNode, hostNumber, startNodeMachine, type LabNode } from './node.ts'
import { attachToPhysicalNetwork } from './physical-network.ts'
import { untilNodeStarted } from './readiness.ts'
import { addressesOf, controlHost, plainNode, topFreeHost, type NodeSpec } from './topology.ts'
import type { ApiObject } from '../kubernetes/client.ts'
import type { Cluster } from './cluster.ts'

/** Adds a node and waits until it is Ready and has what every node has. Its name is the next that was never used. */
export async function addNode(cluster: Cluster, wanted: Partial<NodeSpec> = {}): Promise<LabNode> {
  const { topology, blocks, directory, outside } = cluster
  const since = new Date()
  const images = await ensureMachineImages(topology)
  const highest = Math.max(topology.nodes.length, ...cluster.nodes.map(({ name }) => nodeNumber(name)))
  const plan = {
    name: nodeName(highest + 1),
    host: freeHost(cluster),
    spec: { ...plainNode, ...wanted },
  }
  await writeNodeConfiguration(topology, blocks, directory, images.pause, plan)
  const node = await startNodeMachine(
    {
      topology,
      blocks,
      outside: outside.container,
      image: images.node,
      seed: await ensureNodeSeed(topology, images),
    },
    plan,
  )
  await setNodes(cluster, [...cluster.nodes, node])
  await untilNodeStarted(cluster, node.name, since)
  return node
}

/** Also leads the API server over these nodes to pods. */
async function setNodes(cluster: Cluster, nodes: readonly LabNode[]): Promise<void> {
  cluster.nodes = nodes
  await leadControlToPods(cluster.control, cluster.topology.stack, nodes)
}

/** Moves everything off a node that can be moved, as kubectl does, and lets nothing new onto it. */
export async function drainNode(cluster: Cluster, name: string): Promise<void> {
  nodeNamed(cluster, name)
  await kubectl(
    cluster,
    ...['drain', name, '--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=50s'],
  )
}

/** Drains a node, ends its machine and takes it out of the cluster, as an operator would, until its chassis is out of the Southbound. */
export async function removeNode(cluster: Cluster, name: string): Promise<void> {
  const node = nodeNamed(cluster, name)
  await drainNode(cluster, name)
  await removeContainer(node.container.id)
  removeContainerdDirectories(cluster.topology.id, name)
  await setNodes(
    cluster,
    cluster.nodes.filter((other) => other.name !== name),
  )
  const object: ApiObject = { apiVersion: 'v1', kind: 'Node', metadata: { name } }
  await cluster.api.delete(object)
  if (cluster.topology.podNetwork === 'kube-ovn') await untilChassisGone(cluster, [name])
}

/**
 * Cuts a node's power and starts it again; waits until it is Ready and what every node has runs anew.
 *
 * @returns the node as it is now
 */
export async function rebootNode(
  cluster: Cluster,
  name: string,
  { hasNewAddresses = false }: { readonly hasNewAddresses?: boolean } = {},
): Promise<LabNode> {
  await powerOff(cluster, name)
  if (hasNewAddresses) await moveNode(cluster, name)
  return powerOn(cluster, name)
}

/** Ends everything on a node at once. Its disk stays. */
export async function powerOff(cluster: Cluster, name: string): Promise<void> {
  await killContainer(nodeNamed(cluster, name).container.id)
}

/** Starts a node again that was powered off, and waits as {@link rebootNode} does. */
export async function powerOn(cluster: Cluster, name: string): Promise<LabNode> {
  const { topology, blocks, outside } = cluster
  const { spec, container: old } = nodeNamed(cluster, name)
  const since = new Date()
  const container = await startAgain(old.id)
  const node = describeNode(topology, blocks, { name, spec }, container)
  const host = hostNumber(node.kubernetes)
  const network = { topology, blocks, outside: outside.container }
  await attachToPhysicalNetwork(network, {
    ...{ container, name, host },
    nics: spec.physicalNics,
    isLedOutside: true,
  })
  await setNodes(
    cluster,
    cluster.nodes.map((other) => (other.name === name ? node : other)),
  )
  await untilNodeStarted(cluster, name, since)
  return node
}

/** Gives a node that does not run other addresses in every network. */
async function moveNode(cluster: Cluster, name: string): Promise<void> {
  const { topology, blocks, directory } = cluster
  const { container, spec } = nodeNamed(cluster, name)
  const host = freeHost(cluster)
  const { pause } = await ensureMachineImages(topology)
  await writeNodeConfiguration(topology, blocks, directory, pause, { name, host, spec })
  for (const network of ['kubernetes', 'tunnel'] as const)
    await changeAddresses(container.id, {
      network: networkName(topology, network),
      ...addressesOf(blocks, network, host),
    })
}

/**
 * A number that no host of the lab has. From the top, so that a node that comes back is never taken for another one that left.
 *
 * @throws {DockerError} if there is none
 */
function freeHost({ nodes, topology }: Cluster): number {
  const taken = new Set([controlHost, ...nodes.map(({ kubernetes }) => hostNumber(kubernetes))])
  for (let host = topFreeHost(topology); host > controlHost; host--) if (!taken.has(host)) return host
  const details = { method: 'POST', path: '/networks/connect', status: 0, reason: 'the subnet is used up' }
  throw new DockerError('no free address for a node', details)
}
