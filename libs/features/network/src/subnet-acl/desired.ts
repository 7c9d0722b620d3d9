import {
  externalId,
  logicalSwitch,
  privateSubnetAcl,
  privateSubnetMeter,
  privateSubnetMeterBand,
  privateSubnetMeterName,
  subnetAcl,
  subnetAclId,
} from '@kube-ovn/ovn-names'
import { subnetAcls, type SubnetIsolation } from '@kube-ovn/policy'
import { nothing, type Desired } from '@kube-ovn/reconcile'
import { memberOf, ref } from '@kube-ovn/domains-control'
import { aclRow, desiredMeter } from '@kube-ovn/domains-control/policies'

/**
 * Computes the ACLs on a subnet's switch.
 *
 * Each row is named by what it is about, so an edit changes the rows that differ, in one transaction: what it does not forbid goes on.
 *
 * @see ovn-nb(5), ACL
 */
export function desiredAcls(isolation: SubnetIsolation): Desired {
  const { subnet, isPrivate, logRate } = isolation
  const { own, rules } = subnetAcls(isolation)
  const parent = { [externalId.parent]: subnet }
  const rows = [
    ...[...own].map(([about, acl]) => aclRow(privateSubnetAcl, `${subnet}/${about}`, acl, parent)),
    ...rules.map((acl) =>
      aclRow(subnetAcl, subnetAclId(subnet, acl), acl, { ...parent, [externalId.subnet]: subnet }),
    ),
  ]
  const meter =
    isPrivate && logRate !== undefined
      ? desiredMeter(meterKinds, {
          id: `${subnet}/drop`,
          name: privateSubnetMeterName(subnet),
          rate: logRate,
        })
      : nothing
  return {
    ...nothing,
    rows: [...rows, ...meter.rows],
    members: [
      ...rows.map(({ kind, id }) => memberOf(ref(logicalSwitch, subnet), 'acls', ref(kind, id))),
      ...meter.members,
    ],
  }
}

const meterKinds = { meter: privateSubnetMeter, band: privateSubnetMeterBand }
