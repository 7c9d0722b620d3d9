import { tryParseCidr } from '@kube-ovn/ip'
import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { nodes, type Node } from '@kube-ovn/kube-api/core'
import {
  interconnectionPortGroup,
  interconnectionServicePolicy,
  logicalRouter,
  subnetNodePortGroupName,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { isNamedAfter, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import {
  hasOtherNetwork,
  joinAddress,
  serviceCidrTable,
  serviceCidrWatch,
  servicePrefixes,
} from '@kube-ovn/domains-control/topology'
import { desiredServiceRoutes, type ServiceRoutesSnapshot } from './desired.ts'

/** Leads traffic for Services of underlay subnets on which OVN does not balance by way of the node of each pod. */
export const subnetInterconnectionServices: ControlFeature<string, ServiceRoutesSnapshot> = {
  name: 'subnet-u2o-lb',
  kinds: [interconnectionPortGroup, interconnectionServicePolicy],
  mayOwn(pair, { kind, id }) {
    if (kind !== interconnectionPortGroup.name) return isNamedAfter(pair, id)
    const [subnet = '', node = ''] = pair.split('/')
    return id === subnetNodePortGroupName(subnet, node)
  },
  memberships: [{ kind: logicalRouter.name, column: 'policies' }],
  watches: [serviceCidrWatch],
  tables: [serviceCidrTable],
  triggers: [
    {
      on: 'object',
      resource: nodes,
      keys: (change: ObjectChange<Node>, world) =>
        hasOtherNetwork(change)
          ? [...world.subnets.values()]
              .filter(isConnected)
              .map(({ metadata }) => `${metadata.name}/${change.key}`)
          : [],
    },
    {
      on: 'object',
      resource: subnetResource,
      keys: ({ key, old, new: current }: ObjectChange<Subnet>, world) =>
        isConnected(old) || isConnected(current)
          ? [...world.nodes.values()].map(({ metadata }) => `${key}/${metadata.name}`)
          : [],
    },
  ],
  observe: observeServiceRoutes,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredServiceRoutes(snapshot)),
}

function isConnected(subnet: Subnet | undefined): boolean {
  return (subnet?.status?.u2oInterconnectionIP ?? '') !== ''
}

function observeServiceRoutes(key: string, world: ControlWorld): ServiceRoutesSnapshot | undefined {
  const [subnet = '', node = ''] = key.split('/')
  const attachment = world.attachments.get(subnet)
  if (attachment?.isServedByNode !== true || world.nodes.get(node) === undefined) return undefined
  const addressing = world.addressing.get(subnet)
  const prefixes = servicePrefixes(world).flatMap((text) => {
    const cidr = tryParseCidr(text)
    if (cidr === undefined) return []
    const isServed = (cidr.family === 4 ? addressing?.cidrs.v4 : addressing?.cidrs.v6) !== undefined
    const nextHop = isServed ? joinAddress(node, cidr.family, world) : undefined
    return nextHop === undefined ? [] : [{ family: cidr.family, cidr: text, nextHop }]
  })
  return { subnet, node, vpc: attachment.vpc, prefixes }
}
