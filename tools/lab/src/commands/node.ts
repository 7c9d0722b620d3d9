import { addNode, drainNode, rebootNode, removeNode } from '../cluster/node-life.ts'
import { LabUsageError } from '../errors.ts'
import { step } from '../report.ts'
import { oneOf } from '../topology-flags.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { NodeSpec } from '../cluster/topology.ts'

/** `node add`, `node drain NODE`, `node remove NODE` and `node reboot NODE`. */
export async function nodeCommand(
  cluster: Cluster,
  [word = '', name]: readonly string[],
  options: { readonly hasNewAddresses: boolean; readonly spec: NodeSpec },
): Promise<number> {
  const action = oneOf('node', word, ['add', 'drain', 'remove', 'reboot'])
  if (action === 'add') {
    if (name !== undefined) throw wrong(`node add ${name}`, 'no name: it is the next number')
    const node = await step('add a node', () => addNode(cluster, { ...options.spec, isMaster: false }))
    process.stdout.write(`${node.name}  ${node.kubernetes.ipv4}  ${node.kubernetes.ipv6}\n`)
    return 0
  }
  if (name === undefined) throw wrong(`node ${action}`, 'the name of a node, e.g. node reboot node-2')
  switch (action) {
    case 'drain':
      await step(`drain ${name}`, () => drainNode(cluster, name))
      return 0
    case 'remove':
      await step(`remove ${name}`, () => removeNode(cluster, name))
      return 0
    case 'reboot': {
      const node = await step(`reboot ${name}`, () => rebootNode(cluster, name, options))
      process.stdout.write(`${node.name}  ${node.kubernetes.ipv4}  ${node.kubernetes.ipv6}\n`)
      return 0
    }
  }
}

function wrong(argument: string, cure: string): LabUsageError {
  return new LabUsageError('the command line is not understood', { argument, cure })
}
