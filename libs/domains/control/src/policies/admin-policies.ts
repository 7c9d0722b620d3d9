import type { AdminNetworkPolicy } from '@kube-ovn/kube-api'
import type { LabelSelector } from '@kube-ovn/label-selector'
import {
  adminPolicyAddressSetName,
  adminPolicyGroupName,
  uniqueGroupName,
  type AdminPolicyKind,
} from '@kube-ovn/ovn-names'
import { parseAdminPolicy, type AdminPlace, type ParsedAdminPolicy } from '@kube-ovn/policy'
import { groupTable, rowTable, selectionTable, unionTable, type ViewOf } from '@kube-ovn/tables'
import {
  adminNetworkPolicies,
  baselineAdminNetworkPolicies,
  clusterNetworkPolicies,
  nodes,
  settingsOf,
  settingsTable,
} from '../sources.ts'
import { nodeAddresses } from '../topology/addresses-of-nodes.ts'
import { byAge, isTaken, nodeGroups, oldest, subnetGroups } from './group-names.ts'
import { selectorsOf } from './policy-selectors.ts'

/** A policy of an administrator, read. */
interface ReadAdminPolicy {
  readonly kind: AdminPolicyKind
  readonly metadata: AdminNetworkPolicy['metadata']
  readonly policy: ParsedAdminPolicy
}

/** None while these policies are switched off. */
function readPolicies(kind: AdminPolicyKind, of: typeof adminNetworkPolicies) {
  return rowTable({
    name: `read-${kind}`,
    of,
    reads: { settingsTable },
    row: (object, views): ReadAdminPolicy | undefined => {
      const { enableAnp, enableDnsNameResolver } = settingsOf(views.settingsTable)
      if (!enableAnp) return undefined
      const { name, uid, creationTimestamp } = object.metadata
      return {
        kind,
        metadata: {
          name,
          ...(uid === undefined ? {} : { uid }),
          ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
        },
        policy: parseAdminPolicy(kind, object, { followsNames: enableDnsNameResolver }),
      }
    },
  })
}

/** Policies of administrators of all kinds, by `kind/name`. */
const readAdminPolicies = unionTable({
  name: 'read-admin-policies',
  of: {
    anp: readPolicies('anp', adminNetworkPolicies),
    banp: readPolicies('banp', baselineAdminNetworkPolicies),
    cnp: readPolicies('cnp', clusterNetworkPolicies),
  },
  indexes: {
    group: ({ kind, metadata }: ReadAdminPolicy) => [adminPolicyGroupName(kind, metadata.name)],
    room: (policy: ReadAdminPolicy) => roomsOf(policy),
  },
})

/** The name of the port group of each of them. */
export const adminPolicyGroups = groupTable({
  name: 'admin-policy-groups',
  of: readAdminPolicies,
  by: 'group',
  reads: { nodeGroups, subnetGroups },
  rows: (members, groups, name) => {
    const plain = isTaken(name, groups) ? undefined : oldest(members)
    return [...members].map(
      ([key, { metadata }]) =>
        [key, key === plain ? name : uniqueGroupName(name, metadata.uid ?? '')] as const,
    )
  },
  indexes: { group: (group: string) => [group] },
})

/** As many priorities of ACLs lie between those of two priorities of an AdminNetworkPolicy. */
const roomSize = 100

/** Policies whose rules may come to stand at the same places. */
function roomsOf({ kind, policy: { place, isPlaced } }: ReadAdminPolicy): readonly string[] {
  return kind === 'banp' || !isPlaced ? [] : [`${place.tier}/${Math.ceil(place.first / roomSize)}`]
}

/** Where the rules of a policy come to stand among those of others. */
interface AdminStand extends AdminPlace {
  /** An older policy that has the same priority, or the places of this one: as `kind/name`. */
  readonly after: string | undefined
}

/** Of policies that would stand at the same places, the older one is asked first. */
const adminPolicyPlaces = groupTable({
  name: 'admin-policy-places',
  of: readAdminPolicies,
  by: 'room',
  rows: (members) => {
    const before: {
      readonly key: string
      readonly from: number
      readonly to: number
      readonly first: number
    }[] = []
    return byAge(members).map(([key, { kind, policy }]) => {
      const { first: own, rules: room, tier } = policy.place
      const wanted = Math.max(policy.rules.ingress.length, policy.rules.egress.length)
      const last = own - room
      let first = own
      for (let isMoved = true; isMoved;) {
        // Priorities go down: a place is taken that is below `from` and not yet at `to`.
        const taken = before.find(({ from, to }) => first > to && first - wanted < from)
        isMoved = taken !== undefined
        if (taken !== undefined) first = taken.to
      }
      const there = Math.max(0, Math.min(room, first - last))
      // What those deny that do not fit has a place of its own behind the others.
      const rules = there < wanted ? Math.max(0, there - 1) : there
      const same = before.find((one) => one.key.startsWith(`${kind}/`) && one.first === own)
      const stand: AdminStand = {
        ...{ tier, first: there === 0 ? last + 1 : first, rules },
        after: same?.key ?? (rules < wanted ? before.at(-1)?.key : undefined),
      }
      if (wanted > 0) before.push({ key, from: first, to: Math.max(first - wanted, last), first: own })
      return [key, stand] as const
    })
  },
})

