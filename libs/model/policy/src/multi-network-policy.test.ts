import { describe, expect, it } from 'vitest'
import { networkPolicyRows, parseMultiNetworkPolicy, parseNetworkPolicy } from './index.ts'
import { policy, rulesOf, scene, type Spec } from './network-policy.fixture.ts'

describe('a MultiNetworkPolicy', () => {
  const policyFor = 'k8s.v1.cni.cncf.io/policy-for'

  it.each<[string, readonly string[], number]>([
    ['storage', ['storage.shop.ovn'], 0],
    ['db/storage, logs', ['storage.db.ovn', 'logs.shop.ovn'], 0],
    ['a/b/c,logs', ['logs.shop.ovn'], 1],
    ['/', [], 1],
    // About none, and its user is told; about all would be beyond what was written.
    ['', [], 1],
  ])('is about networks that it names: %j', (text, providers, problems) => {
    const parsed = parseMultiNetworkPolicy(policy({}, { [policyFor]: text }))
    expect(parsed.providers).toEqual(providers)
    expect(parsed.problems).toHaveLength(problems)
    for (const { details } of parsed.problems) expect(details).toMatchObject({ field: policyFor })
  })

  const parsed = (spec: unknown): ReturnType<typeof parseMultiNetworkPolicy> => {
    const metadata = { name: 'web', namespace: 'shop', annotations: { [policyFor]: 'storage' } }
    return parseMultiNetworkPolicy({ metadata, spec: spec as Spec })
  }
  const toldBy = (policy: ReturnType<typeof parsed>): readonly string[] =>
    policy.problems.map(({ details }) => {
      expect(details).toEqual({
        ...{ field: expect.any(String), value: expect.any(String) },
        cure: expect.stringMatching(/^write /),
      })
      const { field, value } = details as { readonly field: string; readonly value: string }
      return `${field}=${value}`
    })
  const one = { matchLabels: { app: 'web' } }
  const ports = (...given: readonly unknown[]): unknown => ({ podSelector: one, ingress: [{ ports: given }] })
  const from = (...given: readonly unknown[]): unknown => ({ podSelector: one, ingress: [{ from: given }] })
  const expression = (given: unknown): unknown => ({ podSelector: { matchExpressions: [given] } })
  const nobodyAtAll = { peers: { pods: [], blocks: [] }, ports: undefined }
  const everybody = { peers: undefined, ports: undefined }

  it.each<[what: string, spec: unknown, restricted: readonly string[], told: readonly string[]]>([
    ['no types', {}, ['ingress'], []],
    ['an empty list of types', { policyTypes: [] }, ['ingress'], []],
    ['an empty list of types, and egress', { policyTypes: [], egress: [{}] }, ['ingress', 'egress'], []],
    ['types as they are', { policyTypes: ['Egress'] }, ['egress'], []],
    ['small letters', { policyTypes: ['ingress'] }, ['ingress'], ['spec.policyTypes[0]=ingress']],
    ['other letters', { policyTypes: ['EGRESS'] }, ['egress'], ['spec.policyTypes[0]=EGRESS']],
    [
      'a word that may be either',
      { policyTypes: ['Egres'] },
      ['ingress', 'egress'],
      ['spec.policyTypes[0]=Egres'],
    ],
    [
      'other words',
      { policyTypes: ['Egress', 'Ingres', null, 7] },
      ['ingress', 'egress'],
      ['spec.policyTypes[1]=Ingres', 'spec.policyTypes[2]=null', 'spec.policyTypes[3]=7'],
    ],
    ['a text', { policyTypes: 'Ingress' }, ['ingress', 'egress'], ['spec.policyTypes=Ingress']],
    ['null', { policyTypes: null }, ['ingress', 'egress'], ['spec.policyTypes=null']],
    ['egress that is no list', { egress: 'all' }, ['ingress', 'egress'], ['spec.egress=all']],
  ])('restricts whatever may be meant: %s', (_what, spec, restricted, told) => {
    const policy = parsed(spec)
    expect([Object.keys(policy.rules), toldBy(policy)]).toEqual([restricted, told])
  })

  it.each<[what: string, spec: unknown, told: readonly string[]]>([
    ['null', null, ['spec=null']],
    ['a text', 'all', ['spec=all']],
    ['a list', [{}], ['spec=a list']],
    ['null for a selector', { podSelector: null }, ['spec.podSelector=null']],
    [
      'labels in a text',
      { podSelector: { matchLabels: 'app=web' } },
      ['spec.podSelector.matchLabels=app=web'],
    ],
    [
      'a number for a label',
      { podSelector: { matchLabels: { app: 1 } } },
      ['spec.podSelector.matchLabels.app=1'],
    ],
    [
      'an object for expressions',
      { podSelector: { matchExpressions: {} } },
      ['spec.podSelector.matchExpressions=an object'],
    ],
    [
      'unknown operators',
      {
        podSelector: {
          matchExpressions: [
            { key: 'app', operator: 'in', values: ['web'] },
            { key: 'app', operator: 'Exists' },
            { key: 'app', operator: 'constructor' },
            { key: 'app' },
            null,
          ],
        },
      },
      [
        'spec.podSelector.matchExpressions[0].operator=in',
        'spec.podSelector.matchExpressions[2].operator=constructor',
        'spec.podSelector.matchExpressions[3].operator=',
        'spec.podSelector.matchExpressions[4]=null',
      ],
    ],
    ['no key', expression({ operator: 'Exists' }), ['spec.podSelector.matchExpressions[0].key=']],
    [
      'no values',
      expression({ key: 'app', operator: 'In', values: [] }),
      ['spec.podSelector.matchExpressions[0].values=a list'],
    ],
    [
      'values that are none',
      expression({ key: 'app', operator: 'NotIn', values: [null] }),
      ['spec.podSelector.matchExpressions[0].values[0]=null'],
    ],
  ])(
    'is for all pods, and allows them nothing, where it is not known which it is for: %s',
    (_what, spec, told) => {
      const given = typeof spec === 'object' && !Array.isArray(spec) && spec !== null ? spec : undefined
      const policy = parsed(given === undefined ? spec : { ...given, ingress: [{}] })
      expect([policy.subject, policy.rules.ingress, toldBy(policy)]).toEqual([{}, [], told])
      if (given === undefined) expect(policy.rules.egress).toEqual([])
    },
  )

  const port = 'spec.ingress[0].ports[0]'
  const peer = 'spec.ingress[0].from[0]'
  it.each<[what: string, spec: unknown, told: readonly string[]]>([
    ['null', ports(null), [`${port}=null`]],
    ['a number alone', ports(80), [`${port}=80`]],
    ['what every object has', ports({ protocol: 'constructor' }), [`${port}.protocol=constructor`]],
    ['what every object is made of', ports({ protocol: '__proto__' }), [`${port}.protocol=__proto__`]],
    ['no text', ports({ protocol: ['TCP'] }), [`${port}.protocol=a list`]],
    ['null for a protocol', ports({ protocol: null }), [`${port}.protocol=null`]],
    ['an object for a number', ports({ port: { toString: 1 } }), [`${port}.port=an object`]],
    ['null for a number', ports({ port: null }), [`${port}.port=null`]],
    ['a text for an end', ports({ port: 80, endPort: '90' }), [`${port}.endPort=90`]],
    ['an end alone', ports({ endPort: 90 }), [`${port}.endPort=90`]],
  ])('allows no port by one that is none: %s', (_what, spec, told) => {
    const policy = parsed(spec)
    expect([policy.rules, toldBy(policy)]).toEqual([{ ingress: [{ peers: undefined, ports: [] }] }, told])
  })

  it.each<[what: string, spec: unknown, told: readonly string[]]>([
    ['null for a rule', { podSelector: one, ingress: [null] }, ['spec.ingress[0]=null']],
    ['a text for a rule', { podSelector: one, ingress: ['all'] }, ['spec.ingress[0]=all']],
    ['null for peers', { podSelector: one, ingress: [{ from: null }] }, ['spec.ingress[0].from=null']],
    [
      'an object for peers',
      { podSelector: one, ingress: [{ from: {} }] },
      ['spec.ingress[0].from=an object'],
    ],
    ['null', from(null), [`${peer}=null`]],
    ['nothing', from({}), [`${peer}=`]],
    [
      'two things',
      from({ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }),
      [`${peer}=ipBlock,podSelector`],
    ],
    ['null for a block', from({ ipBlock: null }), [`${peer}.ipBlock=null`]],
    ['a number for a prefix', from({ ipBlock: { cidr: 10 } }), [`${peer}.ipBlock.cidr=10`]],
    [
      'a text for exceptions',
      from({ ipBlock: { cidr: '10.0.0.0/8', except: '10.1.0.0/16' } }),
      [`${peer}.ipBlock.except=10.1.0.0/16`],
    ],
    [
      'null for an exception',
      from({ ipBlock: { cidr: '10.0.0.0/8', except: [null] } }),
      [`${peer}.ipBlock.except[0]=null`],
    ],
    [
      'an unknown operator',
      from({ namespaceSelector: {}, podSelector: { matchExpressions: [{ key: 'a', operator: 'notin' }] } }),
      [`${peer}.podSelector.matchExpressions[0].operator=notin`],
    ],
    ['null for a selector', from({ namespaceSelector: {}, podSelector: null }), [`${peer}.podSelector=null`]],
  ])('allows nobody by a peer or rule that is none: %s', (_what, spec, told) => {
    const policy = parsed(spec)
    expect([policy.rules, toldBy(policy)]).toEqual([{ ingress: [nobodyAtAll] }, told])
  })

  it('tells of each part by its own place, and has the others in effect', () => {
    const policy = parsed({
      podSelector: one,
      ingress: [
        null,
        {
          from: [null, { ipBlock: { cidr: 'x' } }, { podSelector: {} }],
          ports: [null, { port: 0 }, { port: 80 }],
        },
        {},
      ],
    })
    expect(toldBy(policy)).toEqual([
      'spec.ingress[0]=null',
      'spec.ingress[1].from[0]=null',
      'spec.ingress[1].ports[0]=null',
      'spec.ingress[1].from[1].ipBlock.cidr=x',
      'spec.ingress[1].ports[1].port=0-0',
    ])
    expect(policy.subject).toEqual(one)
    expect(policy.rules.ingress).toEqual([
      nobodyAtAll,
      {
        peers: { pods: [{ pods: {}, namespaces: undefined }], blocks: [] },
        ports: [{ kind: 'numbers', protocol: 'tcp', from: 80, to: 80 }],
      },
      everybody,
    ])
  })

  it('is read whatever stands at whatever place, and goes on to drop', () => {
    const selector = {
      matchLabels: { app: 'web' },
      matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }],
    }
    const rule = (side: string): unknown => ({
      [side]: [
        { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
        { podSelector: selector, namespaceSelector: selector },
      ],
      ports: [{ protocol: 'TCP', port: 80, endPort: 90 }],
    })
    const policyTypes = ['Ingress', 'Egress']
    const spec = { podSelector: selector, policyTypes, ingress: [rule('from')], egress: [rule('to')] }
    expect(parsed(spec).problems).toEqual([])
    const deep: unknown = JSON.parse(`${'['.repeat(9000)}${']'.repeat(9000)}`)
    const garbage: readonly unknown[] = [null, 'x', '', 7, true, [], {}, [null], { toString: 1 }, deep]
    const all = [...new Set(garbage.flatMap((value) => [...replaced(spec, value)]))]
    expect(all.length).toBeGreaterThan(400)
    for (const broken of all) {
      const rows = rulesOf(networkPolicyRows(parsed(broken), scene))
      expect(rows).toContainEqual(expect.objectContaining({ direction: 'to-lport', action: 'drop' }))
    }
  })

  /** The value with each of its parts replaced. */
  function* replaced(value: unknown, by: unknown): Iterable<unknown> {
    yield by
    if (typeof value !== 'object' || value === null) return
    for (const [key, part] of Object.entries(value))
      for (const other of replaced(part, by))
        yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other }
  }

  it('says the rest as a NetworkPolicy does', () => {
    const spec = { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }] }
    const { providers: _, ...rest } = parseMultiNetworkPolicy(policy(spec, { [policyFor]: 'storage' }))
    const { providers: _all, ...plain } = parseNetworkPolicy(policy(spec))
    expect(rest).toEqual(plain)
  })
})
