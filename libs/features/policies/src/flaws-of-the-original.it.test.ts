import {
  baselineAdminNetworkPolicyResource,
  clusterNetworkPolicyResource,
  securityGroupResource,
  subnetResource,
  vpcResource,
  type AdminNetworkPolicy,
} from '@kube-ovn/kube-api'
import { namespaces, networkPolicies, pods, type NetworkPolicy } from '@kube-ovn/kube-api/core'
import type { Resource } from '@kube-ovn/kube'
import { namespace, pod, securityGroup, subnet, vpc } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop', labels: { team: 'shop' } }))
  await cluster.client.create(namespaces, namespace({ name: 'db', labels: { team: 'db' } }))
})

const settings = { enableAnp: true }
const merge = 'application/merge-patch+json'

async function createPod(
  name: string,
  ports: readonly { readonly name: string; readonly containerPort: number }[] = [],
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const [namespace = '', app = ''] = name.split('/')
  const made = pod({ name: app, namespace, node: 'n1', labels: { app }, annotations })
  const [container, ...others] = made.spec.containers
  if (container === undefined) throw new Error('a pod has a container')
  const containers = [{ ...container, ports }, ...others]
  // Of those that are to be started anew whenever they end, none is ever completed.
  const spec = { ...made.spec, containers, restartPolicy: 'Never' }
  await cluster.client.create(pods, { ...made, spec })
}

async function addressOf(name: string): Promise<string> {
  const [namespace = '', app = ''] = name.split('/')
  const [v4 = ''] = (await cluster.user.addressOf(app, namespace)).split(',')
  return v4
}

function labelNamespace(name: string, team: string): Promise<unknown> {
  return cluster.client.patch(namespaces, { name }, merge, { metadata: { labels: { team } } })
}

function addressesIn(control: Controller, set: string): readonly string[] | undefined {
  const row = control.named('Address_Set', set)
  return row === undefined ? undefined : [...row.addresses].sort()
}

function matchesOf(control: Controller, group: string): readonly string[] {
  return control
    .rows('ACL', 'match', 'external_ids')
    .filter(({ external_ids: ids }) => ids['parent'] === group)
    .map(({ match }) => match)
}

type Spec = NonNullable<NetworkPolicy['spec']>

function createPolicy(
  spec: Partial<Spec>,
  metadata = { name: 'web', namespace: 'shop' },
): Promise<NetworkPolicy> {
  return cluster.client.create(networkPolicies, {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
    ...{ metadata, spec: { podSelector: {}, ...spec } },
  })
}

function editPolicy(spec: object): Promise<unknown> {
  return cluster.client.patch(networkPolicies, { namespace: 'shop', name: 'web' }, merge, { spec })
}

