import { logicalSwitch, privateSubnetAcl, subnetAcl } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { subnetBegins, unusable } from '@kube-ovn/domains-control/topology'
import { desiredAcls } from './desired.ts'
import { observeAcls, type AclSnapshot } from './snapshot.ts'

/** Lets into a private subnet what it allows, and keeps the rules that users write on subnets. */
export const subnetAcls: ControlFeature<string, AclSnapshot | typeof unusable> = {
  name: 'subnet-acl',
  kinds: [privateSubnetAcl, subnetAcl],
  memberships: [{ kind: logicalSwitch.name, column: 'acls', keyOf: ({ of }) => of.id }],
  triggers: [subnetBegins],
  mayOwn: (subnet, { id }) => id.startsWith(`${subnet}/`),
  observe: observeAcls,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredAcls(snapshot)
  },
}
