import { networkAttachmentResource, subnetResource } from '@kube-ovn/kube-api'
import { namespaces, networkPolicies, pods, type NetworkPolicy } from '@kube-ovn/kube-api/core'
import { namespace, pod, subnet } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1', 'n2')
  await cluster.client.create(namespaces, namespace({ name: 'shop', labels: { team: 'shop' } }))
  await cluster.client.create(namespaces, namespace({ name: 'db', labels: { team: 'db' } }))
})

type Spec = NonNullable<NetworkPolicy['spec']>

function policy(name: string, spec: Spec, annotations: Readonly<Record<string, string>> = {}): NetworkPolicy {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, namespace: 'shop', annotations },
    spec: { podSelector: {}, ...spec },
  }
}

async function createPods(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const [namespace = '', app = ''] = name.split('/')
    await cluster.client.create(pods, pod({ name: app, namespace, node: 'n1', labels: { app } }))
  }
}

function label(name: string, labels: Readonly<Record<string, string | null>>): Promise<unknown> {
  const [namespace = '', app = ''] = name.split('/')
  const change = { metadata: { labels } }
  return cluster.client.patch(pods, { namespace, name: app }, 'application/merge-patch+json', change)
}

/** ACLs of a group as an administrator would type them, in the order of their text. */
function aclsOf(control: Controller, group: string): readonly string[] {
  return control
    .rows('ACL', 'direction', 'priority', 'match', 'action', 'external_ids')
    .filter(({ external_ids: ids }) => ids['parent'] === group)
    .map(({ direction, priority, match, action }) => `${direction} ${priority} ${match} ${action}`)
    .sort()
}

function addressesIn(control: Controller, set: string): readonly string[] | undefined {
  const row = control.named('Address_Set', set)
  return row === undefined ? undefined : [...row.addresses].sort()
}

async function addressesOf(name: string): Promise<readonly string[]> {
  const [namespace = '', app = ''] = name.split('/')
  return (await cluster.user.addressOf(app, namespace)).split(',')
}

const fromFriends = { ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }] }] }
const allowed4 = 'web.shop.ingress.allow.IPv4.0'
const allowed6 = 'web.shop.ingress.allow.IPv6.0'

