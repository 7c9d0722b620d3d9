import { LabUsageError } from '../errors.ts'
import type { Cluster } from './cluster.ts'
import type { LabNode } from './node.ts'
import type { Container } from '../docker/container.ts'

/**
 * The container of a machine, as it is now: a node that was started again has another one's process ids.
 *
 * @throws {LabUsageError} naming the machines that there are
 */
export function machineOf(cluster: Cluster, name: string): Container {
  if (name === 'control') return cluster.control
  if (name === 'outside') return cluster.outside.container
  const router = cluster.routers.find((candidate) => candidate.name === name)
  if (router !== undefined) return router.container
  return nodeNamed(cluster, name).container
}

/**
 * The node of that name.
 *
 * @throws {LabUsageError} naming the nodes that there are
 */
export function nodeNamed(cluster: Cluster, name: string): LabNode {
  const node = cluster.nodes.find((candidate) => candidate.name === name)
  if (node !== undefined) return node
  const known = cluster.nodes.map((candidate) => candidate.name).join(', ')
  throw new LabUsageError('there is no such machine', {
    argument: name,
    cure: `one of control, outside, ${known}`,
  })
}
