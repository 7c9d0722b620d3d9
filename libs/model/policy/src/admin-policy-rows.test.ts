import type { AdminNetworkPolicy } from '@kube-ovn/kube-api'
import type { AdminPolicyKind } from '@kube-ovn/ovn-names'
import { describe, expect, it } from 'vitest'
import { adminPolicyRows, parseAdminPolicy, type AdminPolicyScene } from './index.ts'

type Spec = NonNullable<AdminNetworkPolicy['spec']>
type Rule = NonNullable<Spec['ingress']>[number]

const all = [{ namespaces: {} }]

interface Shown {
  readonly acls: readonly string[]
  /** Tiers in which connections are passed on to them. */
  readonly passages: readonly string[]
  readonly sets: Readonly<Record<string, readonly string[]>>
  readonly problems: readonly string[]
}

/** ACLs and filled sets of IPv4, and the fields without effect. */
function shown(
  kind: AdminPolicyKind,
  spec: object,
  given: Partial<AdminPolicyScene> = {},
  { log = '', followsNames = false } = {},
): Shown {
  const policy = parseAdminPolicy(
    kind,
    {
      metadata: { name: 'web', annotations: { 'ovn.kubernetes.io/log_acl_actions': log } },
      spec: { priority: 1, subject: { namespaces: {} }, ...(spec as Spec) },
    },
    { followsNames },
  )
  const { acls, sets } = adminPolicyRows(policy, {
    ...{ kind, name: 'web', group: 'web', families: [4], place: policy.place, stopsOpenConnections: true },
    addressesOf: () => [],
    numbersOf: (_direction, _rule, protocol) => (protocol === 'tcp' ? [80, 81] : []),
    ...given,
  })
  const isPassage = ({ priority, match: matched }: (typeof acls)[number]): boolean =>
    priority === 1 && matched === 'outport == @web && ip'
  return {
    passages: acls.filter(isPassage).map(({ direction, tier, action }) => `${direction} ${tier} ${action}`),
    acls: acls
      .filter((acl) => !isPassage(acl))
      .map(
        ({ direction, tier, priority, match, action, isLogged }) =>
          `${direction} ${tier} ${priority} ${match} ${action}${isLogged ? ' log' : ''}`,
      ),
    sets: Object.fromEntries(
      sets.flatMap(({ name, addresses }) => (addresses.length === 0 ? [] : [[name, addresses]])),
    ),
    problems: policy.problems.map(({ details }) => String((details as { field?: string }).field)),
  }
}

const ingress = (...rules: readonly (Rule | object)[]) => ({ ingress: rules })
const match = (rule = 0) => `outport == @web && ip && ip4.src == $web.ingress.${rule}..IPv4`