describe('a NetworkPolicy', () => {
  it('is in the port group of its pods, follows labels, and ends with all that it had', async () => {
    await using control = await cluster.startSettled()
    const before = control.rows('ACL', 'match').length
    await cluster.client.create(networkPolicies, policy('web', fromFriends))
    await control.settle()
    // For nobody yet: a group, and nothing else.
    expect([control.portsOf('Port_Group', 'web.shop'), aclsOf(control, 'web.shop')]).toEqual([[], []])
    await createPods('shop/web', 'shop/friend', 'db/friend')
    await control.settle()
    expect(control.portsOf('Port_Group', 'web.shop')).toEqual(['friend.shop', 'web.shop'])
    const [v4 = '', v6 = ''] = await addressesOf('shop/friend')
    expect([addressesIn(control, allowed4), addressesIn(control, allowed6)]).toEqual([[v4], [v6]])
    expect(aclsOf(control, 'web.shop')).toEqual([
      'from-lport 2001 icmp6 allow-stateless',
      'to-lport 2000 outport == @web.shop && ip drop',
      'to-lport 2001 icmp6 allow-stateless',
      `to-lport 2001 outport == @web.shop && ip && ip4.src == $${allowed4} && ip4.src != $web.shop.ingress.except.IPv4.0 allow-related`,
      `to-lport 2001 outport == @web.shop && ip && ip6.src == $${allowed6} && ip6.src != $web.shop.ingress.except.IPv6.0 allow-related`,
    ])
    await label('shop/friend', { app: 'stranger' })
    await control.settle()
    expect([addressesIn(control, allowed4), addressesIn(control, allowed6)]).toEqual([[], []])
    await label('shop/friend', { app: 'friend' })
    await cluster.removePod('web', 'shop')
    await control.settle()
    expect(control.portsOf('Port_Group', 'web.shop')).toEqual(['friend.shop'])
    expect(addressesIn(control, allowed4)).toEqual([v4])
    await cluster.client.remove(networkPolicies, { namespace: 'shop', name: 'web' })
    await control.settle()
    expect(control.named('Port_Group', 'web.shop')).toBeUndefined()
    expect([addressesIn(control, allowed4), control.rows('ACL', 'match').length]).toEqual([undefined, before])
  })

  it('costs a pod that comes one transaction, with its port, and an edit the rows that differ', async () => {
    await cluster.client.create(networkPolicies, policy('web', fromFriends))
    await createPods('shop/web', 'shop/friend')
    await using control = await cluster.startSettled()
    await cluster.client.create(
      pods,
      pod({ name: 'friend-2', namespace: 'shop', node: 'n2', labels: { app: 'friend' } }),
    )
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    expect(control.portsOf('Port_Group', 'web.shop')).toEqual(['friend-2.shop', 'friend.shop', 'web.shop'])
    expect(addressesIn(control, allowed4)).toHaveLength(2)
    const kept = control.rows('ACL', '_uuid', 'match').map(({ _uuid }) => _uuid)
    await cluster.forgetCosts()
    const ports = [{ protocol: 'TCP', port: 80 }]
    const ingress = [...fromFriends.ingress, { from: [{ namespaceSelector: {} }], ports }]
    await cluster.client.patch(
      networkPolicies,
      { namespace: 'shop', name: 'web' },
      'application/merge-patch+json',
      { spec: { ingress } },
    )
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    const after = control.rows('ACL', '_uuid', 'match').map(({ _uuid }) => _uuid)
    expect(after).toEqual(expect.arrayContaining(kept))
    expect(after).toHaveLength(kept.length + 2)
    expect(addressesIn(control, 'web.shop.ingress.allow.IPv4.1')).toHaveLength(3)
  })

  it('is what it was after a restart, without a write, also when pods changed meanwhile', async () => {
    await cluster.client.create(
      networkPolicies,
      policy(
        'web',
        { ...fromFriends, policyTypes: ['Ingress', 'Egress'] },
        {
          'ovn.kubernetes.io/enable_log': 'true',
          'ovn.kubernetes.io/acl_log_meter_rate': '100',
        },
      ),
    )
    await createPods('shop/web', 'shop/friend')
    {
      await using control = await cluster.startSettled()
      expect(control.rows('Meter', 'name', 'unit')).toEqual([
        { name: 'web.shop_from-lport_meter', unit: 'pktps' },
        { name: 'web.shop_to-lport_meter', unit: 'pktps' },
      ])
      expect(control.rows('Meter_Band', 'action', 'rate', 'burst_size')).toEqual([
        { action: 'drop', rate: 100, burst_size: 1 },
        { action: 'drop', rate: 100, burst_size: 1 },
      ])
    }
    {
      await using control = await cluster.startController()
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    }
    await label('shop/friend', { app: 'stranger' })
    await cluster.client.remove(namespaces, { name: 'db' })
    await using control = await cluster.startSettled()
    expect(addressesIn(control, allowed4)).toEqual([])
  })

  it('follows labels of namespaces, and leaves pods of the host out', async () => {
    const ingress = [{ from: [{ namespaceSelector: { matchLabels: { team: 'db' } } }] }]
    await cluster.client.create(networkPolicies, policy('web', { ingress }))
    await createPods('shop/web', 'db/a', 'db/b')
    await cluster.client.create(pods, pod({ name: 'host', namespace: 'shop', node: 'n1', hostNetwork: true }))
    await using control = await cluster.startSettled()
    expect(control.portsOf('Port_Group', 'web.shop')).toEqual(['web.shop'])
    expect(addressesIn(control, allowed4)).toHaveLength(2)
    const team = (name: string | null): Promise<unknown> =>
      cluster.client.patch(namespaces, { name: 'db' }, 'application/merge-patch+json', {
        metadata: { labels: { team: name } },
      })
    await team(null)
    await control.settle()
    expect(addressesIn(control, allowed4)).toEqual([])
    await team('db')
    await control.settle()
    expect(addressesIn(control, allowed4)).toHaveLength(2)
  })

  const withPort = (name: string, namespace: string, containerPort: number) => ({
    ...pod({ name, namespace, node: 'n1' }),
    spec: {
      nodeName: 'n1',
      containers: [{ name: 'c', image: 'pause', ports: [{ name: 'http', containerPort }] }],
    },
  })
  const named = [{ protocol: 'TCP', port: 'http' }]

  it.each<[string, Spec, string]>([
    ['the pods that it is for', { ingress: [{ ports: named }] }, 'shop'],
    [
      'any pod of its namespace, where a rule for egress has no peers',
      { egress: [{ ports: named }] },
      'shop',
    ],
    [
      'any pod of its namespace, where the peers of a rule for egress are blocks',
      { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: named }] },
      'shop',
    ],
  ])('knows named ports of %s', async (_of, spec, namespace) => {
    await cluster.client.create(networkPolicies, policy('web', spec))
    await createPods('shop/web')
    await using control = await cluster.startSettled()
    const onPort = (): readonly string[] =>
      aclsOf(control, 'web.shop').filter((acl) => acl.includes('tcp.dst') && acl.includes('ip4'))
    expect(onPort()).toEqual([])
    // Whoever is elsewhere must not say what these pods may reach.
    await cluster.client.create(pods, withPort('stranger', 'db', 25))
    await cluster.client.create(pods, withPort('named', namespace, 8080))
    await control.settle()
    expect(onPort()).toEqual([expect.stringContaining('tcp.dst == 8080')])
    await cluster.removePod('named', namespace)
    await control.settle()
    expect(onPort()).toEqual([])
  })

  it('tells what has no effect, and keeps the rest', async () => {
    await createPods('shop/web')
    await cluster.client.create(
      networkPolicies,
      policy(
        'web',
        { ...fromFriends },
        {
          'ovn.kubernetes.io/acl_log_meter_rate': 'fast',
          'ovn.kubernetes.io/network_policy_for': 'ovn,nowhere',
        },
      ),
    )
    await using control = await cluster.startSettled()
    expect(await cluster.user.told('web')).toEqual(
      expect.arrayContaining([
        expect.stringContaining('ovn.kubernetes.io/acl_log_meter_rate value=fast'),
        expect.stringContaining('ovn.kubernetes.io/network_policy_for value=nowhere'),
      ]),
    )
    expect(control.portsOf('Port_Group', 'web.shop')).toEqual(['web.shop'])
    expect(aclsOf(control, 'web.shop')).toContain('to-lport 2000 outport == @web.shop && ip drop')
  })

  it('has a group of its own where another one has the name', async () => {
    await cluster.client.create(namespaces, namespace({ name: 'n1' }))
    const policies = [
      policy('a-b', {}),
      policy('a.b', {}),
      { ...policy('node', {}), metadata: { name: 'node', namespace: 'n1' } },
    ]
    for (const one of policies) await cluster.client.create(networkPolicies, one)
    await createPods('shop/web', 'n1/web')
    await using control = await cluster.startSettled()
    const groups = control.rows('Port_Group', 'name', 'external_ids').map(({ name, external_ids: ids }) => ({
      name,
      policy: ids['np'],
      node: ids['node'],
    }))
    expect(groups).toEqual(
      expect.arrayContaining([
        { name: 'a.b.shop', policy: 'shop/a-b', node: undefined },
        {
          name: expect.stringMatching(/^a\.b\.shop_[0-9a-f.]{36}$/) as string,
          policy: 'shop/a.b',
          node: undefined,
        },
        { name: 'node.n1', policy: 'node/n1', node: 'n1' },
        {
          name: expect.stringMatching(/^node\.n1_[0-9a-f.]{36}$/) as string,
          policy: 'n1/node',
          node: undefined,
        },
      ]),
    )
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['web.n1', 'web.shop'])
  })

  it('restricts all of IP, or TCP, UDP and SCTP alone, as it says itself, or else the flag', async () => {
    const annotation = 'ovn.kubernetes.io/network_policy_enforcement'
    const none = { policyTypes: ['Ingress'] }
    await cluster.client.create(networkPolicies, policy('web', none))
    await cluster.client.create(networkPolicies, policy('strict', none, { [annotation]: 'standard' }))
    await createPods('shop/web')
    await using control = await cluster.startSettled({ flags: { npEnforcement: 'lax' } })
    const restricted = (name: string): readonly string[] =>
      aclsOf(control, `${name}.shop`).filter((acl) => !acl.includes('.except.'))
    const lax = (name: string): readonly string[] => [
      `to-lport 2000 outport == @${name}.shop && (tcp || udp || sctp) drop`,
      `to-lport 2001 outport == @${name}.shop && udp.src == 547 && udp.dst == 546 && ip6 allow-related`,
      `to-lport 2001 outport == @${name}.shop && udp.src == 67 && udp.dst == 68 && ip4 allow-related`,
    ]
    const standard = (name: string): readonly string[] => [
      'from-lport 2001 icmp6 allow-stateless',
      `to-lport 2000 outport == @${name}.shop && ip drop`,
      'to-lport 2001 icmp6 allow-stateless',
    ]
    expect([restricted('web'), restricted('strict')]).toEqual([lax('web'), standard('strict')])
    const say = (name: string, enforcement: string | null): Promise<unknown> =>
      cluster.client.patch(networkPolicies, { namespace: 'shop', name }, 'application/merge-patch+json', {
        metadata: { annotations: { [annotation]: enforcement } },
      })
    await say('web', 'standard')
    await say('strict', null)
    await control.settle()
    expect([restricted('web'), restricted('strict')]).toEqual([standard('web'), lax('strict')])
    await say('web', 'lax')
    await control.settle()
    expect(restricted('web')).toEqual(lax('web'))
  })

  it('is put back when somebody changes it, and leaves what others made alone', async () => {
    await cluster.client.create(networkPolicies, policy('web', fromFriends))
    await createPods('shop/web', 'shop/friend')
    await using control = await cluster.startSettled()
    const { northbound } = cluster
    await northbound.nbctl('create', 'Address_Set', 'name=others', 'addresses=10.9.9.9')
    await northbound.nbctl('pg-add', 'others')
    await northbound.nbctl('acl-add', 'others', 'to-lport', '2001', 'ip4.src == 9.9.9.9', 'drop')
    const want = [aclsOf(control, 'web.shop'), addressesIn(control, allowed4)]
    await northbound.nbctl('add', 'Address_Set', allowed4, 'addresses', '"10.9.9.9"')
    await northbound.nbctl('acl-del', 'web.shop')
    await control.settle()
    expect([aclsOf(control, 'web.shop'), addressesIn(control, allowed4)]).toEqual(want)
    expect(addressesIn(control, 'others')).toEqual(['10.9.9.9'])
    expect(await northbound.nbctl('acl-list', 'others')).toContain('9.9.9.9')
    // Upstream takes all that is in tier 0 to tier 2, whoever made it.
    const foreign = control.rows('ACL', 'match', 'tier').find(({ match }) => match === 'ip4.src == 9.9.9.9')
    expect(foreign?.tier).toBe(0)
  })

  describe('that names its networks', () => {
    const provider = 'storage.shop.ovn'
    const named = (networks: string) => ({ 'ovn.kubernetes.io/network_policy_for': networks })
    const addressOn = async (of: string, name: string): Promise<readonly string[]> => {
      const found = await cluster.client.get(pods, { namespace: 'shop', name })
      const text = found?.metadata.annotations?.[`${of}.kubernetes.io/ip_address`] ?? ''
      return text.split(',')
    }
    beforeEach(async () => {
      await cluster.client.create(networkAttachmentResource, {
        ...{ apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' },
        metadata: { namespace: 'shop', name: 'storage' },
        spec: { config: JSON.stringify({ cniVersion: '0.3.0', type: 'kube-ovn', provider }) },
      })
      const storage = { name: 'storage', cidrBlock: '10.17.0.0/16,fd00:10:17::/112', provider }
      await cluster.client.create(subnetResource, subnet(storage))
      const annotations = { 'k8s.v1.cni.cncf.io/networks': 'storage' }
      for (const name of ['web', 'friend']) {
        const made = { name, namespace: 'shop', node: 'n1', labels: { app: name }, annotations }
        await cluster.client.create(pods, pod(made))
      }
      // Has no NIC there.
      await createPods('shop/plain')
    })

    it('is for NICs there alone, and its peers are addresses there', async () => {
      await cluster.client.create(networkPolicies, policy('web', fromFriends, named('shop/storage')))
      await using control = await cluster.startSettled()
      const seen = () => [
        control.portsOf('Port_Group', 'web.shop'),
        [...(addressesIn(control, allowed4) ?? []), ...(addressesIn(control, allowed6) ?? [])],
      ]
      const further = [`friend.shop.${provider}`, `web.shop.${provider}`]
      expect(seen()).toEqual([further, await addressOn(provider, 'friend')])
      expect(aclsOf(control, 'web.shop')).toContain('to-lport 2000 outport == @web.shop && ip drop')
      const name = (networks: string): Promise<unknown> =>
        cluster.client.patch(
          networkPolicies,
          { namespace: 'shop', name: 'web' },
          'application/merge-patch+json',
          { metadata: { annotations: named(networks) } },
        )
      await name('ovn')
      await control.settle()
      const first = ['friend.shop', 'plain.shop', 'web.shop']
      expect(seen()).toEqual([first, await addressOn('ovn', 'friend')])
      await name('ovn, shop/storage')
      await control.settle()
      expect(seen()[0]).toEqual([...first, ...further].sort())
      await name('shop/other')
      await control.settle()
      expect([control.portsOf('Port_Group', 'web.shop'), aclsOf(control, 'web.shop')]).toEqual([[], []])
    })
  })
})

describe('without --enable-np', () => {
  it('nothing is restricted, and what was is no more', async () => {
    await cluster.client.create(networkPolicies, policy('web', fromFriends))
    await createPods('shop/web', 'shop/friend')
    {
      await using control = await cluster.startSettled()
      expect(aclsOf(control, 'web.shop')).not.toEqual([])
    }
    await using control = await cluster.startSettled({ settings: { enableNp: false } })
    expect(control.named('Port_Group', 'web.shop')).toBeUndefined()
    expect(aclsOf(control, 'web.shop')).toEqual([])
    expect(addressesIn(control, allowed4)).toBeUndefined()
  })
})
