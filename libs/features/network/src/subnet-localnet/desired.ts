import { externalId, localnetPort, localnetPortName, logicalSwitch } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { familiesOf, type Prefixes, type VlanTag } from '@kube-ovn/domains-control/topology'

/** An underlay subnet, and what it is on. */
export interface LocalnetSnapshot {
  readonly subnet: string
  readonly prefixes: Prefixes
  readonly tag: VlanTag
}

const networkOf = { 4: externalId.ipv4Network, 6: externalId.ipv6Network } as const

/**
 * Computes the port of a switch to the physical network: what no port of the switch has goes there, with the tag.
 *
 * @see ovn-nb(5), Logical_Switch_Port, type localnet, tag
 */
export function desiredLocalnet({ subnet, prefixes, tag: { provider, id } }: LocalnetSnapshot): Desired {
  const name = localnetPortName(subnet)
  const ofFamilies = familiesOf(prefixes).map(({ family, cidr }) => [networkOf[family], cidr] as const)
  return {
    ...nothing,
    rows: [
      {
        kind: localnetPort,
        id: subnet,
        columns: {
          name,
          type: 'localnet',
          addresses: ['unknown'],
          // OVN has no tag 0: frames without one have none.
          tag: id === 0 ? undefined : id,
          options: { network_name: provider },
          external_ids: externalIds({
            [externalId.logicalSwitch]: subnet,
            ...Object.fromEntries(ofFamilies),
          }),
        },
      },
    ],
    members: [memberOf(ref(logicalSwitch, subnet), 'ports', ref(localnetPort, subnet))],
  }
}
