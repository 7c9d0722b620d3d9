import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { logicalSwitch } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import {
  balancerFlags,
  balancersOf,
  filledBalancers,
  groupOf,
  groupsInUse,
  ownBalancers,
  serviceWatch,
  sliceWatch,
} from '@kube-ovn/domains-control/services'
import { unusable } from '@kube-ovn/domains-control/topology'
import { desiredSubnetBalancers, type SubnetBalancersSnapshot } from './desired.ts'

/** Attaches the load balancers of its VPC to the switch of each subnet that wants them. */
export const subnetBalancers: ControlFeature<string, SubnetBalancersSnapshot | typeof unusable> = {
  name: 'subnet-lb',
  kinds: [],
  flags: balancerFlags,
  watches: [serviceWatch, sliceWatch],
  tables: [ownBalancers, filledBalancers, groupsInUse],
  memberships: [
    { kind: logicalSwitch.name, column: 'load_balancer', keyOf: ({ of }) => of.id },
    { kind: logicalSwitch.name, column: 'load_balancer_group', keyOf: ({ of }) => of.id },
  ],
  triggers: [
    {
      on: 'object',
      resource: subnetResource,
      // The VPC is read of a table.
      keys: ({ key, old, new: current }: ObjectChange<Subnet>) =>
        old === undefined || current === undefined || old.spec?.enableLb !== current.spec?.enableLb
          ? [key]
          : [],
    },
  ],
  observe(subnet, world) {
    if (world.settings.enableLb && isUnknown(subnet, world)) return unusable
    const vpc = balancedVpc(subnet, world)
    if (vpc === undefined) return undefined
    const { name, isOnSwitches } = groupOf(vpc, world)
    return { subnet, balancers: balancersOf(vpc, world), group: isOnSwitches ? name : undefined }
  },
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredSubnetBalancers(snapshot)
  },
}

/** While it can not be said what a subnet is, what there is of it stays. */
function isUnknown(subnet: string, { attachments, subnets }: ControlWorld): boolean {
  return attachments.get(subnet) === undefined && subnets.get(subnet) !== undefined
}

/** The VPC of a subnet whose traffic is balanced. The nodes' own ports are served by kube-proxy, so their switch has nothing of it. */
function balancedVpc(subnet: string, { settings, attachments, subnets }: ControlWorld): string | undefined {
  const attachment = attachments.get(subnet)
  if (!settings.enableLb || attachment === undefined) return undefined
  const { vpc, hasSwitch, isJoin } = attachment
  const isWanted = subnets.get(subnet)?.spec?.enableLb ?? settings.enableLb
  return hasSwitch && !isJoin && isWanted ? vpc : undefined
}
