import type { KubeObject, Resource } from '@kube-ovn/kube'
import { multiNetworkPolicyResource } from '@kube-ovn/kube-api'
import { networkPolicies as networkPolicyResource, type NetworkPolicy } from '@kube-ovn/kube-api/core'
import { networkPolicyGroupName, policyAddressSetName, uniqueGroupName } from '@kube-ovn/ovn-names'
import { parseMultiNetworkPolicy, parseNetworkPolicy, type ParsedNetworkPolicy } from '@kube-ovn/policy'
import { groupTable, rowTable, unionTable, type Table } from '@kube-ovn/tables'
import { multiNetworkPolicies, networkPolicies, settingsOf, settingsTable } from '../sources.ts'
import { adminPolicyGroups } from './admin-policies.ts'
import { isTaken, nodeGroups, oldest, subnetGroups } from './group-names.ts'
import { selectorsOf } from './policy-selectors.ts'

/** The kinds of objects that are NetworkPolicies. */
type NetworkPolicyKind = 'NetworkPolicy' | 'MultiNetworkPolicy'

/** A NetworkPolicy of either kind, read. */
interface ReadPolicy {
  /** See {@link networkPolicyKey}. */
  readonly key: string
  readonly kind: NetworkPolicyKind
  readonly metadata: Pick<KubeObject['metadata'], 'name' | 'namespace' | 'uid' | 'creationTimestamp'>
  readonly policy: ParsedNetworkPolicy
}

/** Tells policies of both kinds apart, of which two may have one name. @param key `namespace/name`; no namespace has a colon */
export function networkPolicyKey(kind: NetworkPolicyKind, key: string): string {
  return kind === 'NetworkPolicy' ? key : `${multiPrefix}${key}`
}

const multiPrefix = 'multi:'

/** The object of such a key, as `namespace/name`. */
export function objectOfNetworkPolicy(key: string): string {
  return key.startsWith(multiPrefix) ? key.slice(multiPrefix.length) : key
}

export const networkPolicyResources: Readonly<Record<NetworkPolicyKind, Resource>> = {
  NetworkPolicy: networkPolicyResource,
  MultiNetworkPolicy: multiNetworkPolicyResource,
}

/** None while policies are switched off. */
function readPolicies<I extends string>(
  kind: NetworkPolicyKind,
  of: Table<NetworkPolicy, I>,
  parse: (object: NetworkPolicy) => ParsedNetworkPolicy,
) {
  return rowTable({
    name: `read-${kind}`,
    of,
    reads: { settingsTable },
    row: (object, { settingsTable }, key): ReadPolicy | undefined => {
      if (!settingsOf(settingsTable).enableNp) return undefined
      const { name, namespace = '', uid = '', creationTimestamp = '' } = object.metadata
      const metadata = { name, namespace, uid, creationTimestamp }
      return { key: networkPolicyKey(kind, key), kind, metadata, policy: parse(object) }
    },
  })
}

/** NetworkPolicies of both kinds. */
const readNetworkPolicies = unionTable({
  name: 'read-network-policies',
  of: {
    np: readPolicies('NetworkPolicy', networkPolicies, parseNetworkPolicy),
    multi: readPolicies('MultiNetworkPolicy', multiNetworkPolicies, parseMultiNetworkPolicy),
  },
  indexes: {
    group: ({ metadata: { namespace = '', name } }: ReadPolicy) => [networkPolicyGroupName(namespace, name)],
    key: ({ key }: ReadPolicy) => [key],
  },
})

/** The name of the port group of each of them. What upstream does not have never has a name that upstream gives. */
const networkPolicyGroups = groupTable({
  name: 'network-policy-groups',
  of: readNetworkPolicies,
  by: 'group',
  reads: { adminPolicyGroups, nodeGroups, subnetGroups },
  rows: (members, { adminPolicyGroups, ...groups }, name) => {
    const plain =
      adminPolicyGroups.some('group', name) || isTaken(name, groups)
        ? undefined
        : oldest(new Map([...members].filter(([, { kind }]) => kind === 'NetworkPolicy')))
    return [...members].map(
      ([at, { key, metadata }]) =>
        [key, at === plain ? name : uniqueGroupName(name, metadata.uid ?? '')] as const,
    )
  },
})

/** A NetworkPolicy of either kind as it is enforced. */
export interface EnforcedPolicy {
  readonly key: string
  readonly kind: NetworkPolicyKind
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Name of its port group. */
  readonly group: string
  readonly policy: ParsedNetworkPolicy
}

/** NetworkPolicies of both kinds, by {@link networkPolicyKey}. */
export const enforcedPolicies = groupTable({
  name: 'enforced-policies',
  of: readNetworkPolicies,
  by: 'key',
  reads: { networkPolicyGroups },
  rows: (members, { networkPolicyGroups }, key) => {
    const group = networkPolicyGroups.get(key)
    if (group === undefined) return []
    return [...members.values()].map(({ kind, metadata, policy }): readonly [string, EnforcedPolicy] => {
      const { name, namespace = '', uid = '' } = metadata
      return [key, { key, kind, namespace, name, uid, group, policy }]
    })
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