/** A policy of an administrator as it is enforced. */
export interface EnforcedAdminPolicy {
  readonly key: string
  readonly kind: AdminPolicyKind
  readonly name: string
  readonly uid: string
  /** Name of its port group. */
  readonly group: string
  readonly policy: ParsedAdminPolicy
  readonly place: AdminPlace
  /** An older policy of the same priority. */
  readonly after: string | undefined
}

/** Policies of administrators by `kind/name`. */
export const adminPolicies = rowTable({
  name: 'admin-policies',
  of: readAdminPolicies,
  reads: { adminPolicyGroups, adminPolicyPlaces },
  row: (
    { kind, metadata: { name, uid = '' }, policy },
    { adminPolicyGroups, adminPolicyPlaces },
    key,
  ): EnforcedAdminPolicy | undefined => {
    const group = adminPolicyGroups.get(key)
    if (group === undefined) return undefined
    const { after, ...place } = adminPolicyPlaces.get(key) ?? { ...policy.place, after: undefined }
    return { key, kind, name, uid, group, policy, place, after }
  },
  indexes: {
    key: ({ key }: EnforcedAdminPolicy) => [key],
    closed: ({ policy }: EnforcedAdminPolicy) =>
      policy.rules.ingress.some(({ peers }) => peers.isAll) ? [''] : [],
  },
})

export const adminPolicySelectors = groupTable({
  name: 'admin-policy-selectors',
  of: adminPolicies,
  by: 'key',
  rows: (members) =>
    [...members.values()].flatMap(({ key, group, policy }) =>
      selectorsOf({
        key,
        share: { kind: 'admin', policy: key, group, providers: undefined },
        namespace: undefined,
        subject: policy.subject,
        rules: policy.rules,
        setName: (direction, rule, family) =>
          adminPolicyAddressSetName(
            group,
            direction,
            rule,
            policy.rules[direction][rule]?.name ?? '',
            family,
          ),
      }),
    ),
})

/** Selectors of nodes that rules are about, by `kind/name/rule/which`: egress alone knows them. */
const nodeSelectors = groupTable({
  name: 'admin-node-selectors',
  of: adminPolicies,
  by: 'key',
  rows: (members) =>
    [...members.values()].flatMap(({ key, policy }) =>
      policy.rules.egress.flatMap(({ peers }, rule) =>
        peers.nodes.map((selector, which): readonly [string, NodeSelector] => [
          nodeSelectorKey(key, rule, which),
          { selector },
        ]),
      ),
    ),
})

interface NodeSelector {
  readonly selector: LabelSelector
}

function nodeSelectorKey(policy: string, rule: number, which: number): string {
  return `${policy}/${rule}/${which}`
}

const selectedNodes = selectionTable({
  name: 'admin-selected-nodes',
  objects: nodes,
  object: ({ metadata }) => ({ labels: metadata.labels ?? {} }),
  selectors: nodeSelectors,
  selector: ({ selector }) => ({ selector }),
})

/** Addresses of the nodes that rules for egress are about, in the order of the rules. */
export const adminNodePeers = rowTable({
  name: 'admin-node-peers',
  of: adminPolicies,
  reads: { selectedNodes, nodeAddresses },
  row: ({ policy }, views, key): readonly (readonly string[])[] =>
    policy.rules.egress.map(({ peers }, rule) =>
      peers.nodes.flatMap((_selector, which) => addressesOf(nodeSelectorKey(key, rule, which), views)),
    ),
})

interface NodeViews {
  readonly selectedNodes: ViewOf<typeof selectedNodes>
  readonly nodeAddresses: ViewOf<typeof nodeAddresses>
}

function addressesOf(selector: string, { selectedNodes, nodeAddresses }: NodeViews): readonly string[] {
  return selectedNodes
    .keys('selector', selector)
    .flatMap((node) => nodeAddresses.get(node) ?? [])
    .map(({ address }) => address)
}
