import {
  adminNetworkPolicyResource,
  baselineAdminNetworkPolicyResource,
  clusterNetworkPolicyResource,
  type AdminNetworkPolicy,
} from '@kube-ovn/kube-api'
import { namespaces, networkPolicies, nodes, pods } from '@kube-ovn/kube-api/core'
import type { Resource } from '@kube-ovn/kube'
import { namespace, node, pod } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1', 'n2')
  await cluster.client.create(namespaces, namespace({ name: 'shop', labels: { team: 'shop' } }))
  await cluster.client.create(namespaces, namespace({ name: 'db', labels: { team: 'db' } }))
})

const settings = { enableAnp: true }

type Spec = NonNullable<AdminNetworkPolicy['spec']>

const kinds = {
  anp: adminNetworkPolicyResource,
  banp: baselineAdminNetworkPolicyResource,
  cnp: clusterNetworkPolicyResource,
} as const

async function create(kind: keyof typeof kinds, name: string, spec: Spec, annotations = {}): Promise<void> {
  const resource: Resource<AdminNetworkPolicy> = kinds[kind]
  await cluster.client.create(resource, {
    apiVersion: `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: { name, annotations },
    spec: { subject: { namespaces: { matchLabels: { team: 'shop' } } }, ...spec },
  })
}

function edit(kind: keyof typeof kinds, name: string, spec: Spec): Promise<unknown> {
  return cluster.client.patch(kinds[kind], { name }, 'application/merge-patch+json', { spec })
}

async function createPods(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const [namespace = '', app = ''] = name.split('/')
    await cluster.client.create(pods, pod({ name: app, namespace, node: 'n1', labels: { app } }))
  }
}

/** ACLs of a group as an administrator would type them, in the order in which they are asked. */
function aclsOf(control: Controller, group: string): readonly string[] {
  return control
    .rows('ACL', 'direction', 'tier', 'priority', 'match', 'action', 'external_ids')
    .filter(({ external_ids: ids }) => ids['parent'] === group)
    .sort((a, b) => b.priority - a.priority || (a.match < b.match ? -1 : 1))
    .map(
      ({ direction, tier, priority, match, action }) => `${direction} ${tier} ${priority} ${match} ${action}`,
    )
}

/** Priorities and actions for what comes in by IPv4. */
function ranksOf(control: Controller, group: string): readonly string[] {
  return aclsOf(control, group)
    .filter((acl) => acl.startsWith('to-lport') && acl.includes('ip4.src'))
    .map((acl) => acl.replace(/^to-lport \d (\d+) .* (\S+)$/, '$1 $2'))
}

function addressesIn(control: Controller, set: string): readonly string[] | undefined {
  const row = control.named('Address_Set', set)
  return row === undefined ? undefined : [...row.addresses].sort()
}

async function addressesOf(name: string): Promise<readonly string[]> {
  const [namespace = '', app = ''] = name.split('/')
  return (await cluster.user.addressOf(app, namespace)).split(',')
}

const fromDb = [{ namespaces: { matchLabels: { team: 'db' } } }]
const denyDb: Spec = { priority: 5, ingress: [{ name: 'no-db', action: 'Deny', from: fromDb }] }
const set4 = 'guard.ingress.0.no.db.IPv4'
const set6 = 'guard.ingress.0.no.db.IPv6'

describe('an AdminNetworkPolicy', () => {
  it('is in the port group of its pods, follows labels, and ends with all that it had', async () => {
    await using control = await cluster.startSettled({ settings })
    const before = control.rows('ACL', 'match').length
    await create('anp', 'guard', denyDb)
    await control.settle()
    // For nobody yet.
    expect([control.portsOf('Port_Group', 'guard'), aclsOf(control, 'guard')]).toEqual([[], []])
    await createPods('shop/web', 'db/a')
    await control.settle()
    expect(control.portsOf('Port_Group', 'guard')).toEqual(['web.shop'])
    const [v4 = '', v6 = ''] = await addressesOf('db/a')
    expect([addressesIn(control, set4), addressesIn(control, set6)]).toEqual([[v4], [v6]])
    expect(aclsOf(control, 'guard')).toEqual([
      `to-lport 1 29500 outport == @guard && ip && ip4.src == $${set4} drop`,
      `to-lport 1 29500 outport == @guard && ip && ip6.src == $${set6} drop`,
    ])
    const team = (of: string, name: string): Promise<unknown> =>
      cluster.client.patch(namespaces, { name: of }, 'application/merge-patch+json', {
        metadata: { labels: { team: name } },
      })
    await team('db', 'other')
    await control.settle()
    // The rule stays in place for whoever comes.
    expect([addressesIn(control, set4), aclsOf(control, 'guard').length]).toEqual([[], 2])
    await team('shop', 'other')
    await team('db', 'db')
    await control.settle()
    expect([control.portsOf('Port_Group', 'guard'), aclsOf(control, 'guard')]).toEqual([[], []])
    expect(addressesIn(control, set4)).toEqual([v4])
    await cluster.client.remove(adminNetworkPolicyResource, { name: 'guard' })
    await control.settle()
    expect(control.named('Port_Group', 'guard')).toBeUndefined()
    expect([addressesIn(control, set4), control.rows('ACL', 'match').length]).toEqual([undefined, before])
  })

  it('costs a pod that comes one transaction, and an edit the rows that differ', async () => {
    await create('anp', 'guard', denyDb)
    await createPods('shop/web', 'db/a')
    await using control = await cluster.startSettled({ settings })
    await createPods('db/b')
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    expect(addressesIn(control, set4)).toHaveLength(2)
    const kept = control.rows('ACL', '_uuid').map(({ _uuid }) => _uuid)
    const to = [{ networks: ['203.0.113.7/24', '2001:db8::/32'] }]
    await cluster.forgetCosts()
    await edit('anp', 'guard', { egress: [{ action: 'Deny', to }] })
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    const after = control.rows('ACL', '_uuid').map(({ _uuid }) => _uuid)
    expect(after).toEqual(expect.arrayContaining(kept))
    expect(after).toHaveLength(kept.length + 2)
    expect(addressesIn(control, 'guard.egress.0..IPv4')).toEqual(['203.0.113.0/24'])
  })

  it('is what it was after a restart, without a write, also when pods changed meanwhile', async () => {
    await create('anp', 'guard', denyDb, { 'ovn.kubernetes.io/log_acl_actions': 'drop' })
    await createPods('shop/web', 'db/a')
    {
      await using control = await cluster.startSettled({ settings })
      const [acl] = control
        .rows('ACL', 'name', 'log', 'severity', 'tier')
        .filter(({ tier, name }) => tier === 1 && name?.includes('IPv4') === true)
      expect(acl).toEqual({ name: 'anp/guard/ingress/IPv4/0', log: true, severity: 'warning', tier: 1 })
    }
    {
      await using control = await cluster.startController({ settings })
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    }
    await cluster.removePod('a', 'db')
    await using control = await cluster.startSettled({ settings })
    expect(addressesIn(control, set4)).toEqual([])
  })

  it('knows nodes by their labels, and follows their addresses', async () => {
    const to = [{ nodes: { matchLabels: { zone: 'a' } } }]
    await create('anp', 'guard', { priority: 0, egress: [{ action: 'Deny', to }] })
    await createPods('shop/web')
    await using control = await cluster.startSettled({ settings })
    const known = () => [4, 6].map((family) => addressesIn(control, `guard.egress.0..IPv${family}`))
    expect(known()).toEqual([[], []])
    const zone = (value: string | null): Promise<unknown> =>
      cluster.client.patch(nodes, { name: 'n1' }, 'application/merge-patch+json', {
        metadata: { labels: { zone: value } },
      })
    await zone('a')
    await control.settle()
    expect(known()).toEqual([['172.18.0.11'], ['fd00:18::11']])
    await cluster.user.renumberNode('n1', '172.18.0.21', 'fd00:18::21')
    await control.settle()
    expect(known()).toEqual([['172.18.0.21'], ['fd00:18::21']])
    const late = { name: 'n3', addresses: ['172.18.0.13'], labels: { zone: 'a' } }
    await cluster.client.create(nodes, node(late))
    await control.settle()
    expect(known()).toEqual([['172.18.0.13', '172.18.0.21'], ['fd00:18::21']])
    await cluster.client.remove(nodes, { name: 'n3' })
    await control.settle()
    expect(known()).toEqual([['172.18.0.21'], ['fd00:18::21']])
    await zone(null)
    await control.settle()
    expect(known()).toEqual([[], []])
  })

  it('knows ports by number, range and name', async () => {
    const ports = [
      { portNumber: { port: 80 } },
      { portRange: { protocol: 'UDP', start: 1000, end: 2000 } },
      { namedPort: 'http' },
    ]
    await create('anp', 'guard', { priority: 1, ingress: [{ action: 'Allow', from: fromDb, ports }] })
    await createPods('shop/web')
    await using control = await cluster.startSettled({ settings })
    const onPorts = (): readonly string[] =>
      aclsOf(control, 'guard').flatMap((acl) =>
        acl.includes('ip4') ? [acl.replace(/^.*IPv4 && (.*) \S+$/, '$1')] : [],
      )
    expect(onPorts()).toEqual(['1000 <= udp.dst <= 2000', 'tcp.dst == 80'])
    const named = pod({ name: 'named', namespace: 'shop', node: 'n1' })
    await cluster.client.create(pods, {
      ...named,
      spec: {
        ...named.spec,
        containers: [{ name: 'c', image: 'pause', ports: [{ name: 'http', containerPort: 8080 }] }],
      },
    })
    await control.settle()
    expect(onPorts()).toEqual(['1000 <= udp.dst <= 2000', 'tcp.dst == 80', 'tcp.dst == 8080'])
  })

  it('is put back when somebody changes it, and leaves what others made alone', async () => {
    await create('anp', 'guard', denyDb)
    await createPods('shop/web', 'db/a')
    await using control = await cluster.startSettled({ settings })
    const { northbound } = cluster
    await northbound.nbctl('pg-add', 'others')
    await northbound.nbctl(
      '--',
      '--tier=1',
      'acl-add',
      'others',
      'to-lport',
      '29500',
      'ip4.src == 9.9.9.9',
      'drop',
    )
    const want = [aclsOf(control, 'guard'), addressesIn(control, set4)]
    await northbound.nbctl('add', 'Address_Set', set4, 'addresses', '"10.9.9.9"')
    await northbound.nbctl('acl-del', 'guard')
    await northbound.nbctl('clear', 'Address_Set', set6, 'addresses')
    await control.settle()
    expect([aclsOf(control, 'guard'), addressesIn(control, set4)]).toEqual(want)
    expect(addressesIn(control, set6)).toHaveLength(1)
    expect(await northbound.nbctl('acl-list', 'others')).toContain('9.9.9.9')
  })

  it('fails closed where it can not be read, and tells so', async () => {
    await create('anp', 'guard', {
      priority: 5,
      ingress: [
        { action: 'Allow', from: [{ namespaces: {}, pods: {} }, ...fromDb] },
        { action: 'Pass', from: [{ planets: {} } as object] },
      ],
      egress: [
        { action: 'Deny', to: [{ networks: ['10.0.0.0/33'] }], ports: [{ portNumber: { port: 80 } }] },
        { action: 'Allow', to: [{ domainNames: ['example.com.'] }] },
      ],
    })
    await createPods('shop/web', 'db/a')
    await using control = await cluster.startSettled({ settings })
    expect(aclsOf(control, 'guard').filter((acl) => acl.includes('ip4'))).toEqual([
      'from-lport 1 29500 inport == @guard && ip && ip4.dst == $guard.egress.0..IPv4 && tcp.dst == 80 drop',
      'to-lport 1 29500 outport == @guard && ip && ip4.src == $guard.ingress.0..IPv4 allow-related',
      'to-lport 1 29499 outport == @guard && ip && ip4.src == $guard.ingress.1..IPv4 drop',
    ])
    expect(addressesIn(control, 'guard.ingress.0..IPv4')).toEqual((await addressesOf('db/a')).slice(0, 1))
    expect(addressesIn(control, 'guard.ingress.1..IPv4')).toEqual(['0.0.0.0/0'])
    expect(addressesIn(control, 'guard.egress.0..IPv6')).toEqual(['::/0'])
    // Its kubelet is let in all the same.
    expect(aclsOf(control, 'node.n1')).toEqual([
      expect.stringMatching(
        /^to-lport 1 30001 ip4\.src == \S+ && ip4\.dst == \$node\.n1_ip4 allow-related$/,
      ) as string,
      expect.stringMatching(
        /^to-lport 1 30001 ip6\.src == \S+ && ip6\.dst == \$node\.n1_ip6 allow-related$/,
      ) as string,
    ])
    expect(await cluster.user.told('guard')).toEqual(
      expect.arrayContaining([
        expect.stringContaining('spec.ingress[0].from[0] value=namespaces,pods'),
        expect.stringContaining('spec.ingress[1].from[0].planets value=a field that is not known'),
        expect.stringContaining('spec.egress[0].to[0].networks[0] value=10.0.0.0/33'),
        expect.stringContaining('spec.egress[1].to[0].domainNames[0] value=example.com.'),
      ]),
    )
  })
})

describe('policies of one priority', () => {
  const rule = (action: string) => ({ action, from: fromDb })

  it('are asked one after the other, the older one first', async () => {
    await createPods('shop/web')
    await create('anp', 'a-older', { priority: 3, ingress: [rule('Allow'), rule('Pass')] })
    await create('anp', 'b-younger', { priority: 3, ingress: [rule('Deny'), rule('Allow')] })
    // Stands at the place of the second rule of the first one.
    await create('cnp', 'c-other', { tier: 'Admin', priority: 12, ingress: [rule('Deny'), rule('Accept')] })
    await using control = await cluster.startSettled({ settings })
    expect(ranksOf(control, 'a.older')).toEqual(['29700 allow-related', '29699 pass'])
    expect(ranksOf(control, 'b.younger')).toEqual(['29698 drop', '29697 allow-related'])
    expect(ranksOf(control, 'c.other')).toEqual(['29696 drop', '29695 allow-related'])
    expect(await cluster.user.told('b-younger')).toEqual([
      expect.stringContaining('value=that of anp/a-older'),
    ])
    expect(await cluster.user.told('c-other')).toEqual([])
    const conditionsOf = async (name: string) =>
      (await cluster.client.get(adminNetworkPolicyResource, { name }))?.status?.conditions ?? []
    expect(await conditionsOf('a-older')).toEqual([])
    expect(await conditionsOf('b-younger')).toEqual([
      expect.objectContaining({
        ...{ type: 'Validated', status: 'False' },
        message: expect.stringContaining('value=that of anp/a-older') as string,
      }),
    ])
    await edit('anp', 'b-younger', { priority: 4 })
    await control.settle()
    expect(await conditionsOf('b-younger')).toEqual([])
    expect(ranksOf(control, 'b.younger')).toEqual(['29600 drop', '29599 allow-related'])
    expect(ranksOf(control, 'c.other')).toEqual(['29698 drop', '29697 allow-related'])
  })

  it('deny alone where there is no room for more, or no such priority', async () => {
    await createPods('shop/web')
    const many = Array.from({ length: 24 }, () => rule('Accept'))
    await create('cnp', 'a-long', { tier: 'Baseline', priority: 0, ingress: many })
    await create('cnp', 'b-late', {
      ...{ tier: 'Baseline', priority: 0 },
      ingress: [rule('Accept'), rule('Accept'), rule('Deny')],
    })
    await create('cnp', 'c-far', { tier: 'Admin', priority: 1000, ingress: [rule('Accept'), rule('Deny')] })
    await using control = await cluster.startSettled({ settings })
    expect(ranksOf(control, 'a.long').at(-1)).toBe('29977 allow-related')
    expect(ranksOf(control, 'b.late')).toEqual(['29976 drop'])
    expect(ranksOf(control, 'c.far')).toEqual(['19999 drop'])
    expect(await cluster.user.told('c-far')).toEqual([expect.stringContaining('spec.priority value=1000')])
  })
})

describe('a BaselineAdminNetworkPolicy', () => {
  it('holds in the last tier, beside an AdminNetworkPolicy of the same name', async () => {
    await create('anp', 'default', denyDb)
    await create('banp', 'default', { ingress: [{ action: 'Deny', from: [{ namespaces: {} }] }] })
    await createPods('shop/web')
    await using control = await cluster.startSettled({ settings })
    const groups = control
      .rows('Port_Group', 'name', 'external_ids')
      .filter(({ external_ids: ids }) => (ids['anp'] ?? ids['banp']) !== undefined)
    expect(groups.map(({ external_ids: ids }) => ids['anp'] ?? ids['banp'])).toEqual(['default', 'default'])
    const [baseline = ''] = groups.flatMap(({ name, external_ids: ids }) =>
      ids['banp'] === undefined ? [] : [name],
    )
    expect(ranksOf(control, baseline)).toEqual(['1800 drop'])
    expect(aclsOf(control, baseline)[0]).toContain('to-lport 3 1800')
    await cluster.client.remove(adminNetworkPolicyResource, { name: 'default' })
    await control.settle()
    expect(ranksOf(control, 'default')).toEqual(['1800 drop'])
  })
})

describe('a ClusterNetworkPolicy', () => {
  it('is in the tier that it names, and knows protocols', async () => {
    const protocols = [
      { tcp: { destinationPort: { number: 80 } } },
      { udp: { destinationPort: { range: { start: 1, end: 9 } } } },
    ]
    await create('cnp', '1-guard', {
      ...{ tier: 'Admin', priority: 399 },
      subject: { pods: { podSelector: { matchLabels: { app: 'web' } } } },
      ingress: [{ name: 'web', action: 'Accept', from: fromDb, protocols }],
    })
    await createPods('shop/web', 'shop/other')
    await using control = await cluster.startSettled({ settings })
    expect(control.portsOf('Port_Group', 'cnp1.guard')).toEqual(['web.shop'])
    expect(control.named('Port_Group', 'cnp1.guard')?.external_ids).toMatchObject({ cnp: 'cnp1.guard' })
    const match = 'outport == @cnp1.guard && ip && ip4.src == $cnp1.guard.ingress.0.web.IPv4'
    const ofTier = (tier: number): readonly string[] => [
      `to-lport ${tier} 20025 ${match} && 1 <= udp.dst <= 9 allow-related`,
      `to-lport ${tier} 20025 ${match} && tcp.dst == 80 allow-related`,
    ]
    const acls = (): readonly string[] => aclsOf(control, 'cnp1.guard').filter((acl) => acl.includes('ip4'))
    expect(acls()).toEqual(ofTier(1))
    await edit('cnp', '1-guard', { tier: 'Baseline' })
    await control.settle()
    expect(acls()).toEqual(ofTier(3))
  })
})

describe('conditions of a policy', () => {
  const broken = { name: 'all', action: 'Deny', to: [{ networks: ['10.0.0.0/33'] }] }
  const mended = { ...broken, to: [{ networks: ['10.0.0.0/8'] }] }
  const ofOthers = {
    ...{ type: 'Ready-In-Zone-a', status: 'True', reason: 'Fine', message: '' },
    ...{ lastTransitionTime: '2024-05-06T07:08:09Z', observedGeneration: 1 },
  }
  const wrong = (kind: keyof typeof kinds, value: string, observedGeneration: number) => ({
    ...{ type: 'Validated', status: 'False', reason: `${kinds[kind].kind}Invalid`, observedGeneration },
    message: expect.stringMatching(`field=spec.egress\\[0\\].*value=${value}\\); `) as string,
    lastTransitionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
  })
  const conditionsOf = async (kind: keyof typeof kinds) =>
    (await cluster.client.get<AdminNetworkPolicy>(kinds[kind], { name: 'default' }))?.status?.conditions

  it.each(['anp', 'banp', 'cnp'] as const)(
    'say of an %s what has no effect, for as long as that is so, beside those of others',
    async (kind) => {
      const place = kind === 'banp' ? {} : { priority: 1, ...(kind === 'cnp' ? { tier: 'Admin' } : {}) }
      await create(kind, 'default', { ...place, egress: [broken] })
      const status = { conditions: [ofOthers] }
      const merge = 'application/merge-patch+json'
      await cluster.client.patch(
        kinds[kind],
        { name: 'default' },
        merge,
        { status },
        { subresource: 'status' },
      )
      {
        await using control = await cluster.startSettled({ settings })
        expect(await conditionsOf(kind)).toEqual([ofOthers, wrong(kind, '10.0.0.0/33', 1)])
        await edit(kind, 'default', { egress: [{ ...broken, to: [{ networks: ['red'] }] }] })
        await control.settle()
        expect(await conditionsOf(kind)).toEqual([ofOthers, wrong(kind, 'red', 2)])
        expect(await cluster.user.told('default')).toHaveLength(2)
      }
      // What is there says it: who starts anew neither writes it nor tells it again.
      await cluster.forgetCosts()
      await using control = await cluster.startSettled({ settings })
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      await edit(kind, 'default', { egress: [mended] })
      await control.settle()
      expect(await conditionsOf(kind)).toEqual([ofOthers])
      await cluster.forgetCosts()
      await edit(kind, 'default', { egress: [{ ...mended, name: 'other' }] })
      await control.settle()
      expect((await cluster.costs()).writes).toEqual([])
    },
  )

  it('are none of one without problems, and of one that is switched off', async () => {
    await create('anp', 'default', { priority: 1, egress: [mended] })
    {
      await using control = await cluster.startSettled({ settings })
      expect(await conditionsOf('anp')).toBeUndefined()
      await edit('anp', 'default', { egress: [broken] })
      await control.settle()
      expect(await conditionsOf('anp')).toEqual([wrong('anp', '10.0.0.0/33', 2)])
    }
    await using _ = await cluster.startSettled()
    expect(await conditionsOf('anp')).toEqual([])
  })
})

describe('policies of administrators and NetworkPolicies', () => {
  it('keep apart what is called alike: the administrator has the name', async () => {
    await cluster.client.create(networkPolicies, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { podSelector: {} },
    })
    await createPods('shop/web')
    await using control = await cluster.startSettled({ settings })
    expect(control.named('Port_Group', 'web.shop')?.external_ids).toMatchObject({ np: 'shop/web' })
    await create('anp', 'web.shop', denyDb)
    await control.settle()
    expect(control.named('Port_Group', 'web.shop')?.external_ids).toMatchObject({ anp: 'web.shop' })
    const all = control.rows('Port_Group', 'name', 'external_ids')
    expect(all.filter(({ external_ids: ids }) => ids['np'] === 'shop/web')).toHaveLength(1)
    expect(control.portsOf('Port_Group', 'web.shop')).toEqual(['web.shop'])
  })

  it('are switched off each by its own flag', async () => {
    await create('anp', 'guard', denyDb)
    await createPods('shop/web', 'db/a')
    {
      await using control = await cluster.startSettled({ settings: { ...settings, enableNp: false } })
      expect(aclsOf(control, 'guard')).toHaveLength(2)
    }
    await using control = await cluster.startSettled()
    expect(control.named('Port_Group', 'guard')).toBeUndefined()
    expect([aclsOf(control, 'guard'), addressesIn(control, set4)]).toEqual([[], undefined])
  })
})
