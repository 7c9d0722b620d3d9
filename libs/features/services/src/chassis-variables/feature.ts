import { nodes, type Node } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { chassisVariables } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import {
  balancerFlags,
  differsByNode,
  nodePlaces,
  ownBalancers,
  servesNodePorts,
  serviceWatch,
  sliceWatch,
} from '@kube-ovn/domains-control/services'
import { hasOtherAddresses, internalAddresses } from '@kube-ovn/domains-control/topology'
import { desiredVariables, type VariablesSnapshot } from './desired.ts'

/** Keeps, for each node that has told its chassis, a place for what is different there, as long as anything is. */
export const variablesOfChassis: ControlFeature<string, VariablesSnapshot> = {
  name: 'chassis-variables',
  // Without `mayOwn`: rows are called after chassis, and that says nothing of nodes.
  kinds: [chassisVariables],
  flags: balancerFlags,
  memberships: [{ kind: chassisVariables.name, column: 'variables' }],
  watches: [serviceWatch, sliceWatch],
  tables: [nodePlaces, ownBalancers],
  triggers: [
    {
      on: 'object',
      resource: nodes,
      // What it has told is read of a table.
      keys: ({ key, old, new: current }: ObjectChange<Node>) =>
        old === undefined || current === undefined || hasOtherAddresses(old, current) ? [key] : [],
    },
  ],
  observe(node, world) {
    const place = world.table(nodePlaces).get(node)
    const isNeeded = world.settings.enableLb && differsByNode(world)
    const object = world.nodes.get(node)
    if (!isNeeded || place === undefined || object === undefined) return undefined
    const addresses = servesNodePorts(world.settings) ? internalAddresses(object) : []
    return { chassis: place.chassis, addresses }
  },
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredVariables(snapshot)),
}
