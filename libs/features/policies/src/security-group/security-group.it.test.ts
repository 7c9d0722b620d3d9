import { securityGroupResource, type SecurityGroupRule, type SecurityGroupSpec } from '@kube-ovn/kube-api'
import { namespaces } from '@kube-ovn/kube-api/core'
import { namespace, securityGroup } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop' }))
})

const key = 'ovn.kubernetes.io/security_groups'

const any: SecurityGroupRule = {
  ...{ ipVersion: 'ipv4', protocol: 'all', priority: 10, policy: 'allow' },
  ...{ remoteType: 'address', remoteAddress: '10.0.0.0/8' },
}

function create(name: string, spec: SecurityGroupSpec = {}): Promise<unknown> {
  return cluster.client.create(securityGroupResource, securityGroup({ name, ...spec }))
}

function edit(name: string, spec: object): Promise<unknown> {
  return cluster.client.patch(securityGroupResource, { name }, 'application/merge-patch+json', { spec })
}

async function statusOf(name: string) {
  return (await cluster.client.get(securityGroupResource, { name }))?.status
}

function createPod(name: string, groups: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  return cluster.user.createPod({ name, namespace: 'shop', annotations: { [key]: groups, ...more } })
}

/** What a group has beside what all have, as an administrator would type it, in the order of the text. */
function rulesOf(control: Controller, group: string): readonly string[] {
  return control
    .rows('ACL', 'direction', 'priority', 'tier', 'match', 'action', 'external_ids')
    .filter(({ external_ids: ids, priority }) => ids['parent'] === group && priority !== 2005)
    .map(({ direction, tier, priority, match, action }) =>
      [direction, tier, priority, match, action].join(' '),
    )
    .sort()
}

function addressesIn(control: Controller, set: string): readonly string[] | undefined {
  const row = control.named('Address_Set', set)
  return row === undefined ? undefined : [...row.addresses].sort()
}

function marksOf(control: Controller, port: string): Readonly<Record<string, string>> {
  const ids = control.named('Logical_Switch_Port', port)?.external_ids ?? {}
  return Object.fromEntries(
    Object.entries(ids).filter(([name]) => name.startsWith('associated_sg_') || name === 'security_groups'),
  )
}

const denied = 'ovn.sg.kubeovn_deny_all'
const rule = 'to-lport 2 18474 outport == @ovn.sg.web && ip4 && ip4.src == 10.0.0.0/8 allow-related'

