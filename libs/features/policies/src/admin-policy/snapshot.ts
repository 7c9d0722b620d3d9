import type { KubeOvnError } from '@kube-ovn/errors'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { portPlace, stopsOpenConnections, type EnforcedAdminPolicy } from '@kube-ovn/domains-control/policies'
import { adminPolicyRows, PolicyInvalidError, type AdminPolicyRows } from '@kube-ovn/policy'

/** What decides about a policy of an administrator. */
export interface AdminPolicySnapshot extends Pick<EnforcedAdminPolicy, 'kind' | 'name' | 'uid' | 'group'> {
  readonly rows: AdminPolicyRows
  /** Parts without effect. */
  readonly problems: readonly KubeOvnError[]
}

/** Reads a policy. */
export function observeAdminPolicy(key: string, world: ControlWorld): AdminPolicySnapshot | undefined {
  const enforced = world.adminPolicies.get(key)
  if (enforced === undefined) return undefined
  const { kind, name, uid, group, policy, place } = enforced
  const nodes = world.adminNodePeers.get(key) ?? []
  const rows = adminPolicyRows(policy, {
    ...{ kind, name, group, place, families: world.adminPolicyFamilies.get(key) ?? [] },
    stopsOpenConnections: stopsOpenConnections(world),
    nodeAddresses: (direction, rule) => (direction === 'egress' ? (nodes[rule] ?? []) : []),
    numbersOf: (direction, rule, protocol, port) => {
      const at = direction === 'ingress' ? undefined : { direction, rule }
      return world.namedPorts.get(portPlace({ kind: 'admin', policy: key }, at, `${protocol}/${port}`)) ?? []
    },
  })
  return { kind, name, uid, group, rows, problems: [...policy.problems, ...contested(enforced)] }
}

function contested({ after, place, policy }: EnforcedAdminPolicy): readonly KubeOvnError[] {
  if (after === undefined) return []
  const most = Math.max(policy.rules.ingress.length, policy.rules.egress.length)
  const beyond =
    place.rules < most ? `, and but for the first ${place.rules} only what they deny is in effect` : ''
  const cure = `give it one that no other policy has; until then its rules are asked after those of the older one${beyond}`
  return [new PolicyInvalidError({ field: 'spec.priority', value: `that of ${after}`, cure })]
}
