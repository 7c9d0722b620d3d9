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
  const machines = machinesOf(cluster)
  const found = machines.get(name)
  if (found !== undefined) return found
  throw unknown('there is no such machine', name, [...machines.keys()])
}

/** Whether there is a machine of that name, be it that it does not run. */
export function hasMachine(cluster: Cluster, name: string): boolean {
  return machinesOf(cluster).has(name)
}

function machinesOf({ control, outside, routers, nodes }: Cluster): ReadonlyMap<string, Container> {
  return new Map([
    ['control', control],
    ['outside', outside.container],
    ...[...routers, ...nodes].map(({ name, container }) => [name, container] as const),
  ])
}

/**
 * The node of that name.
 *
 * @throws {LabUsageError} naming the nodes that there are
 */
export function nodeNamed(cluster: Cluster, name: string): LabNode {
  const node = cluster.nodes.find((candidate) => candidate.name === name)
  if (node !== undefined) return node
  throw unknown(
    'there is no such node',
    name,
    cluster.nodes.map((candidate) => candidate.name),
  )
}

function unknown(sentence: string, argument: string, known: readonly string[]): LabUsageError {
  return new LabUsageError(sentence, { argument, cure: `one of ${known.join(', ')}` })
}