describe('a SecurityGroup', () => {
  it('has the ports that name it, with all from which they may send, and what its rules say', async () => {
    await create('web', { allowSameGroupTraffic: true, ingressRules: [any] })
    await create('late-one')
    await using control = await cluster.startSettled()
    await createPod('a', 'web', {
      'ovn.kubernetes.io/port_security': 'true',
      'ovn.kubernetes.io/port_vips': '10.16.0.99',
    })
    await createPod('b', ' web , late-one', { 'ovn.kubernetes.io/port_vips': '10.16.0.98' })
    await cluster.user.createPod({ name: 'free', namespace: 'shop' })
    await control.settle()
    expect([control.portsOf('Port_Group', 'ovn.sg.web'), control.portsOf('Port_Group', denied)]).toEqual([
      ['a.shop', 'b.shop'],
      ['a.shop', 'b.shop'],
    ])
    expect(control.portsOf('Port_Group', 'ovn.sg.late.one')).toEqual(['b.shop'])
    const [a, b] = await Promise.all(['a', 'b'].map((name) => cluster.user.addressOf(name, 'shop')))
    const members = [...(a ?? '').split(','), ...(b ?? '').split(',')]
    expect(addressesIn(control, 'ovn.sg.web.associated.v4')).toEqual(
      [members[0], members[2], '10.16.0.99'].sort(),
    )
    expect(addressesIn(control, 'ovn.sg.web.associated.v6')).toEqual([members[1], members[3]].sort())
    expect(rulesOf(control, 'ovn.sg.web')).toHaveLength(5)
    expect(rulesOf(control, 'ovn.sg.web')).toContain(rule)
    expect(marksOf(control, 'b.shop')).toEqual({
      ...{ security_groups: 'web/late-one', associated_sg_web: 'true', 'associated_sg_late-one': 'true' },
    })
    expect(await statusOf('web')).toEqual({
      observedGeneration: 1,
      portGroup: 'ovn.sg.web',
      allowSameGroupTraffic: true,
      ingressMd5: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      egressMd5: 'd751713988987e9331980363e24189ce',
      ingressLastSyncSuccess: true,
      egressLastSyncSuccess: true,
    })
  })

  it('costs a pod one transaction, and an edit the rows that differ, which wakes no pod', async () => {
    await create('web', { ingressRules: [any] })
    await using control = await cluster.startSettled()
    await createPod('a', 'web')
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(1)
    const uuids = (): readonly string[] => control.rows('ACL', '_uuid').map(({ _uuid }) => _uuid)
    const before = uuids()
    await cluster.forgetCosts()
    await edit('web', { ingressRules: [any, { ...any, priority: 11, remoteAddress: '11.0.0.0/8' }] })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 1, writes: ['patch security-groups/status'] })
    expect(uuids()).toEqual(expect.arrayContaining([...before]))
    expect(uuids()).toHaveLength(before.length + 1)
    await edit('web', { tier: 1 })
    await control.settle()
    expect(rulesOf(control, 'ovn.sg.web').map((acl) => acl.slice(0, 16))).toEqual([
      'to-lport 3 18473',
      'to-lport 3 18474',
    ])
  })

  it('follows pods that name it and name it no more', async () => {
    await create('web')
    await create('db')
    await createPod('a', 'web,db')
    await using control = await cluster.startSettled()
    await cluster.user.annotate({ name: 'a', namespace: 'shop' }, { [key]: 'db' })
    await control.settle()
    expect(control.portsOf('Port_Group', 'ovn.sg.web')).toEqual([])
    expect(addressesIn(control, 'ovn.sg.web.associated.v4')).toEqual([])
    expect(marksOf(control, 'a.shop')).toEqual({
      ...{ security_groups: 'db', associated_sg_web: 'false', associated_sg_db: 'true' },
    })
    await cluster.user.annotate({ name: 'a', namespace: 'shop' }, { [key]: null })
    await control.settle()
    expect(control.portsOf('Port_Group', denied)).toEqual([])
    expect(marksOf(control, 'a.shop')).toEqual({
      ...{ security_groups: '', associated_sg_web: 'false', associated_sg_db: 'false' },
    })
  })

  it('is not needed to wait for: a port is denied once one of its groups is there, and no more when the last one goes', async () => {
    await createPod('a', 'web')
    await using control = await cluster.startSettled()
    expect(control.portsOf('Port_Group', denied)).toEqual([])
    expect(await cluster.user.told('a')).toEqual(
      expect.arrayContaining([expect.stringContaining(`${key} value=web`)]),
    )
    await create('web', { ingressRules: [any] })
    await control.settle()
    expect([control.portsOf('Port_Group', 'ovn.sg.web'), control.portsOf('Port_Group', denied)]).toEqual([
      ['a.shop'],
      ['a.shop'],
    ])
    await cluster.client.remove(securityGroupResource, { name: 'web' })
    await control.settle()
    expect(control.named('Port_Group', 'ovn.sg.web')).toBeUndefined()
    expect(addressesIn(control, 'ovn.sg.web.associated.v4')).toBeUndefined()
    expect(rulesOf(control, 'ovn.sg.web')).toEqual([])
    expect(control.portsOf('Port_Group', denied)).toEqual([])
  })

  it('keeps a port from doing anything of which nobody can read in which groups it is to be', async () => {
    await create('web', { ingressRules: [any] })
    await createPod('a', Array.from({ length: 1025 }, () => 'web').join())
    await using control = await cluster.startSettled()
    expect([control.portsOf('Port_Group', denied), control.portsOf('Port_Group', 'ovn.sg.web')]).toEqual([
      ['a.shop'],
      [],
    ])
    expect(await cluster.user.told('a')).toEqual(
      expect.arrayContaining([expect.stringContaining('list at most 1024')]),
    )
  })

  it('of tier 1 is asked for ports that have none of tier 0', async () => {
    const passing = 'ovn.sg.kubeovn_baseline'
    await create('late', { tier: 1, ingressRules: [any] })
    await create('early')
    await createPod('a', 'late')
    await createPod('b', 'late,early')
    await using control = await cluster.startSettled()
    expect(control.portsOf('Port_Group', passing)).toEqual(['a.shop'])
    expect(control.portsOf('Port_Group', denied)).toEqual(['a.shop', 'b.shop'])
    expect(rulesOf(control, passing)).toEqual([
      `from-lport 2 2004 inport == @${passing} && ip pass`,
      `to-lport 2 2004 outport == @${passing} && ip pass`,
    ])
    await edit('late', { tier: 0 })
    await control.settle()
    expect(control.named('Port_Group', passing)).toBeUndefined()
    expect(rulesOf(control, passing)).toEqual([])
  })

  it('knows members of another one, from when there is one', async () => {
    await create('web', {
      ingressRules: [{ ...any, remoteType: 'securityGroup', remoteSecurityGroup: 'friends' }],
    })
    await using control = await cluster.startSettled()
    expect(rulesOf(control, 'ovn.sg.web')).toEqual([])
    expect(await statusOf('web')).toMatchObject({
      ...{ ingressLastSyncSuccess: false, ingressMd5: '', egressLastSyncSuccess: true },
      conditions: [
        {
          ...{ type: 'Validated', status: 'False', reason: 'SecurityGroupInvalid', observedGeneration: 1 },
          message: expect.stringContaining(
            'spec.ingressRules[0].remoteSecurityGroup value=friends',
          ) as string,
        },
      ],
    })
    await create('friends')
    await control.settle()
    expect(rulesOf(control, 'ovn.sg.web')).toEqual([
      'to-lport 2 18474 outport == @ovn.sg.web && ip4 && ip4.src == $ovn.sg.friends.associated.v4 allow-related',
    ])
    expect((await statusOf('web'))?.conditions).toEqual([])
    await cluster.client.remove(securityGroupResource, { name: 'friends' })
    await control.settle()
    expect(rulesOf(control, 'ovn.sg.web')).toEqual([])
  })

  it('tells what has no effect, and keeps the rest', async () => {
    await createPod('a', 'web')
    await create('web', { ingressRules: [any] })
    await using control = await cluster.startSettled()
    await edit('web', { ingressRules: [any, { ...any, priority: 99999 }] })
    await control.settle()
    expect(rulesOf(control, 'ovn.sg.web')).toEqual([rule])
    expect(await cluster.user.told('web')).toEqual(
      expect.arrayContaining([expect.stringContaining('spec.ingressRules[1].priority value=99999')]),
    )
    await edit('web', { ingressRules: [any] })
    await control.settle()
    expect(await statusOf('web')).toMatchObject({ ingressLastSyncSuccess: true, conditions: [] })
  })

  it('has a group of its own where another one has the name', async () => {
    await create('a-b')
    await create('a.b')
    await createPod('a', 'a.b')
    await using control = await cluster.startSettled()
    const own = (await statusOf('a.b'))?.portGroup ?? ''
    expect((await statusOf('a-b'))?.portGroup).toBe('ovn.sg.a.b')
    expect(own).toMatch(/^ovn\.sg\.a\.b_[0-9a-f.]{36}$/)
    expect([control.portsOf('Port_Group', own), control.portsOf('Port_Group', 'ovn.sg.a.b')]).toEqual([
      ['a.shop'],
      [],
    ])
  })

  it('is what it was after a restart, without a write, also when pods changed meanwhile', async () => {
    await create('web', {
      allowSameGroupTraffic: true,
      ingressRules: [any],
      egressRules: [{ ...any, priority: 0 }],
    })
    await create('late', { tier: 1 })
    await createPod('a', 'web,late')
    await createPod('b', 'late')
    {
      await using control = await cluster.startSettled()
      await cluster.user.annotate({ name: 'a', namespace: 'shop' }, { [key]: 'web' })
      await control.settle()
    }
    {
      await using control = await cluster.startController()
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    }
    await cluster.removePod('b', 'shop')
    await cluster.client.remove(securityGroupResource, { name: 'web' })
    await using control = await cluster.startSettled()
    expect([control.portsOf('Port_Group', denied), control.named('Port_Group', 'ovn.sg.web')]).toEqual([
      [],
      undefined,
    ])
  })

  it('is put back when somebody changes it, and leaves what others made alone', async () => {
    await create('web', { ingressRules: [any] })
    await createPod('a', 'web')
    await using control = await cluster.startSettled()
    const { northbound } = cluster
    await northbound.nbctl('pg-add', 'others')
    await northbound.nbctl('acl-add', 'others', 'to-lport', '2001', 'ip4.src == 9.9.9.9', 'drop')
    const seen = () => [
      rulesOf(control, 'ovn.sg.web'),
      addressesIn(control, 'ovn.sg.web.associated.v4'),
      control.portsOf('Port_Group', denied),
    ]
    const want = seen()
    await northbound.nbctl('acl-del', 'ovn.sg.web')
    await northbound.nbctl('add', 'Address_Set', 'ovn.sg.web.associated.v4', 'addresses', '"10.9.9.9"')
    await northbound.nbctl('clear', 'Port_Group', denied, 'ports')
    await control.settle()
    expect(seen()).toEqual(want)
    expect(await northbound.nbctl('acl-list', 'others')).toContain('9.9.9.9')
  })
})
