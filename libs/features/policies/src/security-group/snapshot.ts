import type { KubeOvnError } from '@kube-ovn/errors'
import { observedOf, type ControlWorld, type Observed } from '@kube-ovn/domains-control'
import { securityGroupResource, type SecurityGroup } from '@kube-ovn/kube-api'
import { parseSecurityGroup, securityGroupRows, type PolicyAcl } from '@kube-ovn/policy'

/** What decides about a SecurityGroup. */
export interface SecurityGroupSnapshot {
  readonly object: SecurityGroup
  /** Name of its port group. */
  readonly group: string
  readonly acls: readonly PolicyAcl[]
  /** Parts without effect. */
  readonly problems: readonly KubeOvnError[]
  /** Which generation its status is about. */
  readonly observed: Observed
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** Reads a SecurityGroup. */
export function observeSecurityGroup(name: string, world: ControlWorld): SecurityGroupSnapshot | undefined {
  const object = world.securityGroups.get(name)
  const place = world.securityGroupPlaces.get(name)
  if (object === undefined || place === undefined) return undefined
  const { group } = place
  const parsed = parseSecurityGroup(object)
  const { acls, problems } = securityGroupRows(parsed, {
    group,
    groupOf: (remote) => world.securityGroupPlaces.get(remote)?.group,
  })
  return {
    ...{ object, group, acls, problems: [...parsed.problems, ...problems] },
    ...{ observed: observedOf(securityGroupResource, object, world), now: world.now() },
  }
}
