import {
  adminNetworkPolicyResource,
  clusterNetworkPolicyResource,
  dnsNameResolverResource,
  egressFirewallResource,
  type AdminNetworkPolicy,
  type DnsNameResolver,
} from '@kube-ovn/kube-api'
import { events, namespaces, pods } from '@kube-ovn/kube-api/core'
import type { Resource } from '@kube-ovn/kube'
import { egressFirewall, namespace, pod } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop', labels: { team: 'shop' } }))
  await cluster.client.create(pods, pod({ name: 'web', namespace: 'shop', node: 'n1' }))
})

const settings = { enableAnp: true, enableDnsNameResolver: true }
const merge = 'application/merge-patch+json'

type Rules = NonNullable<NonNullable<AdminNetworkPolicy['spec']>['egress']>

const kinds = { anp: adminNetworkPolicyResource, cnp: clusterNetworkPolicyResource } as const

function rule(action: string, ...domainNames: readonly string[]): Rules[number] {
  return { action, to: [{ domainNames }] }
}

async function create(kind: keyof typeof kinds, name: string, ...egress: Rules): Promise<void> {
  const resource: Resource<AdminNetworkPolicy> = kinds[kind]
  await cluster.client.create(resource, {
    apiVersion: `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: { name },
    spec: {
      ...(kind === 'cnp' ? { tier: 'Admin' } : {}),
      ...{ priority: 5, subject: { namespaces: { matchLabels: { team: 'shop' } } }, egress },
    },
  })
}

function edit(kind: keyof typeof kinds, name: string, ...egress: Rules): Promise<unknown> {
  return cluster.client.patch(kinds[kind], { name }, merge, { spec: { egress } })
}

/** Name, label and domain of each. */
async function resolvers(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(dnsNameResolverResource)
  return items
    .map(({ metadata, spec }) => `${metadata.name} ${JSON.stringify(metadata.labels ?? {})} ${spec?.name}`)
    .sort()
}

/** What was answered for a name, with the seconds since then where they matter. */
interface Answered {
  readonly dnsName: string
  readonly ips: readonly (string | { readonly ip: string; readonly ago: number })[]
  readonly ttlSeconds?: number
  readonly failures?: number
}

/** Writes a status as CoreDNS does. */
function answer(name: string, ...names: readonly Answered[]): Promise<unknown> {
  const resolvedNames = names.map(({ dnsName, ips, ttlSeconds = 30, failures = 0 }) => ({
    ...{ dnsName, resolutionFailures: failures },
    resolvedAddresses: ips
      .map((one) => (typeof one === 'string' ? { ip: one, ago: 0 } : one))
      .map(({ ip, ago }) => ({
        ...{ ip, ttlSeconds },
        lastLookupTime: new Date(Date.now() - ago * 1000).toISOString(),
      })),
  }))
  const options = { subresource: 'status' } as const
  return cluster.client.patch(
    dnsNameResolverResource,
    { name },
    merge,
    { status: { resolvedNames } },
    options,
  )
}

function addressesIn(control: Controller, set: string): readonly string[] | undefined {
  const row = control.named('Address_Set', set)
  return row === undefined ? undefined : [...row.addresses].sort()
}

async function told(reason: string): Promise<readonly string[]> {
  const { items } = await cluster.client.list(events)
  return items.filter((event) => event.reason === reason).map(({ message }) => message ?? '')
}

const baidu = 'anp-fw-fb3029ce'
const [set4, set6] = [4, 6].map((family) => `fw.egress.0..IPv${family}`) as [string, string]

describe('a DNS name in a policy of an administrator', () => {
  it('has a resolver of its own, and stands for what that answers, in both families', async () => {
    await create('anp', 'fw', rule('Allow', '*.baidu.com.', '*.Baidu.com'))
    await using control = await cluster.startSettled({ settings })
    expect(await resolvers()).toEqual([`${baidu} {"anp":"fw"} *.baidu.com.`])
    const owner = await cluster.client.get(adminNetworkPolicyResource, { name: 'fw' })
    const made = await cluster.client.get(dnsNameResolverResource, { name: baidu })
    expect(made?.metadata.ownerReferences).toMatchObject([{ name: 'fw', uid: owner?.metadata.uid }])
    // The rule is there before anything is known.
    const rules = control.rows('ACL', 'match').filter(({ match }) => match.includes('inport == @fw '))
    expect(rules.map(({ match }) => match).sort()).toEqual([
      `inport == @fw && ip && ip4.dst == $${set4}`,
      `inport == @fw && ip && ip6.dst == $${set6}`,
    ])
    expect([addressesIn(control, set4), addressesIn(control, set6)]).toEqual([[], []])
    await answer(baidu, { dnsName: 'www.baidu.com.', ips: ['192.0.2.1', '2001:db8::1'] })
    await control.settle()
    expect([addressesIn(control, set4), addressesIn(control, set6)]).toEqual([['192.0.2.1'], ['2001:db8::1']])
    await cluster.client.remove(adminNetworkPolicyResource, { name: 'fw' })
    await control.settle()
    expect([await resolvers(), addressesIn(control, set4)]).toEqual([[], undefined])
  })

  it('comes and goes with the rule, one of each name, whatever the others are', async () => {
    await create('anp', 'fw')
    await using control = await cluster.startSettled({ settings })
    expect(await resolvers()).toEqual([])
    const [first, second] = [rule('Deny', '*.baidu.com.'), rule('Allow', 'www.example.com', '*.baidu.com.')]
    for (const [rules, count] of [
      [[first], 1],
      [[first, second], 2],
      [[first], 1],
      [[], 0],
    ] as const) {
      await edit('anp', 'fw', ...rules)
      await control.settle()
      expect(await resolvers()).toHaveLength(count)
    }
  })

  it('is shared by an AdminNetworkPolicy and a ClusterNetworkPolicy of one name until both are gone', async () => {
    await create('anp', 'fw', rule('Deny', '*.baidu.com.'))
    await create('cnp', 'fw', rule('Deny', '*.baidu.com.', 'www.example.com'))
    await using control = await cluster.startSettled({ settings })
    expect(await resolvers()).toHaveLength(2)
    await answer(baidu, { dnsName: 'www.baidu.com.', ips: ['192.0.2.1'] })
    await cluster.client.remove(adminNetworkPolicyResource, { name: 'fw' })
    await control.settle()
    expect(await resolvers()).toHaveLength(2)
    const sets = control.rows('Address_Set', 'name', 'addresses')
    expect(sets.filter(({ addresses }) => addresses.includes('192.0.2.1'))).toHaveLength(1)
    await cluster.client.remove(clusterNetworkPolicyResource, { name: 'fw' })
    await control.settle()
    expect(await resolvers()).toEqual([])
  })

  it('costs an address that comes one transaction with that address, and nothing when it is asked for again', async () => {
    await create('anp', 'fw', rule('Allow', '*.baidu.com.'))
    await using control = await cluster.startSettled({ settings })
    const many = Array.from({ length: 5000 }, (_none, at) => `10.1.${at >> 8}.${at & 255}`)
    await answer(baidu, { dnsName: 'www.baidu.com.', ips: many })
    await control.settle()
    expect(addressesIn(control, set4)).toHaveLength(5000)
    await cluster.forgetCosts()
    await answer(baidu, { dnsName: 'www.baidu.com.', ips: [...many, '192.0.2.1'] })
    await control.settle()
    expect([addressesIn(control, set4)?.length, await cluster.costs()]).toEqual([
      5001,
      { transactions: 1, writes: [] },
    ])
    await answer(baidu, { dnsName: 'www.baidu.com.', ips: [...many, '192.0.2.1'], ttlSeconds: 90 })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: [] })
  })

  it('moves: what it has no more ends with its time, what it learned last does not, even while name servers fail', async () => {
    await create('anp', 'fw', rule('Allow', '*.baidu.com.'))
    await using control = await cluster.startSettled({ settings })
    await answer(baidu, {
      dnsName: 'www.baidu.com.',
      ips: [{ ip: '192.0.2.1', ago: 86_400 }],
      failures: 3,
    })
    await control.settle()
    expect(addressesIn(control, set4)).toEqual(['192.0.2.1'])
    const moved = async (ago: number): Promise<void> => {
      await answer(baidu, {
        dnsName: 'www.baidu.com.',
        ips: [
          { ip: '192.0.2.1', ago },
          { ip: '192.0.2.2', ago: 0 },
        ],
      })
      await control.settle()
    }
    await moved(60)
    expect(addressesIn(control, set4)).toEqual(['192.0.2.1', '192.0.2.2'])
    // 30 seconds and ten minutes, but for two seconds: nothing but time passes then.
    await moved(628)
    await expect.poll(() => addressesIn(control, set4), { timeout: 20_000 }).toEqual(['192.0.2.2'])
    await control.settle()
  })

  it('that a wildcard stands for ends for who lets through when nobody has asked for it for a day, and is denied on', async () => {
    await create('anp', 'fw', rule('Deny', '*.baidu.com.'), rule('Allow', '*.baidu.com.'))
    await using control = await cluster.startSettled({ settings })
    const ago = 86_400 + 600 + 30
    const name = (dnsName: string, ip: string, since: number) => ({ dnsName, ips: [{ ip, ago: since }] })
    await answer(
      baidu,
      name('old.baidu.com.', '192.0.2.1', ago + 1),
      name('late.baidu.com.', '192.0.2.2', ago - 3),
      name('www.baidu.com.', '192.0.2.3', 0),
    )
    await control.settle()
    expect(addressesIn(control, set4)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    // Nothing but time passes for the one that is nearly over.
    const allowed = 'fw.egress.1..IPv4'
    await expect.poll(() => addressesIn(control, allowed), { timeout: 20_000 }).toEqual(['192.0.2.3'])
    expect(addressesIn(control, set4)).toHaveLength(3)
    await control.settle()
  })

  it('is known from whatever resolver there is of it, and one of a user stays', async () => {
    const mine: DnsNameResolver = {
      metadata: { name: 'mine', labels: { anp: 'fw' } },
      spec: { name: '*.baidu.com.' },
    }
    await cluster.client.create(dnsNameResolverResource, {
      ...mine,
      ...{ apiVersion: 'kubeovn.io/v1', kind: 'DNSNameResolver' },
    })
    await answer('mine', { dnsName: 'www.baidu.com.', ips: ['192.0.2.1'] })
    await create('anp', 'fw', rule('Allow', '*.baidu.com.'))
    await using control = await cluster.startSettled({ settings })
    expect(addressesIn(control, set4)).toEqual(['192.0.2.1'])
    await cluster.client.remove(adminNetworkPolicyResource, { name: 'fw' })
    await control.settle()
    expect(await resolvers()).toEqual(['mine {"anp":"fw"} *.baidu.com.'])
  })

  it('is there again when somebody removes, relabels or makes its resolver otherwise; upstream left it so', async () => {
    const metadata = { name: baidu, labels: { anp: 'fw' } }
    const resolver = { apiVersion: 'kubeovn.io/v1', kind: 'DNSNameResolver', metadata }
    await cluster.client.create(dnsNameResolverResource, { ...resolver, spec: { name: '*.baidu.com.' } })
    const gone = { ...metadata, name: 'anp-fw-df6332c2', labels: { anp: 'fw' } }
    await cluster.client.create(dnsNameResolverResource, {
      ...{ ...resolver, metadata: gone },
      spec: { name: 'www.example.com.' },
    })
    await create('anp', 'fw', rule('Allow', '*.baidu.com.'))
    await using control = await cluster.startSettled({ settings })
    const right = [`${baidu} {"anp":"fw"} *.baidu.com.`]
    expect(await resolvers()).toEqual(right)
    await cluster.client.remove(dnsNameResolverResource, { name: baidu })
    await control.settle()
    expect(await resolvers()).toEqual(right)
    await cluster.client.patch(dnsNameResolverResource, { name: baidu }, merge, {
      metadata: { labels: { anp: null } },
    })
    await control.settle()
    expect(await resolvers()).toEqual(right)
    await edit('anp', 'fw')
    await control.settle()
    await cluster.client.create(dnsNameResolverResource, { ...resolver, spec: { name: 'a.example.com.' } })
    await edit('anp', 'fw', rule('Allow', '*.baidu.com.'))
    await control.settle()
    expect(await resolvers()).toEqual(right)
  })

  it('is what it was after a restart, without a write, and goes when names are not followed any more', async () => {
    await create('anp', 'fw', rule('Allow', '*.baidu.com.'))
    await create('cnp', 'late', rule('Deny', 'www.example.com'))
    {
      await using control = await cluster.startSettled({ settings })
      await answer(baidu, { dnsName: 'www.baidu.com.', ips: ['192.0.2.1', '2001:db8::1'] })
      await control.settle()
    }
    {
      await using control = await cluster.startController({ settings })
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    }
    await cluster.client.remove(clusterNetworkPolicyResource, { name: 'late' })
    {
      await using _control = await cluster.startSettled({ settings })
      expect(await resolvers()).toHaveLength(1)
    }
    await using control = await cluster.startSettled({ settings: { enableAnp: true } })
    expect([await resolvers(), addressesIn(control, set4)]).toEqual([[], []])
    expect(await told('AdminNetworkPolicyInvalid')).toEqual([
      expect.stringContaining('--enable-dns-name-resolver'),
    ])
  })

  it('that is denied and of which nothing is known is told, as is one that is none; garbage is left out', async () => {
    await create('cnp', 'fw', rule('Deny', '*.baidu.com.'), {
      action: 'Deny',
      to: [{ networks: ['198.51.100.0/24'] }],
    })
    await using control = await cluster.startSettled({ settings })
    const reason = 'ClusterNetworkPolicyInvalid'
    expect(await told(reason)).toEqual([expect.stringContaining('spec.egress[0].to value=*.baidu.com.')])
    await answer(baidu, {
      dnsName: 'www.baidu.com.',
      ips: ['1.2.3', 'example', '192.0.2.1/0', '$fw', '192.0.2.9'],
    })
    await control.settle()
    expect([addressesIn(control, set4), addressesIn(control, 'fw.egress.1..IPv4')]).toEqual([
      ['192.0.2.9'],
      ['198.51.100.0/24'],
    ])
    await edit('cnp', 'fw', rule('Deny', 'localhost', '*.baidu.com.'))
    await control.settle()
    expect(await told(reason)).toContainEqual(
      expect.stringContaining('spec.egress[0].to[0].domainNames[0] value=localhost'),
    )
    expect(addressesIn(control, set4)).toEqual(['192.0.2.9'])
  })

  it('may be in a policy with the longest name', async () => {
    const name = `${'policy.'.repeat(35)}fw`
    await create('anp', name, rule('Allow', '*.baidu.com.'))
    await using control = await cluster.startSettled({ settings })
    const [made] = (await cluster.client.list(dnsNameResolverResource)).items
    expect(made?.spec?.name).toBe('*.baidu.com.')
    await answer(made?.metadata.name ?? '', { dnsName: 'www.baidu.com.', ips: ['192.0.2.1'] })
    await control.settle()
    const sets = control.rows('Address_Set', 'addresses')
    expect(sets.filter(({ addresses }) => addresses.includes('192.0.2.1'))).toHaveLength(1)
    await cluster.client.remove(adminNetworkPolicyResource, { name })
    await control.settle()
    expect(await resolvers()).toEqual([])
  })
})

// Their digests begin with the same eight digits.
const [kept, contested] = ['a78466.example.com.', 'a90476.example.com.'] as const

describe('of two DNS names whose resolvers would have one name', () => {
  const mine = { apiVersion: 'kubeovn.io/v1', kind: 'DNSNameResolver', metadata: { name: 'mine' } }

  it('the first has it, and the other one is told at the policy until somebody makes it one', async () => {
    await create('anp', 'fw', rule('Allow', contested, kept))
    await using control = await cluster.startSettled({ settings })
    expect(await resolvers()).toEqual([`anp-fw-101dc1d3 {"anp":"fw"} ${kept}`])
    expect(await told('AdminNetworkPolicyInvalid')).toEqual([
      expect.stringMatching(`spec\\.egress\\[0\\]\\.to value=${contested}.*${kept}`),
    ])
    await cluster.forgetCosts()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    await cluster.client.create(dnsNameResolverResource, { ...mine, spec: { name: contested } })
    await answer('mine', { dnsName: contested, ips: ['192.0.2.1'] })
    await control.settle()
    expect(addressesIn(control, set4)).toEqual(['192.0.2.1'])
  })

  it('the other one is told in the status of a firewall', async () => {
    const egress = [kept, contested].map((dnsName) => ({ type: 'Allow', to: { dnsName } }))
    await cluster.client.create(egressFirewallResource, egressFirewall({ namespace: 'shop', egress }))
    await using control = await cluster.startSettled({ settings: { enableDnsNameResolver: true } })
    const key = { namespace: 'shop', name: 'default' }
    const messages = async () => (await cluster.client.get(egressFirewallResource, key))?.status?.messages
    expect(await messages()).toEqual([
      expect.stringContaining(`spec.egress[1].to.dnsName value=${contested}`),
    ])
    await cluster.client.create(dnsNameResolverResource, { ...mine, spec: { name: contested } })
    await control.settle()
    expect(await messages()).toEqual(['EgressFirewall Rules applied'])
  })
})

describe('a DNS name in an EgressFirewall', () => {
  const key = { namespace: 'shop', name: 'default' }
  const made = 'egress-firewall-shop-fb3029ce'
  const statusOf = async () => (await cluster.client.get(egressFirewallResource, key))?.status

  it('stands for what its resolver answers, and what is not known of one that is denied is told', async () => {
    await cluster.client.create(
      egressFirewallResource,
      egressFirewall({
        namespace: 'shop',
        egress: [
          { type: 'Allow', to: { dnsName: '*.baidu.com' } },
          { type: 'Deny', to: { dnsName: 'www.example.com' } },
        ],
      }),
    )
    // Whether or not policies of administrators are enforced.
    await using control = await cluster.startSettled({ settings: { enableDnsNameResolver: true } })
    expect(await resolvers()).toEqual([
      `egress-firewall-shop-df6332c2 {"egress-firewall":"shop"} www.example.com.`,
      `${made} {"egress-firewall":"shop"} *.baidu.com.`,
    ])
    const set = (at: number, family: number) =>
      addressesIn(control, `egress_firewall.shop.${at}.IPv${family}`)
    expect([set(0, 4), set(1, 4)]).toEqual([[], []])
    expect((await statusOf())?.messages).toEqual([
      expect.stringContaining('spec.egress[1].to.dnsName value=www.example.com.'),
    ])
    await answer(made, { dnsName: 'www.baidu.com.', ips: ['192.0.2.1', '2001:db8::1'] })
    await answer('egress-firewall-shop-df6332c2', { dnsName: 'www.example.com.', ips: ['192.0.2.7'] })
    await control.settle()
    expect([set(0, 4), set(0, 6), set(1, 4)]).toEqual([['192.0.2.1'], ['2001:db8::1'], ['192.0.2.7']])
    expect((await statusOf())?.status).toBe('EgressFirewall Rules applied')
    await cluster.forgetCosts()
    await answer(made, { dnsName: 'www.baidu.com.', ips: ['192.0.2.1', '192.0.2.2', '2001:db8::1'] })
    await control.settle()
    expect([set(0, 4), await cluster.costs()]).toEqual([
      ['192.0.2.1', '192.0.2.2'],
      { transactions: 1, writes: [] },
    ])
    await cluster.client.remove(egressFirewallResource, key)
    await control.settle()
    expect([await resolvers(), set(0, 4)]).toEqual([[], undefined])
  })
})
