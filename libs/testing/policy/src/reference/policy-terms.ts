import type {
  KubeObject,
  LabelSelector,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '@kube-ovn/kube-api/core'
import type { Direction } from './known.ts'
import { firstNetwork } from './nics.ts'

/** What a NetworkPolicy or a MultiNetworkPolicy says. */
export interface PolicyTerms {
  readonly namespace: string | undefined
  /** Of NICs that it is for, and of those that are peers by their pods; `undefined` where it is about all. */
  readonly networks: readonly string[] | undefined
  readonly podSelector: LabelSelector
  readonly restricted: readonly Direction[]
  /** It is about TCP, UDP and SCTP alone; `undefined` where it does not say so. */
  readonly isLax: boolean | undefined
  readonly rules: Readonly<Record<Direction, readonly PolicyRuleTerms[]>>
}

/** `undefined` stands for everybody and everything, an empty list for nobody and nothing. */
export interface PolicyRuleTerms {
  readonly peers: readonly NetworkPolicyPeer[] | undefined
  readonly ports: readonly NetworkPolicyPort[] | undefined
}

/** Without any of policyTypes ingress is restricted, and egress where there are rules for it. */
export function networkPolicyTerms(policy: NetworkPolicy): PolicyTerms {
  const { podSelector = {}, policyTypes = [], ingress = [], egress = [] } = policy.spec ?? {}
  const types = policyTypes.length > 0 ? policyTypes : ['Ingress', ...(egress.length > 0 ? ['Egress'] : [])]
  return {
    ...{ namespace: policy.metadata.namespace, networks: networksOf(policy), podSelector },
    restricted: (['ingress', 'egress'] as const).filter((direction) =>
      types.includes(direction === 'ingress' ? 'Ingress' : 'Egress'),
    ),
    isLax: isLax(policy),
    rules: {
      ingress: ingress.map(({ from, ports }) => ({ peers: unlessEmpty(from), ports: unlessEmpty(ports) })),
      egress: egress.map(({ to, ports }) => ({ peers: unlessEmpty(to), ports: unlessEmpty(ports) })),
    },
  }
}

/** @see docs/reference/annotations.md: what names no network is about none, and a policy that says nothing of networks about all */
function networksOf({ metadata }: NetworkPolicy): readonly string[] | undefined {
  const words = listed(metadata.annotations?.['ovn.kubernetes.io/network_policy_for'])
  if (words.length === 0) return undefined
  return words.flatMap((word) => {
    if (word.toLowerCase() === firstNetwork) return [firstNetwork]
    return /^[^/]+\/[^/]+$/.test(word) ? [word] : []
  })
}

export function isLax({ metadata }: KubeObject): boolean | undefined {
  const text = metadata.annotations?.['ovn.kubernetes.io/network_policy_enforcement']
  return text === undefined ? undefined : text === 'lax'
}

export function unlessEmpty<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list === undefined || list.length === 0 ? undefined : list
}

/** Names in an annotation, separated by commas. */
export function listed(text = ''): readonly string[] {
  const words = text.split(',').map((word) => word.trim())
  return words.filter((word) => word !== '')
}
