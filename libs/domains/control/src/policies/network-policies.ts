import { isOvnProvider } from '@kube-ovn/annotations'
import type { Family } from '@kube-ovn/ip'
import type { LabelSelector } from '@kube-ovn/label-selector'
import {
  isSecurityGroupPortGroup,
  nodePortGroupName,
  subnetNodePortGroupName,
  uniqueGroupName,
  type PolicyDirection,
} from '@kube-ovn/ovn-names'
import { parseNetworkPolicy, type ParsedNetworkPolicy, type PodSelection } from '@kube-ovn/policy'
import { groupTable, rowTable, selectionTable, type ViewOf } from '@kube-ovn/tables'
import { settingsOf, networkPolicies, nodes, settingsTable } from '../sources.ts'
import { networks } from '../topology/subnet-states.ts'
import { oldest } from './group-names.ts'
import { labelledPods, podLabels, policyNics } from './labelled-pods.ts'

/** Names that other features give to port groups of nodes. */
const nodeGroups = rowTable({
  name: 'node-groups',
  of: nodes,
  row: ({ metadata }) => metadata.name,
  indexes: {
    group: (node: string) => [nodePortGroupName(node)],
    suffix: (node: string) => [subnetNodePortGroupName('', node)],
  },
})

/** The beginnings of names of port groups of subnets on nodes. */
const subnetGroups = rowTable({
  name: 'subnet-groups',
  of: networks,
  row: (_network, _views, subnet) => subnet,
  indexes: { prefix: (subnet: string) => [subnetNodePortGroupName(subnet, '')] },
})

interface GroupNames {
  readonly nodeGroups: ViewOf<typeof nodeGroups>
  readonly subnetGroups: ViewOf<typeof subnetGroups>
}

/** Whether a group of somebody else may have the name: a user chooses names of policies and namespaces. */
function isTaken(name: string, { nodeGroups, subnetGroups }: GroupNames): boolean {
  if (isSecurityGroupPortGroup(name) || nodeGroups.some('group', name)) return true
  const dots = [...name.matchAll(/\./g)].map(({ index }) => index)
  return dots.some(
    (dot) =>
      subnetGroups.some('prefix', name.slice(0, dot + 1)) && nodeGroups.some('suffix', name.slice(dot)),
  )
}

