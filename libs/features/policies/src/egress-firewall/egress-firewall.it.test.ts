import { egressFirewallResource, type EgressFirewallRule } from '@kube-ovn/kube-api'
import { namespaces, nodes, pods } from '@kube-ovn/kube-api/core'
import { egressFirewall, namespace, node, pod } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1', 'n2')
  for (const name of ['shop', 'db']) await cluster.client.create(namespaces, namespace({ name }))
})

const deny: EgressFirewallRule = { type: 'Deny', to: { cidrSelector: '0.0.0.0/0' } }
const allow: EgressFirewallRule = { type: 'Allow', to: { cidrSelector: '192.0.2.0/24' } }
const key = { namespace: 'shop', name: 'default' }

function create(...egress: readonly EgressFirewallRule[]): Promise<unknown> {
  return cluster.client.create(egressFirewallResource, egressFirewall({ namespace: 'shop', egress }))
}

function edit(...egress: readonly unknown[]): Promise<unknown> {
  return cluster.client.patch(egressFirewallResource, key, 'application/merge-patch+json', {
    spec: { egress },
  })
}

async function createPods(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const [namespace = '', app = ''] = name.split('/')
    await cluster.client.create(pods, pod({ name: app, namespace, node: 'n1' }))
  }
}

async function statusOf(name = 'default') {
  return (await cluster.client.get(egressFirewallResource, { ...key, name }))?.status
}

const group = 'egress_firewall.shop'
const match = `inport == @${group}`

/** The rules of the firewall of the shop, as an administrator would type them, in the order in which they are asked. */
function rulesOf(control: Controller): readonly string[] {
  return control
    .rows('ACL', 'direction', 'tier', 'priority', 'match', 'action', 'options', 'external_ids')
    .filter(({ external_ids: ids }) => ids['egress_firewall'] === 'shop')
    .sort((a, b) => a.tier - b.tier || b.priority - a.priority || (a.match < b.match ? -1 : 1))
    .map(
      ({ direction, tier, priority, match, action, options }) =>
        `${direction} ${tier} ${priority} ${match} ${action}${options['apply-after-lb'] === 'true' ? '' : ' before'}`,
    )
}

function addressesIn(control: Controller, set: string): readonly string[] | undefined {
  const row = control.named('Address_Set', set)
  return row === undefined ? undefined : [...row.addresses].sort()
}

const denied = [
  `from-lport 0 10001 ${match} && ip4.dst == $egress_firewall_inside.IPv4 pass`,
  `from-lport 0 10001 ${match} && ip6.dst == $egress_firewall_inside.IPv6 pass`,
  `from-lport 0 10000 ${match} && ip4.dst == 0.0.0.0/0 drop`,
  `from-lport 3 1 ${match} && ip allow-related`,
]

