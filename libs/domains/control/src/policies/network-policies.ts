import { policyAddressSetName, uniqueGroupName } from '@kube-ovn/ovn-names'
import { parseNetworkPolicy, type ParsedNetworkPolicy } from '@kube-ovn/policy'
import { groupTable, rowTable } from '@kube-ovn/tables'
import { settingsOf, networkPolicies, settingsTable } from '../sources.ts'
import { adminPolicyGroups } from './admin-policies.ts'
import { isTaken, nodeGroups, oldest, subnetGroups } from './group-names.ts'
import { selectorsOf } from './policy-selectors.ts'

/** The name of the port group of each NetworkPolicy; none has one when policies are switched off. */
const networkPolicyGroups = groupTable({
  name: 'network-policy-groups',
  of: networkPolicies,
  by: 'group',
  reads: { settingsTable, adminPolicyGroups, nodeGroups, subnetGroups },
  rows: (members, { settingsTable, adminPolicyGroups, ...groups }, name) => {
    if (!settingsOf(settingsTable).enableNp) return []
    const plain = adminPolicyGroups.some('group', name) || isTaken(name, groups) ? undefined : oldest(members)
    return [...members].map(
      ([key, { metadata }]) =>
        [key, key === plain ? name : uniqueGroupName(name, metadata.uid ?? '')] as const,
    )
  },
})

/** A NetworkPolicy as it is enforced. */
export interface EnforcedPolicy {
  readonly key: string
  readonly namespace: string
  readonly name: string
  /** Name of its port group. */
  readonly group: string
  readonly policy: ParsedNetworkPolicy
}

/** NetworkPolicies, read. */
export const enforcedPolicies = rowTable({
  name: 'enforced-policies',
  of: networkPolicies,
  reads: { networkPolicyGroups },
  row: (object, { networkPolicyGroups }, key): EnforcedPolicy | undefined => {
    const group = networkPolicyGroups.get(key)
    if (group === undefined) return undefined
    const { name, namespace = '' } = object.metadata
    return { key, namespace, name, group, policy: parseNetworkPolicy(object) }
  },
  indexes: { all: () => [''], key: ({ key }: EnforcedPolicy) => [key] },
})

export const networkPolicySelectors = groupTable({
  name: 'network-policy-selectors',
  of: enforcedPolicies,
  by: 'key',
  rows: (members) =>
    [...members.values()].flatMap(({ key, namespace, group, policy }) =>
      selectorsOf({
        key,
        share: { kind: 'np', policy: key, group, providers: policy.providers },
        namespace,
        subject: { pods: policy.subject, namespaces: undefined },
        rules: policy.rules,
        setName: (direction, rule, family) => policyAddressSetName(group, direction, 'allow', family, rule),
      }),
    ),
})
