import { nodes } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import type { Node } from '@kube-ovn/kube-api/core'
import { ipResource, subnetResource, vpcNamed } from '@kube-ovn/kube-api'
import type { Ip, Subnet } from '@kube-ovn/kube-api'
import { logicalRouter, subnetGatewayPolicy, subnetNodePortGroup } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import {
  hasOtherNetwork,
  isByPods,
  isDefaultVpc,
  pairFlags,
  pairOf,
  pairTables,
  pairsWith,
} from '@kube-ovn/domains-control/topology'
import { isNamedAfter, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { desiredGateway } from './desired.ts'
import type { GatewaySnapshot } from './desired.ts'
import { gatewayKey, observeGateway, subnetOf, unsettled, unused } from './snapshot.ts'

/** Lets traffic of each distributed subnet leave by way of the node of each pod. */
export const subnetGateway: ControlFeature<string, GatewaySnapshot | typeof unsettled | typeof unused> = {
  name: 'subnet-gw',
  kinds: [subnetNodePortGroup, subnetGatewayPolicy],
  mayOwn: (pair, { id }) => isNamedAfter(pair, id),
  about: { resource: subnetResource, objectOf: subnetOf },
  memberships: [{ kind: logicalRouter.name, column: 'policies' }],
  tables: pairTables,
  // A group of this name that is another pair's decides nothing: who may not have it is told when it is free.
  lookups: [{ table: 'Port_Group', indexes: ['name'], isKept: true }],
  flags: pairFlags,
  triggers: [
    {
      on: 'object',
      resource: nodes,
      keys: (change: ObjectChange<Node>, world) =>
        hasOtherNetwork(change) ? keysOfNode(change.key, world) : [],
    },
    {
      on: 'object',
      resource: ipResource,
      // Whoever is looked at once is woken by the last NIC that goes; nobody is looked at before the first one comes.
      keys: ({ old, new: current }: ObjectChange<Ip>, world) => {
        const pair = current && isByPods(world) ? pairOf(current) : undefined
        const before = old && pairOf(old)
        if (pair === undefined || (pair.subnet === before?.subnet && pair.node === before.node)) return []
        return mayLeaveByNodes(pair.subnet, world) ? [gatewayKey(pair.subnet, pair.node)] : []
      },
    },
    // A pod was given a port of which no record tells yet.
    {
      on: 'signal',
      signal: 'pair',
      keys: (pair, world) => (mayLeaveByNodes(subnetOf(pair), world) ? [pair] : []),
    },
    {
      on: 'object',
      resource: subnetResource,
      keys: (change: ObjectChange<Subnet>, world) =>
        vpcOf(change.old) !== vpcOf(change.new) &&
        [change.old, change.new].some((subnet) => subnet !== undefined && isInDefaultVpc(subnet, world))
          ? keysOfSubnet(change.key, world)
          : [],
    },
  ],
  observe: observeGateway,
  desired(_key, snapshot) {
    if (snapshot === undefined || snapshot === unused) return nothing
    return snapshot === unsettled ? { ...nothing, hold: true } : desiredGateway(snapshot)
  },
}

/** Undefined for none. */
function vpcOf(subnet: Subnet | undefined): string | undefined {
  return subnet && (subnet.spec?.vpc ?? '')
}

/** Pairs of a node and a subnet of another VPC would be keys without anything to do, a hundred thousand on a large cluster. */
function isInDefaultVpc(subnet: Subnet, { attachments, settings }: ControlWorld): boolean {
  const vpc = vpcNamed(subnet.spec?.vpc, settings.clusterRouter)
  return isDefaultVpc(vpc, settings) || attachments.get(subnet.metadata.name)?.isDefaultVpc === true
}

function mayLeaveByNodes(name: string, world: ControlWorld): boolean {
  const subnet = world.subnets.get(name)
  // That of the nodes leaves by none.
  if (name === world.settings.nodeSwitch.name) return false
  return subnet !== undefined && isInDefaultVpc(subnet, world)
}

function keysOfNode(node: string, world: ControlWorld): readonly string[] {
  const subnets = isByPods(world)
    ? new Set(pairsWith('node', node, world).map(({ subnet }) => subnet))
    : [...world.subnets.values()].map(({ metadata }) => metadata.name)
  return [...subnets]
    .filter((subnet) => mayLeaveByNodes(subnet, world))
    .map((subnet) => gatewayKey(subnet, node))
}

function keysOfSubnet(subnet: string, world: ControlWorld): readonly string[] {
  if (isByPods(world)) {
    const nodesWithPods = pairsWith('subnet', subnet, world).map(({ node }) => node)
    return [...new Set(nodesWithPods)].map((node) => gatewayKey(subnet, node))
  }
  return [...world.nodes.values()].map((node) => gatewayKey(subnet, node.metadata.name))
}
