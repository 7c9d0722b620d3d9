import type { MultiNetworkPolicy } from '@kube-ovn/kube-api'
import type { LabelSelector, NetworkPolicyPeer, NetworkPolicyPort } from '@kube-ovn/kube-api/core'
import type { Direction } from './known.ts'
import { isLax, listed, unlessEmpty, type PolicyRuleTerms, type PolicyTerms } from './policy-terms.ts'

/**
 * What a MultiNetworkPolicy says: what a NetworkPolicy does, of the networks alone that its annotation names. No API server has looked into it. What
 * can not be read allows nothing, and restricts whatever it may be meant for.
 *
 * @see https://github.com/k8snetworkplumbingwg/multi-networkpolicy and docs/user/policies.md
 */
export function multiNetworkPolicyTerms(policy: MultiNetworkPolicy): PolicyTerms {
  const { namespace = '', annotations } = policy.metadata
  const { spec }: { readonly spec?: unknown } = policy
  const written = isObject(spec) ? spec : { podSelector: null, policyTypes: null }
  const { podSelector = {}, ...rest } = written
  const isOpen = isSelector(podSelector) && hasOnly(rest, 'policyTypes', 'ingress', 'egress')
  return {
    namespace,
    networks: listed(annotations?.['k8s.v1.cni.cncf.io/policy-for']).map((word) =>
      word.includes('/') ? word : `${namespace}/${word}`,
    ),
    podSelector: isSelector(podSelector) ? podSelector : {},
    restricted: restrictedBy(rest),
    isLax: isLax(policy),
    rules: {
      ingress: isOpen ? rulesOf(rest['ingress'], 'from') : [],
      egress: isOpen ? rulesOf(rest['egress'], 'to') : [],
    },
  }
}

type Written = Readonly<Record<string, unknown>>

const directions = ['ingress', 'egress'] as const

function restrictedBy({ policyTypes = [], egress = [] }: Written): readonly Direction[] {
  if (!Array.isArray(policyTypes)) return directions
  if (policyTypes.length === 0) return Array.isArray(egress) && egress.length === 0 ? ['ingress'] : directions
  const meant = (policyTypes as readonly unknown[]).map((type) => (isText(type) ? type.toLowerCase() : ''))
  return directions.filter((direction) =>
    meant.some((type) => type === direction || !['ingress', 'egress'].includes(type)),
  )
}

/** A rule of which something is not known is about nobody. */
function rulesOf(written: unknown = [], side: 'from' | 'to'): readonly PolicyRuleTerms[] {
  if (!Array.isArray(written)) return []
  return (written as readonly unknown[]).filter(isObject).flatMap((rule) => {
    if (!hasOnly(rule, side, 'ports')) return []
    const { [side]: peers, ports } = rule
    return [{ peers: readable(peers, isPeer), ports: readable(ports, isPort) }]
  })
}

/** What is absent or empty stands for all; that of which nothing can be read for none. */
function readable<T>(written: unknown, is: (one: unknown) => one is T): readonly T[] | undefined {
  if (written === undefined) return undefined
  const list: readonly unknown[] | undefined = Array.isArray(written) ? written : [undefined]
  return unlessEmpty(list)?.filter(is)
}

function isPeer(one: unknown): one is NetworkPolicyPeer {
  if (!isObject(one) || !hasOnly(one, 'ipBlock', 'podSelector', 'namespaceSelector')) return false
  const { ipBlock, ...selectors } = one
  const given = Object.values(selectors)
  if (ipBlock === undefined) return given.length > 0 && given.every(isSelector)
  if (given.length > 0 || !isObject(ipBlock)) return false
  const { cidr, except = [] } = ipBlock
  return isText(cidr) && Array.isArray(except) && except.every(isText)
}

function isPort(one: unknown): one is NetworkPolicyPort {
  if (!isObject(one)) return false
  const { protocol = 'TCP', port, endPort } = one
  if (!isText(protocol)) return false
  if (port === undefined) return endPort === undefined
  return (isText(port) || typeof port === 'number') && (endPort === undefined || typeof endPort === 'number')
}

function isSelector(one: unknown): one is LabelSelector {
  if (!isObject(one) || !hasOnly(one, 'matchLabels', 'matchExpressions')) return false
  const { matchLabels = {}, matchExpressions = [] } = one
  return (
    isObject(matchLabels) &&
    Object.values(matchLabels).every(isText) &&
    Array.isArray(matchExpressions) &&
    (matchExpressions as readonly unknown[]).every(isRequirement)
  )
}

function isRequirement(one: unknown): boolean {
  if (!isObject(one) || !isText(one['key'])) return false
  const { operator, values } = one
  if (operator === 'Exists' || operator === 'DoesNotExist') return true
  const isList = Array.isArray(values) && values.length > 0 && values.every(isText)
  return (operator === 'In' || operator === 'NotIn') && isList
}

function isObject(one: unknown): one is Written {
  return typeof one === 'object' && one !== null && !Array.isArray(one)
}

function isText(one: unknown): one is string {
  return typeof one === 'string'
}

function hasOnly(one: Written, ...fields: readonly string[]): boolean {
  return Object.keys(one).every((field) => fields.includes(field))
}
