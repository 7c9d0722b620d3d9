import { adminNetworkPolicyResource, clusterNetworkPolicyResource } from '@kube-ovn/kube-api'
import type { OwnerReference } from '@kube-ovn/kube-api/core'
import { groupTable, unionTable } from '@kube-ovn/tables'
import { adminPolicies, type EnforcedAdminPolicy } from './admin-policies.ts'
import { readFirewalls } from './read-firewalls.ts'
import { resolverLabel, type ResolverLabel } from './resolver-names.ts'

/** A DNS name that somebody asks for. */
interface WantedName {
  readonly label: ResolverLabel
  readonly domain: string
  /** Absent where it can not be one: an object of the cluster belongs to no object of a namespace. */
  readonly owner: OwnerReference | undefined
}

const resources = { anp: adminNetworkPolicyResource, cnp: clusterNetworkPolicyResource }

function ownerOf({ kind, name, uid }: EnforcedAdminPolicy): OwnerReference | undefined {
  if (kind === 'banp') return undefined
  const { group, version, kind: of } = resources[kind]
  return { apiVersion: `${group}/${version}`, kind: of, name, uid }
}

const namesOfPolicies = groupTable({
  name: 'names-of-admin-policies',
  of: adminPolicies,
  by: 'key',
  rows: (members) =>
    [...members.values()].flatMap((enforced) =>
      unique(enforced.policy.rules.egress.flatMap(({ peers }) => peers.names)).map(
        (domain): readonly [string, WantedName] => [
          `${enforced.key}/${domain}`,
          { label: resolverLabel('adminPolicy', enforced.name), domain, owner: ownerOf(enforced) },
        ],
      ),
    ),
})

const namesOfFirewalls = groupTable({
  name: 'names-of-egress-firewalls',
  of: readFirewalls,
  by: 'key',
  rows: (members) =>
    [...members.values()].flatMap(({ key, namespace, firewall: { rules } }) =>
      unique(rules.flatMap(({ to }) => (to.kind === 'name' ? [to.name] : []))).map(
        (domain): readonly [string, WantedName] => [
          `${key}/${domain}`,
          { label: resolverLabel('egressFirewall', namespace), domain, owner: undefined },
        ],
      ),
    ),
})

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}

/** DNS names that policies are about, by the label of their resolvers. */
export const wantedNames = unionTable({
  name: 'wanted-names',
  of: { admin: namesOfPolicies, firewall: namesOfFirewalls },
  indexes: { label: ({ label }: WantedName) => [label] },
})
