import {
  externalId,
  logicalSwitch,
  subnetVipPort,
  subnetVipPortName,
  virtualPortOption,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import type { SubnetVipSnapshot } from './snapshot.ts'

/**
 * Computes a virtual port for each address: OVN binds it where one of its parents announces the address.
 *
 * @see ovn-nb(5), Logical_Switch_Port, type virtual
 */
export function desiredSubnetVips({ subnet, vips }: SubnetVipSnapshot): Desired {
  const rows = vips.map(({ address, parents }) => {
    const name = subnetVipPortName(subnet, address)
    return {
      kind: subnetVipPort,
      id: name,
      columns: {
        name,
        type: 'virtual',
        options: {
          [virtualPortOption.address]: address,
          [virtualPortOption.parents]: parents.length === 0 ? undefined : parents.join(','),
        },
        external_ids: externalIds({ [externalId.logicalSwitch]: subnet }),
      },
    }
  })
  return {
    ...nothing,
    rows,
    members: rows.map(({ kind, id }) => memberOf(ref(logicalSwitch, subnet), 'ports', ref(kind, id))),
  }
}
