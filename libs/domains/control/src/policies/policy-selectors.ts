import type { LabelSelector } from '@kube-ovn/label-selector'
import type { PolicyDirection } from '@kube-ovn/ovn-names'
import type { PodSelection, PolicyPort } from '@kube-ovn/policy'
import type { Family } from '@kube-ovn/ip'
import { podLabels } from './labelled-pods.ts'

/** A policy of any API: whether it is a NetworkPolicy, one of an administrator or an EgressFirewall, and its key among these. */
export interface PolicyRef {
  readonly kind: 'np' | 'admin' | 'firewall'
  readonly policy: string
}

/** What pods that policies are for have of them. */
export interface PolicyShare extends PolicyRef {
  /** Name of its port group. */
  readonly group: string
  readonly providers: readonly string[] | undefined
}

/** A rule that is about pods, and the sets that their addresses are in. */
export interface PolicyRuleShare extends PolicyShare {
  readonly direction: PolicyDirection
  readonly rule: number
  readonly setNames: Readonly<Record<Family, string>>
}

/** What pods are to a policy: those that it is for, those that a rule is about, or those that a rule without peers has named ports of. */
export interface PolicySelector {
  readonly share: PolicyShare
  readonly rule: PolicyRuleShare | undefined
  readonly isPeer: boolean
  /** Absent for pods of all namespaces. */
  readonly namespace: string | undefined
  readonly selector: LabelSelector
  /** Named ports of these pods that rules are about, as `protocol/name`. */
  readonly ports: readonly string[]
}

/** A policy, as far as its selectors depend on it. */
interface SelectingPolicy {
  /** How its selectors are told from those of others. */
  readonly key: string
  readonly share: PolicyShare
  /** Its own; absent where it is in none. */
  readonly namespace: string | undefined
  readonly subject: PodSelection | undefined
  readonly rules: { readonly [D in PolicyDirection]?: readonly SelectingRule[] }
  setName(direction: PolicyDirection, rule: number, family: Family): string
}

interface SelectingRule {
  readonly peers: { readonly pods: readonly PodSelection[] } | undefined
  readonly ports: readonly PolicyPort[] | undefined
}

/** Gives the selectors of a policy, by keys that no other policy of its kind has. */
export function selectorsOf({
  key,
  share,
  namespace,
  subject,
  rules,
  setName,
}: SelectingPolicy): readonly (readonly [string, PolicySelector])[] {
  if (subject === undefined) return []
  const own: PolicySelector = {
    ...{ share, rule: undefined, isPeer: false, ...joined(subject, namespace) },
    ports: (rules.ingress ?? []).flatMap(({ ports }) => namedPortsOf(ports)),
  }
  const peers = (['ingress', 'egress'] as const).flatMap((direction) =>
    (rules[direction] ?? []).flatMap(
      ({ peers: of, ports }, at): readonly (readonly [string, PolicySelector])[] => {
        const setNames = { 4: setName(direction, at, 4), 6: setName(direction, at, 6) }
        const rule: PolicyRuleShare = { ...share, direction, rule: at, setNames }
        const named = direction === 'egress' ? namedPortsOf(ports) : []
        // Without peers it is about everybody, and blocks name no pods. Which number is meant then only pods of its own namespace say:
        // strangers' must not widen it.
        if (of === undefined || (namespace !== undefined && of.pods.length === 0))
          return named.length === 0
            ? []
            : [
                [
                  `${key}/${direction}/${at}/any`,
                  {
                    ...{
                      share,
                      rule,
                      isPeer: false,
                      ...joined({ pods: {}, namespaces: undefined }, namespace),
                    },
                    ports: named,
                  },
                ],
              ]
        return of.pods.map((selection, which): readonly [string, PolicySelector] => [
          `${key}/${direction}/${at}/${which}`,
          { ...{ share, rule, isPeer: true, ...joined(selection, namespace) }, ports: named },
        ])
      },
    ),
  )
  return [[key, own], ...peers]
}

function namedPortsOf(ports: readonly PolicyPort[] | undefined): readonly string[] {
  return (ports ?? []).flatMap((port) => (port.kind === 'named' ? [`${port.protocol}/${port.name}`] : []))
}

function joined(
  { pods, namespaces }: PodSelection,
  own: string | undefined,
): Pick<PolicySelector, 'namespace' | 'selector'> {
  return namespaces === undefined
    ? { namespace: own, selector: podLabels.pods(pods) }
    : { namespace: undefined, selector: podLabels.both(pods, namespaces) }
}

/** Stands for a policy in values of indexes. */
export function policyToken({ kind, policy }: PolicyRef): string {
  return `${kind}/${policy}`
}

export function ruleToken(of: PolicyRef, direction: PolicyDirection, rule: number): string {
  return `${policyToken(of)}/${direction}/${rule}`
}

/** Where the numbers of a named port are: those of a rule's peers, or without a rule those of the ports that the policy is for. */
export function portPlace(
  of: PolicyRef,
  rule: { readonly direction: PolicyDirection; readonly rule: number } | undefined,
  port: string,
): string {
  return rule === undefined
    ? `${policyToken(of)}/${port}`
    : `${ruleToken(of, rule.direction, rule.rule)}/${port}`
}
