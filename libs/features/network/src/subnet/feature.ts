import { ipResource, isConditionTrue, conditionType, subnetResource } from '@kube-ovn/kube-api'
import type { Ip } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import type { Node } from '@kube-ovn/kube-api/core'
import {
  logicalRouter,
  logicalSwitch,
  subnetPolicy,
  subnetRouterPort,
  switchRouterPort,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { hasOtherAddresses } from '@kube-ovn/domains-control/topology'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { desiredSubnet } from './desired.ts'
import { observeSubnet } from './snapshot.ts'
import type { SubnetSnapshot } from './snapshot.ts'

/** Keeps the switch of each subnet and its connection to the router. */
export const subnet: ControlFeature<string, SubnetSnapshot> = {
  name: 'subnet',
  kinds: [logicalSwitch, switchRouterPort, subnetRouterPort, subnetPolicy],
  rights: [
    { resource: subnetResource, verbs: ['create', 'patch'] },
    { resource: subnetResource, subresource: 'status', verbs: ['patch'] },
  ],
  memberships: [
    { kind: logicalSwitch.name, column: 'ports' },
    { kind: logicalRouter.name, column: 'ports' },
    { kind: logicalRouter.name, column: 'policies' },
  ],
  triggers: [
    { on: 'object', resource: subnetResource, keys: (change) => [change.key] },
    {
      on: 'signal',
      signal: 'definition',
      keys: (plural, world) =>
        plural === subnetResource.plural
          ? [...world.subnets.values()].map(({ metadata }) => metadata.name)
          : [],
    },
    // What a subnet was refused for may be gone: another subnet ended or changed.
    {
      on: 'signal',
      signal: 'network',
      keys: (name, world) => refusedSubnets(world).filter((other) => other !== name),
    },
    {
      on: 'object',
      resource: nodes,
      keys: (change: ObjectChange<Node>, world) =>
        hasOtherAddresses(change.old, change.new)
          ? [...world.subnets.values()].map((object) => object.metadata.name)
          : [],
    },
    // A deleted subnet waits for the last of its addresses, and a refused one may for that of its gateway.
    {
      on: 'object',
      resource: ipResource,
      keys: (change: ObjectChange<Ip>, world) => deletedSubnet(change, world),
    },
    {
      on: 'signal',
      signal: 'addresses',
      keys: (name, world) => (isEnding(name, world) || isRefused(name, world) ? [name] : []),
    },
  ],
  initialKeys: ({ settings }) => [settings.nodeSwitch.name, settings.defaultSubnet.name],
  observe: observeSubnet,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredSubnet(snapshot)),
}

function refusedSubnets(world: ControlWorld): readonly string[] {
  return [...world.subnets.values()]
    .map((object) => object.metadata.name)
    .filter((name) => isRefused(name, world))
}

function isRefused(name: string, world: ControlWorld): boolean {
  return !isConditionTrue(world.subnets.get(name)?.status?.conditions, conditionType.validated)
}

function deletedSubnet(change: ObjectChange<Ip>, world: ControlWorld): readonly string[] {
  const name = change.new === undefined ? change.old?.spec?.subnet : undefined
  return name !== undefined && isEnding(name, world) ? [name] : []
}

function isEnding(name: string, world: ControlWorld): boolean {
  return world.subnets.get(name)?.metadata.deletionTimestamp !== undefined
}
