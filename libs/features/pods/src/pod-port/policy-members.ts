import { ref, memberOf } from '@kube-ovn/domains-control'
import { isAboutNic, isRestrictable } from '@kube-ovn/domains-control/policies'
import { familyOf, formatIp } from '@kube-ovn/ip'
import {
  adminPolicyAddresses,
  adminPolicyPortGroup,
  firewallAddresses,
  firewallPortGroup,
  networkPolicyAddresses,
  networkPolicyPortGroup,
  podPort,
} from '@kube-ovn/ovn-names'
import type { Member } from '@kube-ovn/reconcile'
import type { PlacedNic, PodNeeds } from './snapshot.ts'

const kindsOf = {
  np: { group: networkPolicyPortGroup, set: networkPolicyAddresses },
  admin: { group: adminPolicyPortGroup, set: adminPolicyAddresses },
  firewall: { group: firewallPortGroup, set: firewallAddresses },
} as const

/** Computes the places of a pod's NIC in groups and sets of policies: its port where they are for it, its addresses where they are about it. */
export function policyMembers(
  { policies }: Pick<PodNeeds, 'policies'>,
  { nic, placement: { lease } }: PlacedNic,
): readonly Member[] {
  if (policies === undefined) return []
  // Once for all sets, of which there are often dozens.
  const addresses = [lease.v4, lease.v6].flatMap((ip) =>
    ip === undefined ? [] : [{ family: familyOf(ip), value: formatIp(ip) }],
  )
  const groups = nic.has === 'port' && isRestrictable(nic.provider) ? policies.groups : []
  return [
    ...groups
      .filter((share) => isAboutNic(share, nic.provider))
      .map(({ kind, group }) => memberOf(ref(kindsOf[kind].group, group), 'ports', ref(podPort, nic.port))),
    ...policies.sets
      .filter((peer) => isAboutNic(peer, nic.provider))
      .flatMap(({ kind, setNames, families }) =>
        addresses
          .filter(({ family }) => families.includes(family))
          .map(({ family, value }) => ({
            of: ref(kindsOf[kind].set, setNames[family]),
            column: 'addresses',
            value,
          })),
      ),
  ]
}
