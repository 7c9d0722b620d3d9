import { ipResource, isConditionTrue, conditionType, subnetResource } from '@kube-ovn/kube-api'
import type { Ip } from '@kube-ovn/kube-api'
import type { ObjectChange } from '@kube-ovn/kube'
import {
  logicalRouter,
  logicalSwitch,
  subnetPolicy,
  subnetRouterPort,
  switchRouterPort,
} from '@kube-ovn/ovn-names'
import { answeredVips } from '@kube-ovn/domains-control/addresses'
import { acceptances, keptRouterMacs } from '@kube-ovn/domains-control/topology'
import { fact, nothing } from '@kube-ovn/reconcile'
import type { Fact } from '@kube-ovn/reconcile'
import { isNamedAfter, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { desiredSubnet } from './desired.ts'
import { observeSubnet } from './snapshot.ts'
import type { SubnetSnapshot } from './snapshot.ts'

/** Keeps the switch of each subnet and its connection to the router. */
export const subnet: ControlFeature<string, SubnetSnapshot> = {
  name: 'subnet',
  kinds: [logicalSwitch, switchRouterPort, subnetRouterPort, subnetPolicy],
  mayOwn(subnet, { kind, id }) {
    if (kind === switchRouterPort.name) return id.startsWith(`${subnet}-`)
    return kind === subnetRouterPort.name ? id.endsWith(`-${subnet}`) : isNamedAfter(subnet, id)
  },
  about: { resource: subnetResource },
  tables: [answeredVips],
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
  desired: (_key, snapshot) =>
    snapshot === undefined ? nothing : { ...desiredSubnet(snapshot), facts: decisions(snapshot) },
}

/** What others go by, even before there is an object. */
function decisions(subnet: SubnetSnapshot): readonly Fact[] {
  const { name, object, inEffect, accepted, declined, routerMac } = subnet
  const uid = object?.metadata.uid
  return [
    fact(acceptances, name, { uid, inEffect, accepted, declined }),
    ...(routerMac === undefined || inEffect?.isInterconnected === true
      ? []
      : [fact(keptRouterMacs, name, routerMac)]),
  ]
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
