import { anyIp } from '@kube-ovn/ovn-match'
import { aclPriority, type AclDirection } from '@kube-ovn/ovn-names'
import { trafficOf, unlogged, type PolicyAcl } from './acl.ts'

/** As much of an ACL as says where it stops connections. */
interface Stopping {
  readonly direction: AclDirection
  readonly tier: number
  readonly action: string
  readonly isAfterBalancing?: boolean
}

/** Where what nobody speaks of is passed on. */
interface Passage {
  readonly direction: AclDirection
  readonly tier: number
}

/**
 * The tiers before those in which ACLs stop packets.
 *
 * A connection that an ACL stops after it was opened is marked by OVN, and a mark is taken off where no ACL of a tier is about a packet: up to
 * OVN 26.03 in the first of all tiers, so every second packet would pass. With an ACL in each tier before it the one that stops it is asked about
 * every packet. Behind load balancers OVN takes no marks off.
 *
 * @see ovn-northd(8), ls_in_acl_eval, ls_out_acl_eval
 */
export function passagesBefore(acls: readonly Stopping[]): readonly Passage[] {
  return (['to-lport', 'from-lport'] as const).flatMap((direction) => {
    const stops = acls.filter(
      (acl) =>
        acl.direction === direction &&
        (acl.action === 'drop' || acl.action === 'reject') &&
        (direction === 'to-lport' || acl.isAfterBalancing !== true),
    )
    const last = Math.max(0, ...stops.map(({ tier }) => tier))
    return Array.from({ length: last }, (_, tier) => ({ direction, tier }))
  })
}

/** An ACL of its own in each tier before those in which ACLs of a group stop packets. */
export function passageAcls(
  group: string,
  acls: readonly PolicyAcl[],
  priority: number = aclPriority.passedOn,
): readonly PolicyAcl[] {
  return passagesBefore(acls).map(({ direction, tier }) => ({
    ...trafficOf(group, direction === 'to-lport' ? 'ingress' : 'egress', anyIp),
    ...{ tier, priority, action: 'pass' as const, ...unlogged, isAfterBalancing: false },
  }))
}
