import type { Cidr, Family } from '@kube-ovn/ip'
import type { LabelSelector } from '@kube-ovn/label-selector'
import type { Transport } from '@kube-ovn/ovn-match'
import type { PolicyDirection } from '@kube-ovn/ovn-names'

/** Which pods: those that both selectors select. Without a selector of namespaces it is about the policy's own. */
export interface PodSelection {
  readonly pods: LabelSelector
  readonly namespaces: LabelSelector | undefined
}

/** Addresses outside of the pods' world: a prefix but for parts of it. */
export interface AddressBlock {
  readonly prefix: Cidr
  readonly except: readonly Cidr[]
}

/** What a port of a rule says. */
export type PolicyPort =
  | { readonly kind: 'any'; readonly protocol: Transport }
  | {
      readonly kind: 'numbers'
      readonly protocol: Transport
      readonly from: number
      /** The last one that counts. */
      readonly to: number
    }
  | { readonly kind: 'named'; readonly protocol: Transport; readonly name: string }

/** Traffic that a policy is about: any of the peers, on any of the ports. */
export interface PolicyRule {
  /** Absent where it is about everybody. */
  readonly peers:
    { readonly pods: readonly PodSelection[]; readonly blocks: readonly AddressBlock[] } | undefined
  /** Absent where it is about all ports and protocols. */
  readonly ports: readonly PolicyPort[] | undefined
}

/** The rules of each direction that a policy is about; what none of them names is denied there. */
export type PolicyRules = { readonly [D in PolicyDirection]?: readonly PolicyRule[] }

export function blocksOf(rule: PolicyRule, family: Family): readonly AddressBlock[] {
  return rule.peers?.blocks.filter(({ prefix }) => prefix.family === family) ?? []
}
