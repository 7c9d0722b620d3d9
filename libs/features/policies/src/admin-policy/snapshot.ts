import type { KubeOvnError } from '@kube-ovn/errors'
import type { ControlWorld } from '@kube-ovn/domains-control'
import {
  contestedNames,
  namesAt,
  portPlace,
  resolverLabel,
  stopsOpenConnections,
  type EnforcedAdminPolicy,
} from '@kube-ovn/domains-control/policies'
import type { AdminNetworkPolicy } from '@kube-ovn/kube-api'
import type { AdminPolicyKind } from '@kube-ovn/ovn-names'
import {
  adminPolicyRows,
  NameContestedError,
  NameUnknownError,
  PolicyInvalidError,
  type AdminPolicyRows,
} from '@kube-ovn/policy'

/** What decides about a policy of an administrator. */
export interface AdminPolicySnapshot {
  readonly kind: AdminPolicyKind
  readonly object: AdminNetworkPolicy
  /** Absent while policies of administrators are switched off. */
  readonly enforced: Enforced | undefined
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

interface Enforced extends Pick<EnforcedAdminPolicy, 'group'> {
  readonly rows: AdminPolicyRows
  /** Parts without effect. */
  readonly problems: readonly KubeOvnError[]
  /** When an address of a DNS name ends to count, in milliseconds from now. */
  readonly endsInMs: number | undefined
}

/** Reads a policy. */
export function observeAdminPolicy(
  kind: AdminPolicyKind,
  name: string,
  world: ControlWorld,
): AdminPolicySnapshot | undefined {
  const object = world[stores[kind]].get(name)
  if (object === undefined) return undefined
  const policy = world.adminPolicies.get(`${kind}/${name}`)
  const enforced = policy === undefined ? undefined : observeEnforced(policy, world)
  return { kind, object, enforced, now: world.now() }
}

const stores = {
  anp: 'adminNetworkPolicies',
  banp: 'baselineAdminNetworkPolicies',
  cnp: 'clusterNetworkPolicies',
} as const

function observeEnforced(enforced: EnforcedAdminPolicy, world: ControlWorld): Enforced {
  const { key, kind, name, group, policy, place } = enforced
  const nodes = world.adminNodePeers.get(key) ?? []
  const names = namesAt(world.now(), world.resolvedNames)
  const named = policy.rules.egress.map(({ peers, action }) =>
    peers.names.map((name) => ({ name, addresses: names.of(name, action) })),
  )
  const addresses = named.map((ofRule, rule) => [
    ...(nodes[rule] ?? []),
    ...ofRule.flatMap((one) => one.addresses),
  ])
  const contestedBy = contestedNames(resolverLabel('adminPolicy', name), world)
  const unknown = policy.rules.egress.flatMap(({ action }, rule): readonly KubeOvnError[] =>
    (named[rule] ?? []).flatMap(({ name: value, addresses: known }): readonly KubeOvnError[] => {
      const field = `spec.egress[${rule}].to`
      const other = contestedBy.get(value)
      if (other !== undefined) return [new NameContestedError({ field, value, other })]
      return action === 'drop' && known.length === 0 ? [new NameUnknownError({ field, value })] : []
    }),
  )
  const rows = adminPolicyRows(policy, {
    ...{ kind, name, group, place, families: world.adminPolicyFamilies.get(key) ?? [] },
    stopsOpenConnections: stopsOpenConnections(world),
    addressesOf: (direction, rule) => (direction === 'egress' ? (addresses[rule] ?? []) : []),
    numbersOf: (direction, rule, protocol, port) => {
      const at = direction === 'ingress' ? undefined : { direction, rule }
      return world.namedPorts.get(portPlace({ kind: 'admin', policy: key }, at, `${protocol}/${port}`)) ?? []
    },
  })
  return {
    ...{ group, rows, endsInMs: names.endsInMs() },
    problems: [...policy.problems, ...contested(enforced), ...unknown],
  }
}

function contested({ after, place, policy }: EnforcedAdminPolicy): readonly KubeOvnError[] {
  if (after === undefined) return []
  const most = Math.max(policy.rules.ingress.length, policy.rules.egress.length)
  const beyond =
    place.rules < most ? `, and but for the first ${place.rules} only what they deny is in effect` : ''
  const cure = `give it one that no other policy has; until then its rules are asked after those of the older one${beyond}`
  return [new PolicyInvalidError({ field: 'spec.priority', value: `that of ${after}`, cure })]
}
