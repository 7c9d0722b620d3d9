import { formatIpList } from '@kube-ovn/ip'
import { subnetResource } from '@kube-ovn/kube-api'
import { externalId, logicalSwitch, querierPort, querierPortName } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import {
  desiredSubnetAddress,
  portAddresses,
  subnetAddressNamespace,
  type SubnetAddress,
} from '@kube-ovn/domains-control/addresses'

/** A Subnet that snoops multicast, or did. */
export interface MulticastSnapshot {
  readonly subnet: string
  readonly address: SubnetAddress
  /** Whether the status names a querier. */
  readonly saysQuerier: boolean
}

/**
 * Computes the port that stands for the source of a subnet's multicast queries, its record, and what the status says of it. The switch
 * itself goes by the status.
 */
export function desiredMulticast({ subnet, address, saysQuerier }: MulticastSnapshot): Desired {
  const { nic, lease, object } = address
  const base = { ...nothing, ...desiredSubnetAddress(subnet, address) }
  const isOver = nic === undefined && saysQuerier
  const status = (merge: Readonly<Record<string, string>>): Desired['patches'] =>
    object === undefined
      ? []
      : [{ resource: subnetResource, name: subnet, subresource: 'status', merge: { status: merge } }]
  if (nic === undefined || lease === undefined) {
    const cleared = isOver ? status({ mcastQuerierIP: '', mcastQuerierMAC: '' }) : []
    return { ...base, patches: [...base.patches, ...cleared] }
  }
  const port: OwnedRow = {
    kind: querierPort,
    id: subnet,
    columns: {
      name: querierPortName(subnet),
      addresses: [portAddresses(lease)],
      external_ids: externalIds({
        [externalId.logicalSwitch]: subnet,
        [externalId.pod]: `${subnetAddressNamespace}/${nic}`,
      }),
    },
  }
  const said = { mcastQuerierIP: formatIpList(lease), mcastQuerierMAC: lease.mac ?? '' }
  return {
    ...base,
    rows: [port],
    members: [memberOf(ref(logicalSwitch, subnet), 'ports', ref(querierPort, subnet))],
    patches: [...base.patches, ...status(said)],
  }
}
