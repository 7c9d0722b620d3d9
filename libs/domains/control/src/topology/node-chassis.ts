import { nodeAnnotations } from '@kube-ovn/annotations'
import { rowTable } from '@kube-ovn/tables'
import { nodes } from '../sources.ts'

/** A node, and what OVN calls it. */
export interface NodeChassis {
  readonly node: string
  /** `undefined` until its agent has told it. */
  readonly chassis: string | undefined
}

/** All nodes. */
export const nodeChassis = rowTable({
  name: 'node-chassis',
  of: nodes,
  row: ({ metadata: { name, annotations } }): NodeChassis => {
    const chassis = nodeAnnotations.chassis.read(annotations) ?? ''
    return { node: name, chassis: chassis === '' ? undefined : chassis }
  },
  indexes: { chassis: ({ chassis }: NodeChassis) => (chassis === undefined ? [] : [chassis]) },
})

/** A node by whose name a chassis goes. */
export interface ChassisHost {
  readonly node: string
  readonly chassis: string
}

/**
 * The nodes that have told their chassis, each chassis once: of two Nodes that tell the same one, as a machine that was given another name and
 * what is left of its former one, it is that of the later.
 */
export const chassisHosts = rowTable({
  name: 'chassis-hosts',
  of: nodeChassis,
  reads: { nodeChassis, nodes },
  row: ({ node, chassis }, views): ChassisHost | undefined => {
    if (chassis === undefined) return undefined
    const claimants = views.nodeChassis.keys('chassis', chassis)
    const age = (name: string) => `${views.nodes.get(name)?.metadata.creationTimestamp ?? ''} ${name}`
    const isLast = claimants.length < 2 || claimants.every((other) => age(other) <= age(node))
    return isLast ? { node, chassis } : undefined
  },
})