describe('a rule', () => {
  it.each<[kind: AdminPolicyKind, spec: object, want: readonly string[]]>([
    ['anp', ingress({ action: 'Allow', from: all }), [`to-lport 1 29900 ${match()} allow-related`]],
    [
      'anp',
      { ...ingress({ action: 'Deny', from: all }), priority: 99 },
      [`to-lport 1 20100 ${match()} drop`],
    ],
    ['banp', ingress({ action: 'Allow', from: all }), [`to-lport 3 1800 ${match()} allow-related`]],
    [
      'cnp',
      { ...ingress({ action: 'Accept', from: all }), tier: 'Admin' },
      [`to-lport 1 29975 ${match()} allow-related`],
    ],
    [
      'cnp',
      { ...ingress({ action: 'Pass', from: all }), tier: 'Baseline' },
      [`to-lport 3 29975 ${match()} pass`],
    ],
    [
      'anp',
      ingress({ action: 'Pass', from: all }, { action: 'Deny', from: all }),
      [`to-lport 1 29900 ${match()} pass`, `to-lport 1 29899 ${match(1)} drop`],
    ],
    [
      'anp',
      ingress({
        action: 'Deny',
        from: all,
        ports: [{ namedPort: 'http' }, { portNumber: { protocol: 'SCTP', port: 9 } }],
      }),
      [
        `to-lport 1 29900 ${match()} && tcp.dst == 80 drop`,
        `to-lport 1 29900 ${match()} && tcp.dst == 81 drop`,
        `to-lport 1 29900 ${match()} && sctp.dst == 9 drop`,
      ],
    ],
    // Of an older release of the API.
    [
      'cnp',
      {
        tier: 'Admin',
        ...ingress({ action: 'Deny', from: all, ports: [{ portRange: { start: 1, end: 2 } }] }),
      },
      [`to-lport 1 29975 ${match()} && 1 <= tcp.dst <= 2 drop`],
    ],
  ])('of %s with %j', (kind, spec, want) => {
    expect(shown(kind, spec)).toMatchObject({ acls: want, sets: {}, problems: [] })
  })

  it.each<[kind: AdminPolicyKind, spec: object, want: readonly string[]]>([
    ['anp', ingress({ action: 'Deny', from: all }), ['to-lport 0 pass']],
    [
      'banp',
      ingress({ action: 'Deny', from: all }),
      ['to-lport 0 pass', 'to-lport 1 pass', 'to-lport 2 pass'],
    ],
    // It stops no connection, or does behind load balancers, where OVN asks every tier about every packet.
    ['anp', ingress({ action: 'Allow', from: all }, { action: 'Pass', from: all }), []],
    ['anp', { egress: [{ action: 'Deny', to: [{ networks: ['10.0.0.0/8'] }] }] }, []],
  ])('of %s is asked about connections that are open: %j', (kind, spec, want) => {
    expect(shown(kind, spec).passages).toEqual(want)
  })

  it('is about networks and nodes, each in its family', () => {
    const to = [{ networks: ['10.0.0.1/8', 'fd00::/8', '10.0.0.0/8'] }, { nodes: {} }]
    const { acls, sets } = shown(
      'anp',
      { egress: [{ name: 'a b', action: 'Deny', to }] },
      {
        families: [4, 6],
        addressesOf: () => ['172.18.0.2', 'fd00:18::2'],
      },
    )
    expect(sets).toEqual({
      'web.egress.0.a.b.IPv4': ['10.0.0.0/8', '172.18.0.2'],
      'web.egress.0.a.b.IPv6': ['fd00::/8', 'fd00:18::2'],
    })
    expect(acls).toEqual([
      'from-lport 1 29900 inport == @web && ip && ip4.dst == $web.egress.0.a.b.IPv4 drop',
      'from-lport 1 29900 inport == @web && ip && ip6.dst == $web.egress.0.a.b.IPv6 drop',
    ])
  })

  it('has no ACL in a family of which nobody is, nor while the policy is for no port', () => {
    const spec = { egress: [{ action: 'Deny', to: [{ networks: ['fd00::/8'] }] }] }
    expect(shown('anp', spec).acls).toEqual([])
    expect(shown('anp', ingress({ action: 'Deny', from: all }), { families: [] }).acls).toEqual([])
  })

  it.each([
    ['drop', 'drop', true],
    ['allow,pass', 'drop', false],
    ['allow', 'allow', true],
    ['allow-related', 'allow', true],
  ])('is logged where %s is, which %ss: %s', (log, word, isLogged) => {
    const rule = { action: word === 'drop' ? 'Deny' : 'Allow', from: all }
    expect(shown('anp', ingress(rule), {}, { log }).acls.every((acl) => acl.endsWith('log'))).toBe(isLogged)
  })
})