/** The name of the port group of each NetworkPolicy; none has one when policies are switched off. */
const networkPolicyGroups = groupTable({
  name: 'network-policy-groups',
  of: networkPolicies,
  by: 'group',
  reads: { settingsTable, nodeGroups, subnetGroups },
  rows: (members, { settingsTable, ...groups }, name) => {
    if (!settingsOf(settingsTable).enableNp) return []
    const plain = isTaken(name, groups) ? undefined : oldest(members)
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

/** What pods are to a policy: those that it is for, or those that a rule is about. */
interface PolicySelector {
  readonly policy: string
  readonly group: string
  readonly rule: { readonly direction: PolicyDirection; readonly place: number } | undefined
  readonly providers: readonly string[] | undefined
  /** Absent for pods of all namespaces. */
  readonly namespace: string | undefined
  readonly selector: LabelSelector
  /** Named ports of these pods that rules are about, as `protocol/name`. */
  readonly ports: readonly string[]
}

const policySelectors = groupTable({
  name: 'policy-selectors',
  of: enforcedPolicies,
  by: 'key',
  rows: (members) => [...members.values()].flatMap((policy) => selectorsOf(policy)),
})

function selectorsOf(enforced: EnforcedPolicy): readonly (readonly [string, PolicySelector])[] {
  const { key, namespace, group, policy } = enforced
  const base = { policy: key, group, providers: policy.providers }
  const subject: PolicySelector = {
    ...base,
    ...{ rule: undefined, namespace, selector: podLabels.pods(policy.subject) },
    ports: (policy.rules.ingress ?? []).flatMap(({ ports }) => namedPortsOf(ports)),
  }
  const peers = (['ingress', 'egress'] as const).flatMap((direction) =>
    (policy.rules[direction] ?? []).flatMap(({ peers, ports }, place) =>
      (peers?.pods ?? []).map((selection, which): readonly [string, PolicySelector] => [
        `${key}/${direction}/${place}/${which}`,
        {
          ...base,
          ...{ rule: { direction, place }, ...joined(selection, namespace) },
          ports: direction === 'egress' ? namedPortsOf(ports) : [],
        },
      ]),
    ),
  )
  return [[key, subject], ...peers]
}

function namedPortsOf(ports: ParsedRulePorts): readonly string[] {
  return (ports ?? []).flatMap((port) => (port.kind === 'named' ? [`${port.protocol}/${port.name}`] : []))
}

type ParsedRulePorts = NonNullable<ParsedNetworkPolicy['rules']['ingress']>[number]['ports']

function joined(
  { pods, namespaces }: PodSelection,
  own: string,
): Pick<PolicySelector, 'namespace' | 'selector'> {
  return namespaces === undefined
    ? { namespace: own, selector: podLabels.pods(pods) }
    : { namespace: undefined, selector: podLabels.both(pods, namespaces) }
}

const selectedPods = selectionTable({
  name: 'policies-of-pods',
  objects: labelledPods,
  object: ({ namespace, labels }) => ({ scope: namespace, labels }),
  selectors: policySelectors,
  selector: ({ namespace, selector }) => ({ scope: namespace, selector }),
})

/** What a pod is to policies. */
export interface PodPolicies {
  /** Those that are for it. */
  readonly subjectOf: readonly PolicyShare[]
  /** Rules that are about it. */
  readonly peerOf: readonly (PolicyShare & { readonly direction: PolicyDirection; readonly rule: number })[]
}

interface PolicyShare {
  readonly policy: string
  readonly group: string
  readonly providers: readonly string[] | undefined
}

/** What each pod is to policies, by `namespace/name`; none where no policy is for it or about it. */
export const podPolicies = rowTable({
  name: 'pod-policies',
  of: selectedPods,
  reads: { policySelectors },
  row: (keys, { policySelectors }): PodPolicies => {
    const selectors = keys.flatMap((key) => policySelectors.get(key) ?? [])
    const peers = selectors.flatMap(({ policy, group, providers, rule }) =>
      rule === undefined ? [] : [{ policy, group, providers, direction: rule.direction, rule: rule.place }],
    )
    const byRule = new Map(peers.map((peer) => [ruleToken(peer.policy, peer.direction, peer.rule), peer]))
    return {
      subjectOf: selectors.flatMap(({ policy, group, providers, rule }) =>
        rule === undefined ? [{ policy, group, providers }] : [],
      ),
      peerOf: [...byRule.values()],
    }
  },
})

/** Port groups and address sets of policies that a pod's NICs are to be in. */
export interface PolicyPlaces {
  readonly groups: readonly PolicyShare[]
  readonly sets: readonly (PodPolicies['peerOf'][number] & { readonly families: readonly Family[] })[]
}

interface PolicyViews {
  readonly podPolicies: ViewOf<typeof podPolicies>
  readonly policyFamilies: ViewOf<typeof policyFamilies>
}

/** Gives the places of a pod, by `namespace/name`. The sets of a policy are there in the families that it restricts. */
export function policyPlaces(
  pod: string,
  { podPolicies, policyFamilies }: PolicyViews,
): PolicyPlaces | undefined {
  const policies = podPolicies.get(pod)
  if (policies === undefined) return undefined
  return {
    groups: policies.subjectOf,
    sets: policies.peerOf.map((peer) => ({ ...peer, families: policyFamilies.get(peer.policy) ?? [] })),
  }
}

/** Whether a policy is about NICs of the provider: about all unless it says which. */
export function isAboutNic({ providers }: Pick<PolicyShare, 'providers'>, provider: string): boolean {
  return providers === undefined || providers.includes(provider)
}

function ruleToken(policy: string, direction: PolicyDirection, rule: number): string {
  return `${policy}/${direction}/${rule}`
}

interface PolicyUse {
  /** `policy/family` */
  readonly subjects: readonly string[]
  /** `policy/direction/rule/family` */
  readonly peers: readonly string[]
}

/** In which families a pod is what {@link podPolicies} says. */
const policyUses = rowTable({
  name: 'policy-uses',
  of: podPolicies,
  reads: { policyNics },
  row: ({ subjectOf, peerOf }, { policyNics }, pod): PolicyUse => {
    const nics = policyNics.get(pod) ?? []
    const familiesFor = (share: PolicyShare, isSubject: boolean): readonly Family[] =>
      nics
        .filter(({ provider }) => isAboutNic(share, provider) && (!isSubject || isOvnProvider(provider)))
        // A pod that waits for its addresses is restricted from its first moment on, and nobody's peer.
        .flatMap(({ families, isPlaced }) => (isSubject || isPlaced ? families : []))
    return {
      subjects: subjectOf.flatMap((share) =>
        familiesFor(share, true).map((family) => `${share.policy}/${family}`),
      ),
      peers: peerOf.flatMap((peer) =>
        familiesFor(peer, false).map(
          (family) => `${ruleToken(peer.policy, peer.direction, peer.rule)}/${family}`,
        ),
      ),
    }
  },
  indexes: { subject: ({ subjects }: PolicyUse) => subjects, peer: ({ peers }: PolicyUse) => peers },
})

/** The families that each policy restricts: those of the ports that it is for. */
export const policyFamilies = rowTable({
  name: 'policy-families',
  of: enforcedPolicies,
  reads: { policyUses },
  row: (_policy, { policyUses }, key): readonly Family[] =>
    ([4, 6] as const).filter((family) => policyUses.some('subject', `${key}/${family}`)),
})

/** The families in which there are peers of each rule, by policy: `direction/rule/family`. */
export const policyPeers = rowTable({
  name: 'policy-peers',
  of: enforcedPolicies,
  reads: { policyUses },
  row: ({ policy: { rules } }, { policyUses }, key): readonly string[] =>
    (['ingress', 'egress'] as const).flatMap((direction) =>
      (rules[direction] ?? []).flatMap(({ peers }, place) =>
        (peers?.pods ?? []).length === 0
          ? []
          : ([4, 6] as const)
              .filter((family) => policyUses.some('peer', `${ruleToken(key, direction, place)}/${family}`))
              .map((family) => `${direction}/${place}/${family}`),
      ),
    ),
})

/** The number that a pod has for a named port that a policy is about. */
interface PortUse {
  readonly uses: readonly { readonly at: string; readonly number: number }[]
}

const portUses = rowTable({
  name: 'port-uses',
  of: selectedPods,
  reads: { policySelectors, labelledPods },
  row: (keys, { policySelectors, labelledPods }, pod): PortUse | undefined => {
    const asked = keys.flatMap((key) => {
      const selector = policySelectors.get(key)
      return (selector?.ports ?? []).map((port) => ({
        port,
        at: portPlace(selector?.policy, selector?.rule, port),
      }))
    })
    if (asked.length === 0) return undefined
    const ports = labelledPods.get(pod)?.ports ?? []
    return {
      uses: asked.flatMap(({ at, port }) =>
        ports.filter(({ name }) => name === port).map(({ number }) => ({ at, number })),
      ),
    }
  },
  indexes: { at: ({ uses }: PortUse) => uses.map(({ at }) => at) },
})

/** The numbers of named ports that policies are about, by policy, rule (none for ingress), protocol and name. */
export const namedPorts = groupTable({
  name: 'named-ports',
  of: portUses,
  by: 'at',
  rows: (members, _views, at) => {
    const numbers = [...members.values()].flatMap(({ uses }) =>
      uses.filter((use) => use.at === at).map(({ number }) => number),
    )
    return [[at, [...new Set(numbers)].sort((a, b) => a - b)] as const]
  },
})

/** Where {@link namedPorts} has the numbers of a port. */
export function portPlace(
  policy = '',
  rule: { readonly direction: PolicyDirection; readonly place: number } | undefined,
  port: string,
): string {
  return rule === undefined ? `${policy}/${port}` : `${ruleToken(policy, rule.direction, rule.place)}/${port}`
}