describe('a NetworkPolicy', () => {
  it('is about a pod that is completed no more: its address may be that of another', async () => {
    await createPolicy({ ingress: [{ from: [{ podSelector: {} }] }] })
    await createPod('shop/web')
    await createPod('shop/job')
    await using control = await cluster.startSettled()
    const set = 'web.shop.ingress.allow.IPv4.0'
    const [web, job] = [await addressOf('shop/web'), await addressOf('shop/job')]
    expect(addressesIn(control, set)).toEqual([web, job].sort())
    const where = { namespace: 'shop', name: 'job' }
    const status = { phase: 'Succeeded' }
    await cluster.client.patch(pods, where, merge, { status }, { subresource: 'status' })
    await control.settle()
    expect(addressesIn(control, set)).toEqual([web])
  })

  it('learns the number of a named port from a pod that comes later', async () => {
    await createPolicy({ ingress: [{ ports: [{ protocol: 'TCP', port: 'http' }] }] })
    await createPod('shop/web')
    await using control = await cluster.startSettled()
    const withPort = () => matchesOf(control, 'web.shop').filter((match) => match.includes('tcp.dst'))
    expect(withPort()).toEqual([])
    await createPod('shop/late', [{ name: 'http', containerPort: 8080 }])
    await control.settle()
    expect(withPort().every((match) => match.endsWith('tcp.dst == 8080'))).toBe(true)
    expect(withPort().length).toBeGreaterThan(0)
  })

  it('takes a named port of egress from its peers, whatever its own pods call so', async () => {
    await createPolicy({
      policyTypes: ['Egress'],
      egress: [
        {
          to: [{ namespaceSelector: { matchLabels: { team: 'db' } } }],
          ports: [{ protocol: 'TCP', port: 'http' }],
        },
      ],
    })
    await createPod('shop/web', [{ name: 'http', containerPort: 80 }])
    await createPod('db/main', [{ name: 'http', containerPort: 5432 }])
    await using control = await cluster.startSettled()
    const numbers = matchesOf(control, 'web.shop').flatMap(
      (match) => /tcp\.dst == (\d+)/.exec(match)?.[1] ?? [],
    )
    expect([...new Set(numbers)]).toEqual(['5432'])
  })

  it('is in effect for all others while the networks of one of its pods can not be read', async () => {
    await createPolicy({ ingress: [{ from: [{ podSelector: {} }] }] })
    for (const name of ['web', 'odd']) await createPod(`shop/${name}`)
    await using control = await cluster.startSettled()
    const asked = { 'k8s.v1.cni.cncf.io/networks': '[{"name":' }
    await cluster.user.annotate({ name: 'odd', namespace: 'shop' }, asked)
    await createPod('shop/never', [], asked)
    await createPod('shop/late')
    await editPolicy({ ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] })
    await control.settle()
    for (const name of ['odd', 'never'])
      expect(await cluster.user.told(name)).toEqual([expect.stringContaining('k8s.v1.cni.cncf.io/networks')])
    // What has a port keeps it, and is restricted as before.
    expect(control.portsOf('Port_Group', 'web.shop')).toEqual(['late.shop', 'odd.shop', 'web.shop'])
    const addresses = await Promise.all(['web', 'odd', 'late'].map((name) => addressOf(`shop/${name}`)))
    expect(addressesIn(control, 'web.shop.ingress.allow.IPv4.0')).toEqual(addresses.sort())
    expect(matchesOf(control, 'web.shop').some((match) => match.endsWith('tcp.dst == 80'))).toBe(true)
  })

  it('has nothing of a family when the last pod goes that has addresses of it', async () => {
    await cluster.client.create(subnetResource, subnet({ name: 'plain', cidrBlock: '10.18.0.0/24' }))
    await createPolicy({ ingress: [{}] })
    await createPod('shop/both')
    await createPod('shop/plain', [], { 'ovn.kubernetes.io/logical_switch': 'plain' })
    await using control = await cluster.startSettled()
    const ofV6 = () => [
      ...control.rows('Address_Set', 'name').filter(({ name }) => /^web\.shop\..*IPv6/.test(name)),
      ...matchesOf(control, 'web.shop').filter((match) => /ip6|icmp6/.test(match)),
    ]
    expect(ofV6().length).toBeGreaterThan(0)
    await cluster.removePod('both', 'shop')
    await control.settle()
    expect(ofV6()).toEqual([])
    expect(control.portsOf('Port_Group', 'web.shop')).toEqual(['plain.shop'])
    expect(matchesOf(control, 'web.shop').some((match) => match.includes('ip4.src'))).toBe(true)
  })

  it('is edited in one transaction, in which ICMPv6 is let in as before', async () => {
    const all = { from: [{ podSelector: {} }] }
    await createPolicy({ policyTypes: ['Ingress'], ingress: [all] })
    await createPod('shop/web')
    await using control = await cluster.startSettled()
    const icmpv6 = () =>
      control
        .rows('ACL', '_uuid', 'match')
        .flatMap(({ _uuid, match }) => (match === 'icmp6' ? [_uuid] : []))
        .sort()
    const before = icmpv6()
    expect(before).toHaveLength(2)
    await cluster.forgetCosts()
    await editPolicy({
      podSelector: { matchLabels: { app: 'web' } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [{ namespaceSelector: {} }], ports: [{ port: 80 }] }, all],
      egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }, { podSelector: {} }] }],
    })
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    expect(icmpv6()).toEqual(before)
    expect(matchesOf(control, 'web.shop').some((match) => match.includes('10.0.0.0/8'))).toBe(true)
    expect(addressesIn(control, 'web.shop.ingress.allow.IPv4.1')).toEqual([await addressOf('shop/web')])
  })

  it('has each row once, whatever subnets its pods are in by turns', async () => {
    await cluster.client.create(subnetResource, subnet({ name: 'plain', cidrBlock: '10.18.0.0/24' }))
    await createPolicy({ policyTypes: ['Ingress', 'Egress'], ingress: [{}], egress: [{}] })
    const place = { 'ovn.kubernetes.io/logical_switch': 'plain' }
    await createPod('shop/a')
    await createPod('shop/b', [], place)
    await createPod('shop/c')
    await using control = await cluster.startSettled()
    const acls = () =>
      control
        .rows('ACL', 'direction', 'match', 'external_ids')
        .filter(({ external_ids: ids }) => ids['parent'] === 'web.shop')
        .map(({ direction, match }) => `${direction} ${match}`)
        .sort()
    const before = acls()
    expect([...new Set(before)]).toEqual(before)
    for (const family of ['ip4.src', 'ip4.dst', 'ip6.src', 'ip6.dst'])
      expect(before.filter((acl) => acl.includes(`${family} ==`))).toHaveLength(1)
    await cluster.forgetCosts()
    await createPod('shop/d', [], place)
    await control.settle()
    // Nothing but its port.
    expect([(await cluster.costs()).transactions, acls()]).toEqual([1, before])
  })

  it('lets in none of a stranger that calls namespace and policy after its uid', async () => {
    const fromOwn = { ingress: [{ from: [{ podSelector: {} }] }] }
    await createPolicy({ podSelector: { matchLabels: { app: 'none' } } }, { name: 'a-b', namespace: 'shop' })
    const { metadata } = await createPolicy(fromOwn, { name: 'a.b', namespace: 'shop' })
    const [, start = '', end = ''] = /^(.*)-(.*)$/.exec(metadata.uid ?? '') ?? []
    await cluster.client.create(namespaces, namespace({ name: end }))
    await createPolicy(fromOwn, { name: `a.b.shop.${start}`, namespace: end })
    for (const name of ['shop/web', `${end}/thief`]) await createPod(name)
    await using control = await cluster.startSettled()
    const members = control
      .rows('Port_Group', 'name')
      .filter(({ name }) => name.startsWith('a.b.shop'))
      .map(({ name }) => [
        control.portsOf('Port_Group', name),
        addressesIn(control, `${name}.ingress.allow.IPv4.0`) ?? [],
      ])
    expect(members.toSorted()).toEqual(
      [
        [[], []],
        [['web.shop'], [await addressOf('shop/web')]],
        [[`thief.${end}`], [await addressOf(`${end}/thief`)]],
      ].toSorted(),
    )
  })

  it('has no set of what it had before: neither of no rule, nor of rules that are gone', async () => {
    await createPolicy({ policyTypes: ['Ingress'] })
    await createPod('shop/web')
    await using control = await cluster.startSettled()
    const sets = () =>
      control
        .rows('Address_Set', 'name')
        .flatMap(({ name }) => /^web\.shop\.ingress\.allow\.IPv4\.(.*)$/.exec(name)?.[1] ?? [])
        .sort()
    expect(sets()).toEqual(['all'])
    await editPolicy({ ingress: [{}, {}] })
    await control.settle()
    expect(sets()).toEqual(['0', '1'])
    await editPolicy({ ingress: [{}] })
    await control.settle()
    expect(sets()).toEqual(['0'])
  })
})