describe('what can not be read', () => {
  const everybody = { 'web.ingress.0..IPv4': ['0.0.0.0/0'], 'web.ingress.0..IPv6': ['::/0'] }
  it.each<
    [what: string, kind: AdminPolicyKind, rule: object, field: string, acls: readonly string[], sets: object]
  >([
    ['an action denies', 'anp', { action: 'Accept', from: all }, 'action', [`29900 ${match()} drop`], {}],
    ['no peer', 'anp', { action: 'Pass', from: [] }, 'from', [`29900 ${match()} drop`], everybody],
    ['no peers at all', 'anp', { action: 'Deny', from: 'all' }, 'from', [`29900 ${match()} drop`], everybody],
    [
      'two in one',
      'anp',
      { action: 'Deny', from: [{ namespaces: {}, pods: {} }] },
      'from[0]',
      [`29900 ${match()} drop`],
      everybody,
    ],
    ['nothing', 'anp', { action: 'Deny', from: [null] }, 'from[0]', [`29900 ${match()} drop`], everybody],
    ['nodes that come in', 'anp', { action: 'Allow', from: [{ nodes: {} }] }, 'from[0]', [], {}],
    [
      'a port denied',
      'anp',
      { action: 'Deny', from: all, ports: [{ portNumber: { port: 0 } }] },
      'ports[0].portNumber',
      [`29900 ${match()} drop`],
      {},
    ],
    [
      'a port of a protocol that every object has',
      'anp',
      { action: 'Deny', from: all, ports: [{ portNumber: { protocol: 'constructor', port: 80 } }] },
      'ports[0].portNumber.protocol',
      [`29900 ${match()} drop`],
      {},
    ],
    [
      'a port passed on',
      'anp',
      { action: 'Pass', from: all, ports: [null] },
      'ports[0]',
      [`29900 ${match()} drop`],
      {},
    ],
    [
      'a port allowed',
      'anp',
      { action: 'Allow', from: all, ports: [{ portRange: { start: 9, end: 1 } }] },
      'ports[0].portRange',
      [],
      {},
    ],
    [
      'a protocol',
      'cnp',
      { action: 'Deny', from: all, protocols: [{}] },
      'protocols[0]',
      [`29975 ${match()} drop`],
      {},
    ],
  ])('%s', (_what, kind, rule, field, acls, sets) => {
    const seen = shown(kind, { ...(kind === 'cnp' ? { tier: 'Admin' } : {}), ...ingress(rule) })
    expect(seen).toMatchObject({
      acls: acls.map((acl) => `to-lport 1 ${acl}`),
      sets,
      problems: [`spec.ingress[0].${field}`],
    })
  })

  it.each<[kind: AdminPolicyKind, spec: object, problems: readonly string[], acls: readonly string[]]>([
    ['anp', { priority: 100 }, ['spec.priority'], [`to-lport 1 19999 ${match(1)} drop`]],
    ['anp', { priority: -1 }, ['spec.priority'], [`to-lport 1 19999 ${match(1)} drop`]],
    ['cnp', { tier: 'Baseline', priority: 400 }, ['spec.priority'], [`to-lport 3 19999 ${match(1)} drop`]],
  ])('a priority of %s with %j leaves what is denied, behind all others', (kind, spec, problems, acls) => {
    const allow = { action: kind === 'cnp' ? 'Accept' : 'Allow', from: all }
    const seen = shown(kind, { ...ingress(allow, { action: 'Deny', from: all }), ...spec })
    expect(seen).toMatchObject({ acls, problems })
  })

  it('an action that is logged is none by a word that every object has', () => {
    const annotations = { 'ovn.kubernetes.io/log_acl_actions': 'constructor,drop' }
    expect(parseAdminPolicy('anp', { metadata: { name: 'web', annotations } }).logged).toEqual(['drop'])
  })

  it('a subject is for no pod, a name for no address', () => {
    expect(parseAdminPolicy('banp', { metadata: { name: 'default' } }).subject).toBeUndefined()
    const spec = { egress: [{ action: 'Deny', to: [{ domainNames: ['example.com.'] }] }] }
    expect(shown('anp', spec)).toMatchObject({
      acls: [],
      sets: {},
      problems: ['spec.egress[0].to[0].domainNames[0]'],
    })
  })
})

describe('DNS names', () => {
  const egress = (action: string, ...names: readonly unknown[]) => ({
    egress: [{ action, to: [{ domainNames: names }] }],
  })
  const known = { addressesOf: () => ['192.0.2.1'] }
  const acl = (priority: number, action: string) =>
    `from-lport 1 ${priority} inport == @web && ip && ip4.dst == $web.egress.0..IPv4 ${action}`

  it('stand for the addresses that are known of them, and for none while there are none', () => {
    const allow = egress('Allow', 'www.example.com', 'WWW.example.com.', '*.example.org.')
    expect(shown('anp', allow, known, { followsNames: true })).toMatchObject({
      acls: [acl(29900, 'allow-related')],
      sets: { 'web.egress.0..IPv4': ['192.0.2.1'] },
      problems: [],
    })
    expect(shown('anp', allow, {}, { followsNames: true })).toMatchObject({
      acls: [acl(29900, 'allow-related')],
      sets: {},
    })
    const { rules } = parseAdminPolicy(
      'anp',
      { metadata: { name: 'web' }, spec: allow as Spec },
      { followsNames: true },
    )
    expect(rules.egress[0]?.peers.names).toEqual(['www.example.com.', '*.example.org.'])
  })

  it('that are none take nothing from the others', () => {
    const deny = { tier: 'Baseline', ...egress('Deny', 'a_b.example.com', 'www.example.com', 7, null) }
    expect(shown('cnp', deny, known, { followsNames: true })).toMatchObject({
      acls: [acl(29975, 'drop').replace(' 1 ', ' 3 ')],
      problems: [0, 2, 3].map((at) => `spec.egress[0].to[0].domainNames[${at}]`),
    })
  })

  it('are nothing that a BaselineAdminNetworkPolicy has', () => {
    const seen = shown('banp', egress('Deny', 'www.example.com'), known, { followsNames: true })
    expect(seen.problems).toEqual(['spec.egress[0].to[0]'])
    // It fails closed.
    expect(seen.sets).toEqual({ 'web.egress.0..IPv4': ['0.0.0.0/0'], 'web.egress.0..IPv6': ['::/0'] })
  })
})
