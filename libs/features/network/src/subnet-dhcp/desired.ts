import { subnetResource } from '@kube-ovn/kube-api'
import { subnetDhcp } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds } from '@kube-ovn/domains-control'
import { dhcpIdOf, dhcpIds } from '@kube-ovn/domains-control/topology'
import { statusField, type DhcpFamily, type DhcpSnapshot } from './snapshot.ts'

/**
 * Computes what a subnet answers by DHCP, a row for each family. Its status names the rows, once they are there.
 *
 * @see ovn-nb(5), DHCP_Options
 */
export function desiredDhcp({ subnet, families }: DhcpSnapshot): Desired {
  const status = Object.fromEntries(families.flatMap(saidOf))
  return {
    ...nothing,
    rows: families.flatMap(({ family, answer }) =>
      answer === undefined
        ? []
        : [
            {
              kind: subnetDhcp,
              id: dhcpIdOf(subnet, family),
              columns: { ...answer, external_ids: externalIds(dhcpIds(subnet, family)) },
            },
          ],
    ),
    patches:
      Object.keys(status).length === 0
        ? []
        : [{ resource: subnetResource, name: subnet, subresource: 'status', merge: { status } }],
  }
}

/** A row that has yet to be made has no name that could be told. */
function saidOf({ family, answer, rowId, said }: DhcpFamily): readonly (readonly [string, string])[] {
  const field = statusField[family]
  if (answer === undefined) return said === '' ? [] : [[field, '']]
  return rowId === undefined ? [] : [[field, rowId]]
}
