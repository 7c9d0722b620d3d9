import type { AdminPolicyKind } from '@kube-ovn/ovn-names'
import { describe, expect, it } from 'vitest'
import {
  adminPolicyRows,
  networkPolicyRows,
  parseAdminPolicy,
  parseEgressFirewall,
  parseMultiNetworkPolicy,
  parseNetworkPolicy,
  parseSecurityGroup,
  type ParsedAdminPolicy,
} from './index.ts'
import { policy, rulesOf, scene } from './network-policy.fixture.ts'

const newer = { newer: 1 }
const one = { matchLabels: { app: 'web' } }
const peer = { podSelector: one }

function toldBy({ problems }: Pick<ParsedAdminPolicy, 'problems'>): readonly string[] {
  return problems.map(({ details }) => {
    expect(details).toMatchObject({
      cure: expect.stringMatching(/^write none that this version does not know; until then /) as string,
    })
    return (details as { readonly field: string }).field
  })
}

describe.each([
  ['NetworkPolicy', parseNetworkPolicy],
  ['MultiNetworkPolicy', parseMultiNetworkPolicy],
])('a field of a %s that nobody knows', (_kind, parse) => {
  const annotations = { 'k8s.v1.cni.cncf.io/policy-for': 'storage' }
  const parsed = (spec: object): ReturnType<typeof parse> => parse(policy(spec, annotations))
  const nobody = { peers: { pods: [], blocks: [] }, ports: undefined }
  const known = { ports: [{ protocol: 'TCP', port: 80 }] }

  it.each<[field: string, rule: object]>([
    ['newer', { from: [peer], ...newer }],
    // What is known of egress is nothing that ingress has.
    ['to', { to: [peer] }],
    ['constructor', { constructor: 1 }],
    ['from[1].newer', { from: [peer, { ...peer, ...newer }] }],
    ['from[0].podSelector.newer', { from: [{ podSelector: { ...one, ...newer } }] }],
    [
      'from[0].namespaceSelector.matchExpressions[0].newer',
      { from: [{ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Exists', ...newer }] } }] },
    ],
    ['from[0].ipBlock.newer', { from: [{ ipBlock: { cidr: '10.0.0.0/8', ...newer } }] }],
    ['ports[0].newer', { ports: [{ port: 80, ...newer }] }],
  ])('has its rule allow nothing, and the others what they say: %s', (field, rule) => {
    const read = parsed({ ingress: [rule, known] })
    expect(toldBy(read)).toEqual([`spec.ingress[0].${field}`])
    expect(read.rules.ingress).toEqual([
      nobody,
      { peers: undefined, ports: [{ kind: 'numbers', protocol: 'tcp', from: 80, to: 80 }] },
    ])
  })

  it('has the policy allow nothing where it is about all of it', () => {
    const read = parsed({ podSelector: one, ingress: [known], ...newer })
    expect([toldBy(read), read.subject]).toEqual([['spec.newer'], one])
    expect(allowed(read)).toEqual([])
  })

  it('has it be for all pods, and allow nothing, where it is about whom it is for', () => {
    const read = parsed({ podSelector: { ...one, ...newer }, ingress: [known] })
    expect([toldBy(read), read.subject]).toEqual([['spec.podSelector.newer'], {}])
    expect(allowed(read)).toEqual([])
  })

  it('is told of egress as well', () => {
    const read = parsed({ egress: [{ to: [{ ...peer, ...newer }] }] })
    expect([toldBy(read), read.rules.egress]).toEqual([['spec.egress[0].to[0].newer'], [nobody]])
  })

  /** What is let in, while a drop stands. */
  function allowed(read: ReturnType<typeof parse>): readonly string[] {
    const everybody = { ...scene, families: [4 as const] }
    const acls = rulesOf(networkPolicyRows(read, everybody))
    expect(acls).toContainEqual(expect.objectContaining({ direction: 'to-lport', action: 'drop' }))
    // A rule that nobody meets is there in the original, too.
    expect(read.rules.ingress?.every(({ peers }) => peers?.pods.length === 0) ?? true).toBe(true)
    return acls.filter(({ match }) => match.includes('tcp.dst')).map(({ match }) => match)
  }
})

describe.each<[AdminPolicyKind, allow: string]>([
  ['anp', 'Allow'],
  ['banp', 'Allow'],
  ['cnp', 'Accept'],
])('a field of a policy of administrators that nobody knows, %s,', (kind, allow) => {
  const namespaces = { namespaces: {} }
  const parsed = (spec: object): ParsedAdminPolicy => {
    const tier = kind === 'cnp' ? { tier: 'Admin' } : {}
    return parseAdminPolicy(kind, {
      metadata: { name: 'web' },
      spec: { priority: 1, subject: namespaces, ...tier, ...spec },
    })
  }
  const shown = (read: ParsedAdminPolicy): readonly string[] => {
    const { acls, sets } = adminPolicyRows(read, {
      ...{ kind, name: 'web', group: 'web', families: [4], place: read.place, stopsOpenConnections: false },
      ...{ addressesOf: () => [], numbersOf: () => [] },
    })
    const addresses = new Map(sets.map((set) => [set.name, set.addresses.join()]))
    return acls.map(({ action, match }) => {
      const [, set = ''] = /\$([^ ]+)/.exec(match) ?? []
      return `${action} ${addresses.get(set) ?? ''}${/ [a-z]+\.dst .*/.exec(match)?.[0] ?? ''}`.trim()
    })
  }
  const rules: readonly (readonly [field: string, rule: object])[] = [
    ['newer', { from: [namespaces], ...newer }],
    ['to', { from: [namespaces], to: [namespaces] }],
    ['from[1].newer', { from: [namespaces, newer] }],
    ['from[0].namespaces.newer', { from: [{ namespaces: newer }] }],
    ['from[0].pods.newer', { from: [{ pods: newer }] }],
    ['from[0].pods.podSelector.newer', { from: [{ pods: { podSelector: newer } }] }],
    ['ports[0].newer', { from: [namespaces], ports: [{ namedPort: 'http', ...newer }] }],
    [
      'ports[0].portNumber.newer',
      { from: [namespaces], ports: [{ portNumber: { protocol: 'TCP', port: 80, ...newer } }] },
    ],
    ['protocols[0].icmp', { from: [namespaces], protocols: [{ icmp: {} }] }],
    [
      'protocols[0].tcp.sourcePort',
      { from: [namespaces], protocols: [{ tcp: { destinationPort: { number: 80 }, sourcePort: 1 } }] },
    ],
  ]

  it.each(rules)('has a rule that denies deny everybody everything: %s', (field, rule) => {
    const read = parsed({ ingress: [{ action: 'Deny', ...rule }] })
    expect([toldBy(read), shown(read)]).toEqual([[`spec.ingress[0].${field}`], ['drop 0.0.0.0/0']])
  })

  it.each(rules)('has a rule that allows allow nothing, and the others what they say: %s', (field, rule) => {
    const other = { action: allow, from: [namespaces] }
    const read = parsed({ ingress: [{ action: allow, ...rule }, other] })
    expect([toldBy(read), shown(read)]).toEqual([[`spec.ingress[0].${field}`], ['allow-related']])
  })

  it('leaves what is denied in effect where it is about all of the policy', () => {
    const ingress = [
      { action: allow, from: [namespaces] },
      { action: 'Deny', from: [namespaces] },
    ]
    for (const [field, spec] of [
      ['spec.newer', newer],
      ['spec.subject.newer', { subject: { ...namespaces, ...newer } }],
      ['spec.subject.namespaces.newer', { subject: { namespaces: newer } }],
    ] as const) {
      const read = parsed({ ingress, ...spec })
      expect([toldBy(read), shown(read), read.subject === undefined]).toEqual([[field], ['drop'], false])
    }
  })
})

describe('a field of an EgressFirewall that nobody knows', () => {
  const all = { cidrSelector: '0.0.0.0/0' }
  const parsed = (spec: object): ReturnType<typeof parseEgressFirewall> =>
    parseEgressFirewall({ metadata: { name: 'default', namespace: 'shop' }, spec: { egress: [], ...spec } })
  const shown = ({ rules }: ReturnType<typeof parsed>): readonly string[] =>
    rules.map(({ action, to, ports }) => `${action} ${to.kind}${ports === undefined ? '' : ' ports'}`)
  const rules: readonly (readonly [field: string, rule: object])[] = [
    ['newer', { to: all, ...newer }],
    ['to.newer', { to: { ...all, ...newer } }],
    ['to.nodeSelector.newer', { to: { nodeSelector: { ...one, ...newer } } }],
    ['ports[0].endPort', { to: all, ports: [{ protocol: 'TCP', port: 80, endPort: 90 }] }],
  ]

  it.each(rules)('has a rule that denies deny everything: %s', (field, rule) => {
    const read = parsed({ egress: [{ type: 'Deny', ...rule }] })
    expect([toldBy(read), shown(read)]).toEqual([[`spec.egress[0].${field}`], ['drop all']])
  })

  it.each(rules)('has a rule that allows allow nothing, and the others what they say: %s', (field, rule) => {
    const read = parsed({
      egress: [
        { type: 'Allow', ...rule },
        { type: 'Allow', to: all },
      ],
    })
    expect([toldBy(read), shown(read)]).toEqual([[`spec.egress[0].${field}`], ['pass nobody', 'pass prefix']])
  })

  it('leaves what is denied in effect where it is about all of the firewall', () => {
    const egress = ['Allow', 'Deny'].map((type) => ({ type, to: all }))
    const read = parsed({ egress, ...newer })
    expect([toldBy(read), shown(read)]).toEqual([['spec.newer'], ['pass nobody', 'drop prefix']])
  })
})

describe('a field of a SecurityGroup that nobody knows', () => {
  const any = {
    ...{ ipVersion: 'ipv4', protocol: 'all', priority: 10 },
    ...{ remoteType: 'address', remoteAddress: '10.0.0.0/8' },
  }
  const shown = ({ rules, sameGroup }: ReturnType<typeof parseSecurityGroup>): readonly string[] => [
    ...rules.ingress.map(({ action, priority }) => `${action} ${priority}`),
    ...sameGroup,
  ]

  it.each<[policy: string, left: readonly string[]]>([
    ['allow', ['drop 10', 'allow-related 20', 'ingress', 'egress']],
    // What it may have forbidden is allowed by none behind it.
    ['drop', ['drop 10', 'egress']],
    ['pass', ['drop 10', 'egress']],
  ])('has its rule not be in effect: %s', (policy, left) => {
    const read = parseSecurityGroup({
      spec: {
        allowSameGroupTraffic: true,
        ingressRules: [
          { ...any, policy, ...newer },
          { ...any, policy: 'drop' },
          { ...any, policy: 'allow', priority: 20 },
        ],
      },
    })
    expect([toldBy(read), shown(read)]).toEqual([['spec.ingressRules[0].newer'], left])
  })

  it('leaves what is forbidden in effect where it is about all of the group', () => {
    const ingressRules = ['allow', 'pass', 'drop'].map((policy, at) => ({ ...any, policy, priority: at + 1 }))
    const spec = { allowSameGroupTraffic: true, ingressRules, ...newer }
    const read = parseSecurityGroup({ spec })
    expect([toldBy(read), shown(read)]).toEqual([['spec.newer'], ['drop 3']])
  })
})
