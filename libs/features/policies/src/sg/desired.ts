import {
  baselineAcl,
  baselinePortGroup,
  baselineSecurityGroup,
  denyAllAcl,
  denyAllPortGroup,
  denyAllSecurityGroup,
  externalId,
  securityGroupPortGroupName,
  type RowKind,
} from '@kube-ovn/ovn-names'
import { baselineAcls, denyAllAcls, type PolicyAcl } from '@kube-ovn/policy'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import { aclRow } from '@kube-ovn/domains-control/policies'

/** What decides about the groups that ports are in because of their security groups. */
export interface DenyAllSnapshot {
  /** There are security groups of tier 1. */
  readonly hasBaseline: boolean
  readonly stopsOpenConnections: boolean
}

/**
 * Computes the port group of ports that have security groups: what none of these allows, at a higher priority, is dropped. A second one lets
 * ports past tier 2 that have none there.
 *
 * @see ovn-nb(5), Port_Group and ACL
 */
export function desiredDenyAll({ hasBaseline, stopsOpenConnections }: DenyAllSnapshot): Desired {
  const denial = desiredGroup(denyAllPortGroup, denyAllAcl, denyAllSecurityGroup, (group) =>
    denyAllAcls(group, stopsOpenConnections),
  )
  const passage = desiredGroup(baselinePortGroup, baselineAcl, baselineSecurityGroup, baselineAcls)
  const groups = hasBaseline ? [denial, passage] : [denial]
  return {
    ...nothing,
    rows: groups.flatMap(({ rows }) => rows),
    members: groups.flatMap(({ members }) => members),
  }
}

function desiredGroup(
  kind: RowKind,
  aclKind: RowKind,
  securityGroup: string,
  aclsOf: (group: string) => readonly PolicyAcl[],
): Pick<Desired, 'rows' | 'members'> {
  const name = securityGroupPortGroupName(securityGroup)
  const ids = { [externalId.type]: 'security_group', [externalId.securityGroup]: securityGroup }
  const acls = aclsOf(name).map((acl) =>
    aclRow(aclKind, idOf(aclKind, acl), acl, { [externalId.parent]: name }),
  )
  return {
    rows: [{ kind, id: securityGroup, columns: { name, external_ids: externalIds(ids) } }, ...acls],
    members: acls.map(({ id }) => memberOf(ref(kind, securityGroup), 'acls', ref(aclKind, id))),
  }
}

function idOf(kind: RowKind, { direction, tier }: PolicyAcl): string {
  return kind === denyAllAcl ? `${direction}/${tier}` : direction
}
