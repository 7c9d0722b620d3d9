import { nodes } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import type { Node } from '@kube-ovn/kube-api/core'
import { subnetResource } from '@kube-ovn/kube-api'
import type { Subnet } from '@kube-ovn/kube-api'
import { logicalRouter, subnetGatewayPolicy, subnetNodePortGroup } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { hasOtherNetwork, isDefaultVpc, occupiedPairs, pairFlags } from '@kube-ovn/domains-control/topology'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { desiredGateway } from './desired.ts'
import type { GatewaySnapshot } from './desired.ts'
import { gatewayKey, observeGateway, unsettled } from './snapshot.ts'

/** Lets traffic of each distributed subnet leave by way of the node of each pod. */
export const subnetGateway: ControlFeature<string, GatewaySnapshot | typeof unsettled> = {
  name: 'subnet-gw',
  kinds: [subnetNodePortGroup, subnetGatewayPolicy],
  memberships: [{ kind: logicalRouter.name, column: 'policies' }],
  tables: [occupiedPairs],
  flags: pairFlags,
  triggers: [
    {
      on: 'object',
      resource: nodes,
      keys: (change: ObjectChange<Node>, world) =>
        hasOtherNetwork(change)
          ? [...world.subnets.values()]
              .filter((subnet) => mayLeaveByNodes(subnet, world))
              .map(({ metadata }) => gatewayKey(metadata.name, change.key))
          : [],
    },
    {
      on: 'object',
      resource: subnetResource,
      keys: (change: ObjectChange<Subnet>, world) =>
        vpcOf(change.old) !== vpcOf(change.new) &&
        [change.old, change.new].some((subnet) => subnet !== undefined && mayLeaveByNodes(subnet, world))
          ? keysOfSubnet(change.key, world)
          : [],
    },
  ],
  observe: observeGateway,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unsettled ? { ...nothing, hold: true } : desiredGateway(snapshot)
  },
}

/** Undefined for none. */
function vpcOf(subnet: Subnet | undefined): string | undefined {
  return subnet && (subnet.spec?.vpc ?? '')
}

/** Pairs of a node and a subnet of another VPC would be keys without anything to do, a hundred thousand on a large cluster. */
function mayLeaveByNodes(subnet: Subnet, { networks, settings }: ControlWorld): boolean {
  const vpc = vpcOf(subnet) ?? ''
  return (
    vpc === '' || isDefaultVpc(vpc, settings) || networks.get(subnet.metadata.name)?.isDefaultVpc === true
  )
}

function keysOfSubnet(subnet: string, world: ControlWorld): readonly string[] {
  return [...world.nodes.values()].map((node) => gatewayKey(subnet, node.metadata.name))
}
