import { isOvnProvider } from '@kube-ovn/annotations'
import { ref, memberOf } from '@kube-ovn/domains-control'
import { isAboutNic } from '@kube-ovn/domains-control/policies'
import { familyOf, formatIp } from '@kube-ovn/ip'
import {
  networkPolicyAddresses,
  networkPolicyPortGroup,
  podPort,
  policyAddressSetName,
} from '@kube-ovn/ovn-names'
import type { Member } from '@kube-ovn/reconcile'
import type { PlacedNic, PodNeeds } from './snapshot.ts'

/** Computes the places of a pod's NIC in groups and sets of policies: its port where they are for it, its addresses where they are about it. */
export function policyMembers(
  { policies }: Pick<PodNeeds, 'policies'>,
  { nic, placement: { lease } }: PlacedNic,
): readonly Member[] {
  if (policies === undefined) return []
  const addresses = [lease.v4, lease.v6].filter((ip) => ip !== undefined)
  const groups = nic.has === 'port' && isOvnProvider(nic.provider) ? policies.groups : []
  return [
    ...groups
      .filter((share) => isAboutNic(share, nic.provider))
      .map(({ group }) => memberOf(ref(networkPolicyPortGroup, group), 'ports', ref(podPort, nic.port))),
    ...policies.sets
      .filter((peer) => isAboutNic(peer, nic.provider))
      .flatMap(({ group, direction, rule, families }) =>
        addresses
          .filter((ip) => families.includes(familyOf(ip)))
          .map((ip) => {
            const set = policyAddressSetName(group, direction, 'allow', familyOf(ip), rule)
            return { of: ref(networkPolicyAddresses, set), column: 'addresses', value: formatIp(ip) }
          }),
      ),
  ]
}
