import { withSampling } from '@kube-ovn/domains-control/policies'
import {
  logicalSwitch,
  privateSubnetAcl,
  privateSubnetMeter,
  privateSubnetMeterBand,
  subnetAcl,
} from '@kube-ovn/ovn-names'
import type { SubnetIsolation } from '@kube-ovn/policy'
import { nothing } from '@kube-ovn/reconcile'
import { subnetBegins, unusable } from '@kube-ovn/domains-control/topology'
import { desiredAcls } from './desired.ts'
import { subnetAclFlags } from './flags.ts'
import { observeAcls } from './snapshot.ts'

/** Lets into a private subnet what it allows, and keeps the rules that users write on subnets. */
export const subnetAcls = withSampling<string, SubnetIsolation | typeof unusable>({
  name: 'subnet-acl',
  kinds: [privateSubnetAcl, subnetAcl, privateSubnetMeter, privateSubnetMeterBand],
  flags: subnetAclFlags,
  memberships: [
    { kind: logicalSwitch.name, column: 'acls', keyOf: ({ of }) => of.id },
    { kind: privateSubnetMeter.name, column: 'bands' },
  ],
  triggers: [subnetBegins],
  mayOwn: (subnet, { id }) => id.startsWith(`${subnet}/`),
  observe: observeAcls,
  desired(_key, snapshot) {
    if (snapshot === undefined) return nothing
    return snapshot === unusable ? { ...nothing, hold: true } : desiredAcls(snapshot)
  },
})
