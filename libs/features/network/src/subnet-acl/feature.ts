import type { ObjectChange } from '@kube-ovn/kube'
import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { logicalSwitch, privateSubnetAcl, subnetAcl } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { unusable } from '@kube-ovn/domains-control/topology'
import { desiredAcls } from './desired.ts'
import { observeAcls, type AclSnapshot } from './snapshot.ts'

/** Lets into a private subnet what it allows, and keeps the rules that users write on subnets. */
export const subnetAcls: ControlFeature<string, AclSnapshot | typeof unusable> = {
  name: 'subnet-acl',
  kinds: [privateSubnetAcl, subnetAcl],
  memberships: [{ kind: logicalSwitch.name, column: 'acls', keyOf: ({ of }) => of.id }],
  triggers: [
    {
      on: 'object',
      resource: subnetResource,
      // What it lets through is read of tables. When its switch is made the ACLs are looked at in the same round: they go together.
      keys: ({ key, old, new: current }: ObjectChange<Subnet>) =>
        old === undefined || current === undefined || inEffect(old) !== inEffect(current) ? [key] : [],
    },
  ],
  mayOwn: (subnet, { id }) => id.startsWith(`${subnet}/`),
  observe: observeAcls,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredAcls(snapshot)
  },
}

function inEffect({ status }: Subnet): string {
  return JSON.stringify(status?.inEffect ?? {})
}
