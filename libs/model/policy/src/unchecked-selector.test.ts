import type { AdminPolicySubject } from '@kube-ovn/kube-api'
import type { LabelSelector } from '@kube-ovn/kube-api/core'
import { describe, expect, it } from 'vitest'
import { parseAdminPolicy, parseEgressFirewall, parseNetworkPolicy, type ParsedAdminPolicy } from './index.ts'
import { policy } from './network-policy.fixture.ts'

/** What definitions of APIs let pass, or a newer version of one knows: each would select nobody, or everybody. */
const odd: readonly [field: string, selector: LabelSelector][] = [
  ['operator', { matchExpressions: [{ key: 'team', operator: 'in', values: ['red'] }] }],
  ['operator', { matchExpressions: [{ key: 'team', operator: 'Gt', values: ['1'] }] }],
  ['values', { matchExpressions: [{ key: 'team', operator: 'NotIn' }] }],
  ['values', { matchExpressions: [{ key: 'team', operator: 'In', values: [] }] }],
  ['values', { matchExpressions: [{ key: 'team', operator: 'Exists', values: ['red'] }] }],
]

function fieldsOf({ problems }: Pick<ParsedAdminPolicy, 'problems'>): readonly string[] {
  return problems.map(({ details }) => (details as { readonly field: string }).field)
}

describe.each(odd)('a selector of which %s can not be read: %j', (part, selector) => {
  const place = `matchExpressions[0].${part}`

  it.each<[what: string, peer: AdminPolicySubject & { readonly nodes?: LabelSelector }]>([
    ['namespaces', { namespaces: selector }],
    ['pods.podSelector', { pods: { podSelector: selector, namespaceSelector: {} } }],
    ['pods.namespaceSelector', { pods: { podSelector: {}, namespaceSelector: selector } }],
    ['nodes', { nodes: selector }],
  ])('has an administrator allow nobody by it, and deny everybody: %s', (what, peer) => {
    const to = [{ namespaces: {} }, peer]
    const subject = { namespaces: {} }
    const read = parseAdminPolicy('anp', {
      metadata: { name: 'guard' },
      spec: { priority: 1, subject, egress: ['Allow', 'Deny', 'Pass'].map((action) => ({ action, to })) },
    })
    expect(fieldsOf(read)).toEqual([0, 1, 2].map((rule) => `spec.egress[${rule}].to[1].${what}.${place}`))
    expect(
      read.rules.egress.map(({ action, peers: { isAll, pods, nodes } }) => [action, isAll, pods, nodes]),
    ).toEqual([
      ['allow-related', false, [{ pods: {}, namespaces: {} }], []],
      ['drop', true, [{ pods: {}, namespaces: {} }], []],
      ['drop', true, [{ pods: {}, namespaces: {} }], []],
    ])
  })

  it('has a policy of an administrator be for no pod, and tell it', () => {
    const read = parseAdminPolicy('banp', {
      metadata: { name: 'default' },
      spec: { subject: { pods: { podSelector: selector, namespaceSelector: {} } }, ingress: [] },
    })
    expect([fieldsOf(read), read.subject]).toEqual([[`spec.subject.pods.podSelector.${place}`], undefined])
  })

  it('has a firewall allow nobody by it, and deny everything outside', () => {
    const to = { nodeSelector: selector }
    const read = parseEgressFirewall({
      metadata: { name: 'default' },
      spec: {
        egress: [
          { type: 'Allow', to },
          { type: 'Deny', to },
        ],
      },
    })
    expect(fieldsOf(read)).toEqual([0, 1].map((rule) => `spec.egress[${rule}].to.nodeSelector.${place}`))
    expect(read.rules.map(({ action, to: { kind } }) => [action, kind])).toEqual([
      ['pass', 'nobody'],
      ['drop', 'all'],
    ])
  })

  it('has a NetworkPolicy be for all pods of its namespace and allow nothing, or a peer be nobody', () => {
    const whole = parseNetworkPolicy(policy({ podSelector: selector, ingress: [{}] }))
    expect([fieldsOf(whole), whole.subject, whole.rules]).toEqual([
      [`spec.podSelector.${place}`],
      {},
      { ingress: [] },
    ])
    const rule = parseNetworkPolicy(policy({ ingress: [{ from: [{ podSelector: selector }] }] }))
    expect([fieldsOf(rule), rule.rules]).toEqual([
      [`spec.ingress[0].from[0].podSelector.${place}`],
      { ingress: [{ peers: { pods: [], blocks: [] }, ports: undefined }] },
    ])
  })
})

it('has a NetworkPolicy of a type that is not known restrict both directions', () => {
  const read = parseNetworkPolicy(policy({ policyTypes: ['Forward'] }))
  expect([fieldsOf(read), read.rules]).toEqual([['spec.policyTypes[0]'], { ingress: [], egress: [] }])
})
