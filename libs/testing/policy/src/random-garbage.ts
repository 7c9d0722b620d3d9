import type { MultiNetworkPolicy } from '@kube-ovn/kube-api'
import type { Random } from './random.ts'

type Written = Readonly<Record<string, unknown>>

/** What users write, and no API server refuses. */
const garbage: readonly ((spec: Written) => unknown)[] = [
  () => null,
  (spec) => ({
    ...spec,
    podSelector: { matchExpressions: [{ key: 'app', operator: 'in', values: ['web'] }] },
  }),
  (spec) => ({ ...spec, podSelector: { matchLabels: { app: 1 } } }),
  (spec) => ({ ...spec, podSelector: { app: 'web' } }),
  (spec) => ({ ...spec, policyTypes: ['egress'] }),
  (spec) => ({ ...spec, policyTypes: ['Egres'] }),
  (spec) => ({ ...spec, policyTypes: 'Ingress' }),
  (spec) => ({ ...spec, ingress: [null, {}] }),
  (spec) => ({ ...spec, ingress: [{ form: [] }, ...listOf(spec['ingress'])] }),
  (spec) => ({ ...spec, ingress: [{ from: null }] }),
  (spec) => ({ ...spec, ingress: [{ from: [{ podSelector: {}, ipBlock: { cidr: '0.0.0.0/0' } }] }] }),
  (spec) => ({ ...spec, ingress: [{ from: [{}, { podSelector: null, namespaceSelector: {} }] }] }),
  (spec) => ({ ...spec, egress: [{ ports: [{ protocol: 'TCP', endPort: 80 }] }, ...listOf(spec['egress'])] }),
  (spec) => ({ ...spec, egress: [{ ports: [{ protocol: 'tcp', port: 80 }, { port: '80' }] }] }),
  (spec) => ({ ...spec, egress: 'all' }),
  (spec) => ({ ...spec, tier: 1 }),
]

/** The policy with something in it that can not be read. */
export function spoilt(random: Random, { spec = {}, ...policy }: MultiNetworkPolicy): MultiNetworkPolicy {
  const spoil = random.among(garbage)
  const written: unknown = spoil?.({ ...spec }) ?? null
  return { ...policy, spec: written as NonNullable<MultiNetworkPolicy['spec']> }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