describe('an EgressFirewall', () => {
  it('is for all pods of its namespace, says so, and ends with all that it had', async () => {
    await createPods('shop/web', 'db/a')
    await using control = await cluster.startSettled()
    const before = [...control.rows('ACL', 'match'), ...control.rows('Address_Set', 'name')].length
    await create(deny)
    await control.settle()
    expect(control.portsOf('Port_Group', group)).toEqual(['web.shop'])
    expect(rulesOf(control)).toEqual(denied)
    // Overlay subnets, Services and links.
    expect(addressesIn(control, 'egress_firewall_inside.IPv4')).toEqual(
      expect.arrayContaining(['10.16.0.0/16', '100.64.0.0/16', '224.0.0.0/24', '255.255.255.255/32']),
    )
    expect(addressesIn(control, 'egress_firewall_inside.IPv4')).not.toContain('0.0.0.0/0')
    const applied = 'EgressFirewall Rules applied'
    expect(await statusOf()).toEqual({ observedGeneration: 1, status: applied, messages: [applied] })
    await cluster.client.remove(egressFirewallResource, key)
    await control.settle()
    expect(control.named('Port_Group', group)).toBeUndefined()
    expect([...control.rows('ACL', 'match'), ...control.rows('Address_Set', 'name')]).toHaveLength(before)
  })

  it('costs a pod that comes one transaction, and an edit the rows that differ', async () => {
    await create(deny)
    await using control = await cluster.startSettled()
    await cluster.forgetCosts()
    await createPods('shop/web')
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    expect(control.portsOf('Port_Group', group)).toEqual(['web.shop'])
    const uuids = (): readonly string[] => control.rows('ACL', '_uuid').map(({ _uuid }) => _uuid)
    const before = uuids()
    await cluster.forgetCosts()
    await edit(deny, allow)
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    expect(uuids()).toEqual(expect.arrayContaining([...before]))
    expect(uuids()).toHaveLength(before.length + 1)
    expect(rulesOf(control)).toContain(`from-lport 0 9999 ${match} && ip4.dst == 192.0.2.0/24 pass`)
  })

  it('is what it was after a restart, without a write', async () => {
    await create(allow, deny)
    await createPods('shop/web')
    {
      await using _ = await cluster.startSettled()
    }
    await cluster.forgetCosts()
    await using control = await cluster.startSettled()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    expect(control.portsOf('Port_Group', group)).toEqual(['web.shop'])
  })

  it('knows nodes by their labels, and follows their addresses', async () => {
    await create({ type: 'Allow', to: { nodeSelector: { matchLabels: { door: 'open' } } } }, deny)
    await createPods('shop/web')
    await using control = await cluster.startSettled()
    const known = () => [4, 6].map((family) => addressesIn(control, `${group}.0.IPv${family}`))
    expect(known()).toEqual([[], []])
    const label = (name: string, door: string | null) =>
      cluster.client.patch(nodes, { name }, 'application/merge-patch+json', {
        metadata: { labels: { door } },
      })
    await label('n2', 'open')
    await control.settle()
    expect(known()).toEqual([['172.18.0.12'], ['fd00:18::12']])
    await cluster.user.renumberNode('n2', '172.18.0.22', 'fd00:18::22')
    await control.settle()
    expect(known()).toEqual([['172.18.0.22'], ['fd00:18::22']])
    const late = { name: 'n3', addresses: ['172.18.0.13'], labels: { door: 'open' } }
    await cluster.client.create(nodes, node(late))
    await control.settle()
    expect(known()).toEqual([['172.18.0.13', '172.18.0.22'], ['fd00:18::22']])
    await cluster.client.remove(nodes, { name: 'n3' })
    await control.settle()
    expect(known()).toEqual([['172.18.0.22'], ['fd00:18::22']])
    await label('n2', null)
    await control.settle()
    expect(known()).toEqual([[], []])
  })

  it('is put back when somebody changes it, and leaves what others made alone', async () => {
    await create(deny)
    await createPods('shop/web')
    await using control = await cluster.startSettled()
    const { northbound } = cluster
    await northbound.nbctl('pg-add', 'others')
    await northbound.nbctl('acl-add', 'others', 'to-lport', '2001', 'ip4.src == 9.9.9.9', 'drop')
    const inside = addressesIn(control, 'egress_firewall_inside.IPv4')
    await northbound.nbctl('acl-del', group)
    await northbound.nbctl('clear', 'Port_Group', group, 'ports')
    await northbound.nbctl('add', 'Address_Set', 'egress_firewall_inside.IPv4', 'addresses', '"0.0.0.0/0"')
    await control.settle()
    expect([rulesOf(control), control.portsOf('Port_Group', group)]).toEqual([denied, ['web.shop']])
    expect(addressesIn(control, 'egress_firewall_inside.IPv4')).toEqual(inside)
    expect(await northbound.nbctl('acl-list', 'others')).toContain('9.9.9.9')
  })

  it('is logged as its namespace says, by a meter that goes with it', async () => {
    await create(allow, deny)
    await createPods('shop/web')
    const say = (text: string | null): Promise<unknown> =>
      cluster.client.patch(namespaces, { name: 'shop' }, 'application/merge-patch+json', {
        metadata: { annotations: { 'k8s.ovn.org/acl-logging': text } },
      })
    const logged = (control: Controller): readonly string[] =>
      control
        .rows('ACL', 'action', 'log', 'severity', 'meter', 'external_ids')
        .filter(({ log, external_ids: ids }) => log && ids['egress_firewall'] === 'shop')
        .map(({ action, severity, meter }) => `${action} ${severity} ${meter}`)
        .sort()
    const meters = (control: Controller) => control.rows('Meter', 'name', 'unit')
    const meter = `${group}_meter`
    const both = [`drop alert ${meter}`, `pass info ${meter}`]
    {
      await using control = await cluster.startSettled()
      expect([logged(control), meters(control)]).toEqual([[], []])
      await say('{"deny":"alert","allow":"info"}')
      await control.settle()
      expect((await cluster.costs()).transactions).toBe(1)
      expect([logged(control), meters(control)]).toEqual([both, [{ name: meter, unit: 'pktps' }]])
      expect(control.rows('Meter_Band', 'action', 'rate')).toEqual([{ action: 'drop', rate: 20 }])
    }
    await cluster.forgetCosts()
    await using control = await cluster.startSettled()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    expect(logged(control)).toEqual(both)
    await say('{"deny":"loud","allow":"debug"}')
    await control.settle()
    expect(logged(control)).toEqual([`pass debug ${meter}`])
    // Its rules are in effect all the same.
    expect(await statusOf()).toMatchObject({ status: 'EgressFirewall Rules applied' })
    expect(await cluster.user.told('default')).toEqual([
      expect.stringContaining('k8s.ovn.org/acl-logging deny value=loud'),
    ])
    await say('{}')
    await control.settle()
    expect([logged(control), meters(control)]).toEqual([[], []])
  })

  it('fails closed where it can not be read, and tells so', async () => {
    await create({ type: 'Allow', to: { dnsName: 'www.example.com' } }, deny)
    await cluster.client.create(
      egressFirewallResource,
      egressFirewall({ namespace: 'shop', name: 'other', egress: [deny] }),
    )
    await createPods('shop/web')
    await using control = await cluster.startSettled()
    expect(rulesOf(control)).toEqual(denied.map((rule) => rule.replace('10000', '9999')))
    const broken = 'EgressFirewall Rules not correctly applied'
    expect(await statusOf()).toEqual({
      observedGeneration: 1,
      status: broken,
      messages: [expect.stringContaining('spec.egress[0].to.dnsName value=www.example.com') as string],
    })
    expect(await statusOf('other')).toEqual({
      observedGeneration: 1,
      status: broken,
      messages: [expect.stringContaining('metadata.name value=other') as string],
    })
    expect(await cluster.user.told('default')).toEqual([
      expect.stringContaining('spec.egress[0].to.dnsName value=www.example.com'),
    ])
    await edit(deny)
    await control.settle()
    expect(await statusOf()).toMatchObject({ observedGeneration: 2, status: 'EgressFirewall Rules applied' })
  })
})