const kinds = { banp: baselineAdminNetworkPolicyResource, cnp: clusterNetworkPolicyResource } as const

async function createAdmin(
  kind: keyof typeof kinds,
  name: string,
  spec: NonNullable<AdminNetworkPolicy['spec']>,
): Promise<void> {
  const resource: Resource<AdminNetworkPolicy> = kinds[kind]
  await cluster.client.create(resource, {
    ...{ apiVersion: `${resource.group}/${resource.version}`, kind: resource.kind, metadata: { name } },
    spec: { subject: { namespaces: { matchLabels: { team: 'shop' } } }, ...spec },
  })
}

const fromDb = [{ namespaces: { matchLabels: { team: 'db' } } }]

describe('a policy of an administrator', () => {
  it('of the baseline follows peers of ingress: pods that come, and namespaces that get other labels', async () => {
    await createAdmin('banp', 'default', { ingress: [{ action: 'Deny', from: fromDb }] })
    await createPod('shop/web')
    await using control = await cluster.startSettled({ settings })
    const set = 'default.ingress.0..IPv4'
    expect(addressesIn(control, set)).toEqual([])
    await createPod('db/main')
    await control.settle()
    expect(addressesIn(control, set)).toEqual([await addressOf('db/main')])
    await labelNamespace('db', 'other')
    await control.settle()
    expect(addressesIn(control, set)).toEqual([])
    await labelNamespace('db', 'db')
    await control.settle()
    expect(addressesIn(control, set)).toEqual([await addressOf('db/main')])
  })

  it('whose rules have no names follows edits of their peers', async () => {
    await createAdmin('cnp', 'guard', {
      ...{ tier: 'Admin', priority: 3 },
      ingress: [{ action: 'Deny', from: fromDb }],
    })
    await createPod('shop/web')
    await createPod('db/main')
    await using control = await cluster.startSettled({ settings })
    const set = 'guard.ingress.0..IPv4'
    expect(addressesIn(control, set)).toEqual([await addressOf('db/main')])
    const from = [{ namespaces: { matchLabels: { team: 'shop' } } }]
    await cluster.client.patch(clusterNetworkPolicyResource, { name: 'guard' }, merge, {
      spec: { ingress: [{ action: 'Deny', from }] },
    })
    await control.settle()
    expect(addressesIn(control, set)).toEqual([await addressOf('shop/web')])
  })

  it('follows a subject that selects pods of namespaces by their labels', async () => {
    const pod = {
      namespaceSelector: { matchLabels: { team: 'till' } },
      podSelector: { matchLabels: { app: 'web' } },
    }
    await createAdmin('cnp', 'guard', {
      ...{ tier: 'Admin', priority: 3, subject: { pods: pod } },
      ingress: [{ action: 'Deny', from: fromDb }],
    })
    await createPod('shop/web')
    await createPod('shop/other')
    await using control = await cluster.startSettled({ settings })
    expect(control.portsOf('Port_Group', 'guard')).toEqual([])
    await labelNamespace('shop', 'till')
    await control.settle()
    expect(control.portsOf('Port_Group', 'guard')).toEqual(['web.shop'])
    await labelNamespace('shop', 'shop')
    await control.settle()
    expect(control.portsOf('Port_Group', 'guard')).toEqual([])
  })

  it('follows peers that are pods of namespaces by their labels', async () => {
    const from = [
      {
        pods: {
          namespaceSelector: { matchLabels: { team: 'till' } },
          podSelector: { matchLabels: { app: 'main' } },
        },
      },
    ]
    await createAdmin('cnp', 'guard', {
      ...{ tier: 'Admin', priority: 3 },
      ingress: [{ action: 'Deny', from }],
    })
    for (const name of ['shop/web', 'db/main', 'db/other']) await createPod(name)
    await using control = await cluster.startSettled({ settings })
    const set = 'guard.ingress.0..IPv4'
    expect(addressesIn(control, set)).toEqual([])
    await labelNamespace('db', 'till')
    await control.settle()
    expect(addressesIn(control, set)).toEqual([await addressOf('db/main')])
    await labelNamespace('db', 'db')
    await control.settle()
    expect(addressesIn(control, set)).toEqual([])
  })

  it('takes in all of an edit, of the subject and of peers in both directions', async () => {
    const shop = { namespaces: { matchLabels: { team: 'shop' } } }
    const db = { namespaces: { matchLabels: { team: 'db' } } }
    const specOf = (subject: typeof shop, peer: typeof shop) => ({
      ...{ tier: 'Admin', priority: 3, subject },
      ingress: [{ action: 'Deny', from: [peer] }],
      egress: [{ action: 'Deny', to: [peer] }],
    })
    await createAdmin('cnp', 'guard', specOf(shop, db))
    for (const name of ['shop/web', 'db/main']) await createPod(name)
    await using control = await cluster.startSettled({ settings })
    const now = () => [
      control.portsOf('Port_Group', 'guard'),
      addressesIn(control, 'guard.ingress.0..IPv4'),
      addressesIn(control, 'guard.egress.0..IPv4'),
    ]
    const [web, main] = [await addressOf('shop/web'), await addressOf('db/main')]
    expect(now()).toEqual([['web.shop'], [main], [main]])
    const spec = specOf(db, shop)
    await cluster.client.patch(clusterNetworkPolicyResource, { name: 'guard' }, merge, { spec })
    await control.settle()
    expect(now()).toEqual([['main.db'], [web], [web]])
  })

  it('that goes while nobody looks leaves nothing', async () => {
    const name = 'Ünnamed / rule'
    await createAdmin('cnp', 'guard', {
      ...{ tier: 'Admin', priority: 3 },
      ingress: [{ name, action: 'Deny', from: fromDb }],
    })
    await createPod('shop/web')
    {
      await using control = await cluster.startSettled({ settings })
      expect(
        control.rows('Address_Set', 'name').some(({ name: set }) => set.startsWith('guard.ingress.0.')),
      ).toBe(true)
    }
    await cluster.client.remove(clusterNetworkPolicyResource, { name: 'guard' })
    await using control = await cluster.startSettled({ settings })
    const left = [...control.rows('Address_Set', 'name'), ...control.rows('Port_Group', 'name')]
    expect(left.filter(({ name: one }) => one.startsWith('guard'))).toEqual([])
  })
})

describe('a SecurityGroup', () => {
  it('whose name has that of the default one in it is another one', async () => {
    await cluster.client.create(vpcResource, vpc({ name: 'tower', namespaces: ['db'] }))
    const rooms = { name: 'rooms', cidrBlock: '10.18.0.0/24', vpc: 'tower', namespaces: ['db'] }
    await cluster.client.create(subnetResource, subnet(rooms))
    const name = 'my-default-securitygroup'
    await cluster.client.create(securityGroupResource, securityGroup({ name }))
    await using control = await cluster.startSettled()
    await createPod('db/main', [], { 'ovn.kubernetes.io/security_groups': name })
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'main.db')?.external_ids).toMatchObject({
      ...{ security_groups: name, [`associated_sg_${name}`]: 'true' },
      'associated_sg_default-securitygroup': 'false',
    })
  })
})
