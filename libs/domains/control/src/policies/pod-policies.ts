import { isOvnProvider, networkOfNic } from '@kube-ovn/annotations'
import type { Family } from '@kube-ovn/ip'
import { groupTable, rowTable, selectionTable, unionTable, type ViewOf } from '@kube-ovn/tables'
import { adminPolicies, adminPolicySelectors } from './admin-policies.ts'
import { firewallSelectors } from './egress-firewalls.ts'
import { labelledPods, policyNics } from './labelled-pods.ts'
import { enforcedPolicies, networkPolicySelectors } from './network-policies.ts'
import {
  policyToken,
  portPlace,
  ruleToken,
  type PolicyRuleShare,
  type PolicyShare,
} from './policy-selectors.ts'

/** Selectors of policies of all APIs. */
const policySelectors = unionTable({
  name: 'policy-selectors',
  of: { np: networkPolicySelectors, admin: adminPolicySelectors, firewall: firewallSelectors },
})

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
  readonly peerOf: readonly PolicyRuleShare[]
}

/** What each pod is to policies, by `namespace/name`; none where no policy is for it or about it. */
export const podPolicies = rowTable({
  name: 'pod-policies',
  of: selectedPods,
  reads: { policySelectors },
  row: (keys, { policySelectors }): PodPolicies => {
    const selectors = keys.flatMap((key) => policySelectors.get(key) ?? [])
    const peers = selectors.flatMap(({ rule, isPeer }) => (rule === undefined || !isPeer ? [] : [rule]))
    const byRule = new Map(peers.map((peer) => [ruleToken(peer, peer.direction, peer.rule), peer]))
    return {
      subjectOf: selectors.flatMap(({ share, rule }) => (rule === undefined ? [share] : [])),
      peerOf: [...byRule.values()],
    }
  },
})

/** Port groups and address sets of policies that a pod's NICs are to be in. */
export interface PolicyPlaces {
  readonly groups: readonly PolicyShare[]
  readonly sets: readonly (PolicyRuleShare & { readonly families: readonly Family[] })[]
}

interface PolicyViews {
  readonly podPolicies: ViewOf<typeof podPolicies>
  readonly policyFamilies: ViewOf<typeof policyFamilies>
}

const bothFamilies = [4, 6] as const

/** Gives the places of a pod, by `namespace/name`. The sets of a NetworkPolicy are there in the families that it restricts. */
export function policyPlaces(
  pod: string,
  { podPolicies, policyFamilies }: PolicyViews,
): PolicyPlaces | undefined {
  const policies = podPolicies.get(pod)
  if (policies === undefined) return undefined
  return {
    groups: policies.subjectOf,
    sets: policies.peerOf.map((peer) => ({
      ...peer,
      families: peer.kind === 'np' ? (policyFamilies.get(peer.policy) ?? []) : bothFamilies,
    })),
  }
}

/** Whether a policy is about NICs of the provider: about all unless it says in which networks. */
export function isAboutNic({ providers }: Pick<PolicyShare, 'providers'>, provider: string): boolean {
  return providers === undefined || providers.includes(networkOfNic(provider))
}

/** Whether policies can be for NICs of the provider, and not only about them. */
export function isRestrictable(provider: string): boolean {
  return isOvnProvider(networkOfNic(provider))
}

interface PolicyUse {
  /** `policy/family` */
  readonly subjects: readonly string[]
  /** `policy/direction/rule/family`, of NetworkPolicies. */
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
        .filter(({ provider }) => isAboutNic(share, provider) && (!isSubject || isRestrictable(provider)))
        // A pod that waits for its addresses is restricted from its first moment on, and nobody's peer.
        .flatMap(({ families, isPlaced }) => (isSubject || isPlaced ? families : []))
    return {
      subjects: subjectOf.flatMap((share) =>
        familiesFor(share, true).map((family) => `${policyToken(share)}/${family}`),
      ),
      peers: peerOf
        .filter(({ kind }) => kind === 'np')
        .flatMap((peer) => {
          const token = ruleToken(peer, peer.direction, peer.rule)
          return familiesFor(peer, false).map((family) => `${token}/${family}`)
        }),
    }
  },
  indexes: { subject: ({ subjects }: PolicyUse) => subjects, peer: ({ peers }: PolicyUse) => peers },
})

interface UseViews {
  readonly policyUses: ViewOf<typeof policyUses>
}

function familiesOfPolicy(kind: 'np' | 'admin', policy: string, { policyUses }: UseViews): readonly Family[] {
  return bothFamilies.filter((family) =>
    policyUses.some('subject', `${policyToken({ kind, policy })}/${family}`),
  )
}

/** The families that each NetworkPolicy restricts: those of the ports that it is for. */
export const policyFamilies = rowTable({
  name: 'policy-families',
  of: enforcedPolicies,
  reads: { policyUses },
  row: (_policy, views, key) => familiesOfPolicy('np', key, views),
})

/** The same of policies of administrators. */
export const adminPolicyFamilies = rowTable({
  name: 'admin-policy-families',
  of: adminPolicies,
  reads: { policyUses },
  row: (_policy, views, key) => familiesOfPolicy('admin', key, views),
})

/** The families in which there are peers of each rule, by NetworkPolicy: `direction/rule/family`. */
export const policyPeers = rowTable({
  name: 'policy-peers',
  of: enforcedPolicies,
  reads: { policyUses },
  row: ({ policy: { rules } }, { policyUses }, policy): readonly string[] =>
    (['ingress', 'egress'] as const).flatMap((direction) =>
      (rules[direction] ?? []).flatMap(({ peers }, place) =>
        (peers?.pods ?? []).length === 0
          ? []
          : bothFamilies
              .filter((family) =>
                policyUses.some('peer', `${ruleToken({ kind: 'np', policy }, direction, place)}/${family}`),
              )
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
    const asked = keys
      .flatMap((key) => policySelectors.get(key) ?? [])
      .flatMap(({ share, rule, ports }) => ports.map((port) => ({ port, at: portPlace(share, rule, port) })))
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
