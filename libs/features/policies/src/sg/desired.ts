import { and, anyIp, inPortGroup, outPortGroup, printMatch } from '@kube-ovn/ovn-match'
import {
  aclPriority,
  aclTier,
  denyAllAcl,
  denyAllPortGroup,
  denyAllSecurityGroup,
  externalId,
  securityGroupPortGroupName,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'

const directions = ['from-lport', 'to-lport'] as const
const tiers = [aclTier.policy, aclTier.baseline] as const

/**
 * Computes the port group whose ports may neither send nor receive.
 *
 * A port with security groups is a member: what its groups allow has a higher priority.
 *
 * @see ovn-nb(5), Port_Group and ACL
 */
export function desiredDenyAll(): Desired {
  const name = securityGroupPortGroupName(denyAllSecurityGroup)
  const group = ref(denyAllPortGroup, denyAllSecurityGroup)
  const acls = directions.flatMap((direction) =>
    tiers.map((tier) => ({ direction, tier, id: `${direction}/${tier}` })),
  )
  return {
    ...nothing,
    rows: [
      {
        kind: denyAllPortGroup,
        id: denyAllSecurityGroup,
        columns: {
          name,
          external_ids: externalIds({
            [externalId.type]: 'security_group',
            [externalId.securityGroup]: denyAllSecurityGroup,
          }),
        },
      },
      ...acls.map(({ direction, tier, id }) => ({
        kind: denyAllAcl,
        id,
        columns: {
          direction,
          tier,
          priority: aclPriority.denyAll,
          action: 'drop',
          match: printMatch(and(direction === 'from-lport' ? inPortGroup(name) : outPortGroup(name), anyIp)),
          external_ids: externalIds({ [externalId.parent]: name }),
        },
      })),
    ],
    members: acls.map(({ id }) => memberOf(group, 'acls', ref(denyAllAcl, id))),
  }
}
