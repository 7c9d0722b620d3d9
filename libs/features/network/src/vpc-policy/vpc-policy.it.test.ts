import { vpcResource } from '@kube-ovn/kube-api'
import { vpc } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()

const nothing = { transactions: 0, writes: [] }

/** Policies of a router with the priorities of users, as `priority match action next-hops`. */
function policiesOf(control: Controller, router: string): readonly string[] {
  const uuids = new Set(control.named('Logical_Router', router)?.policies)
  return control
    .rows('Logical_Router_Policy', '_uuid', 'priority', 'match', 'action', 'nexthops')
    .filter(({ _uuid, priority }) => uuids.has(_uuid) && priority < 20_000)
    .map(({ priority, match, action, nexthops }) =>
      `${priority} ${match} ${action} ${nexthops.join()}`.trim(),
    )
    .sort()
}

const reroute = { priority: 10, match: 'ip4.src == 10.30.0.0/24', action: 'reroute', nextHopIP: '10.30.0.9' }
const drop = { priority: 20, match: 'ip4.dst == 10.9.0.0/16 && tcp', action: 'drop' }

describe('policies of a VPC', () => {
  it('come, change and go, one row in one transaction each', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(vpcResource, vpc({ name: 'red' }))
    await control.settle()
    await cluster.forgetCosts()
    const steps: readonly (readonly [routes: readonly object[], want: readonly string[]])[] = [
      [[reroute], ['10 ip4.src == 10.30.0.0/24 reroute 10.30.0.9']],
      [
        [drop, reroute],
        ['10 ip4.src == 10.30.0.0/24 reroute 10.30.0.9', '20 ip4.dst == 10.9.0.0/16 && tcp drop'],
      ],
      [
        [{ ...reroute, nextHopIP: '10.30.0.9, 10.30.0.8' }],
        ['10 ip4.src == 10.30.0.0/24 reroute 10.30.0.8,10.30.0.9'],
      ],
      [[{ ...reroute, action: 'allow' }], ['10 ip4.src == 10.30.0.0/24 allow']],
      [[], []],
    ]
    for (const [policyRoutes, want] of steps) {
      await cluster.user.edit(vpcResource, 'red', { policyRoutes })
      await control.settle()
      expect(policiesOf(control, 'red').map((text) => text.split(',').sort().join())).toEqual(
        want.map((text) => text.split(',').sort().join()),
      )
      expect(await cluster.costs()).toEqual({ transactions: 1, writes: ['patch vpcs/status'] })
      await cluster.forgetCosts()
    }
    await cluster.client.remove(vpcResource, { name: 'red' })
    await control.settle()
    expect(control.problems()).toEqual([])
  })

  it('come to many others by one row, which is one value more of the router', async () => {
    await using control = await cluster.startSettled()
    const many = Array.from({ length: 300 }, (_, index) => ({
      ...drop,
      match: `ip4.dst == 10.9.${index >> 8}.${index & 255}`,
    }))
    await cluster.client.create(vpcResource, vpc({ name: 'red', policyRoutes: many }))
    await control.settle()
    const before = (await cluster.northbound.server.transactionLog()).length
    await cluster.user.edit(vpcResource, 'red', { policyRoutes: [...many, reroute] })
    await control.settle()
    const [written, ...others] = (await cluster.northbound.server.transactionLog()).slice(before)
    expect(others).toEqual([])
    const {
      Logical_Router: routers = {},
      Logical_Router_Policy: policies = {},
      ...rest
    } = written?.tables ?? {}
    expect([Object.keys(policies).length, rest]).toEqual([1, {}])
    // Of a set the file has what differs: the one value.
    const [uuid = ''] = Object.keys(policies)
    expect(Object.values(routers)).toEqual([{ policies: ['uuid', uuid] }])
  })

  it('are as they were after a restart, and one that was taken out meanwhile is gone', async () => {
    {
      await using control = await cluster.startController()
      await control.settle()
      await cluster.user.edit(vpcResource, 'ovn-cluster', { policyRoutes: [reroute, drop] })
      await cluster.client.create(vpcResource, vpc({ name: 'red', policyRoutes: [reroute, drop] }))
      await control.settle()
      await cluster.forgetCosts()
    }
    {
      await using control = await cluster.startController()
      await control.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    for (const name of ['ovn-cluster', 'red'])
      await cluster.user.edit(vpcResource, name, { policyRoutes: [drop] })
    await using control = await cluster.startController()
    await control.settle()
    for (const name of ['ovn-cluster', 'red'])
      expect(policiesOf(control, name)).toEqual(['20 ip4.dst == 10.9.0.0/16 && tcp drop'])
  })

  it('stay beside those of a foreign hand, and are back when somebody deletes them', async () => {
    const { northbound } = cluster
    await using control = await cluster.startSettled()
    await cluster.client.create(vpcResource, vpc({ name: 'red', policyRoutes: [drop] }))
    await control.settle()
    await northbound.nbctl('lr-policy-del', 'red')
    await northbound.nbctl('lr-policy-add', 'red', '7', 'ip4.src == 9.9.9.9', 'drop')
    await control.settle()
    expect(policiesOf(control, 'red')).toEqual([
      '20 ip4.dst == 10.9.0.0/16 && tcp drop',
      '7 ip4.src == 9.9.9.9 drop',
    ])
    expect(control.problems()).toEqual([])
  })

  it('stay beside those of a NAT gateway, which an edit of the Vpc does not take', async () => {
    const { northbound } = cluster
    await using control = await cluster.startSettled()
    await cluster.client.create(vpcResource, vpc({ name: 'red', policyRoutes: [drop] }))
    await control.settle()
    await northbound.nbctl(
      ...[
        '--id=@p',
        'create',
        'Logical_Router_Policy',
        'priority=29200',
        'action=reroute',
        'nexthops=10.0.1.20',
      ],
      ...['match="ip4.src == 10.0.1.0/24"', 'external_ids={vendor=kube-ovn,vpc-nat-gateway=ngw,af="4"}'],
      ...['--', 'add', 'Logical_Router', 'red', 'policies', '@p'],
    )
    for (const policyRoutes of [[drop, reroute], [reroute], []]) {
      await cluster.user.edit(vpcResource, 'red', { policyRoutes })
      await expect.poll(() => policiesOf(control, 'red')).toHaveLength(policyRoutes.length)
      expect(await northbound.nbctl('lr-policy-list', 'red')).toContain('10.0.1.20')
    }
    // Nobody here could say what it is of.
    await northbound.nbctl('lr-policy-del', 'red', '29200')
    await control.settle()
    expect(control.problems()).toEqual([])
  })

  it('of upstream are taken over, and those that no Vpc asks for are collected', async () => {
    const { northbound } = cluster
    {
      await using control = await cluster.startSettled()
      await cluster.client.create(vpcResource, vpc({ name: 'red', policyRoutes: [reroute, drop] }))
      await control.settle()
    }
    const uuids = await northbound.nbctl(
      '--bare',
      '--columns=_uuid',
      'find',
      'Logical_Router_Policy',
      'priority=20',
    )
    for (const priority of [10, 20])
      for (const uuid of (
        await northbound.nbctl(
          '--bare',
          '--columns=_uuid',
          'find',
          'Logical_Router_Policy',
          `priority=${priority}`,
        )
      ).split(/\s+/))
        await northbound.nbctl('set', 'Logical_Router_Policy', uuid, 'external_ids={vendor=kube-ovn}')
    await cluster.user.edit(vpcResource, 'red', { policyRoutes: [drop] })
    await using control = await cluster.startController()
    await control.settle()
    expect(policiesOf(control, 'red')).toEqual(['20 ip4.dst == 10.9.0.0/16 && tcp drop'])
    expect(
      await northbound.nbctl('--bare', '--columns=_uuid', 'find', 'Logical_Router_Policy', 'priority=20'),
    ).toBe(uuids)
  })

  it('that can not be used are told, and the others are there', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(
      vpcResource,
      vpc({
        name: 'red',
        policyRoutes: [{ ...drop, match: 'ip4.src == (' }, reroute, { ...reroute, action: 'drop' }],
      }),
    )
    await control.settle()
    expect(policiesOf(control, 'red')).toEqual(['10 ip4.src == 10.30.0.0/24 reroute 10.30.0.9'])
    expect(await cluster.user.told('red')).toEqual([
      expect.stringMatching(
        /^VpcInvalid: spec.policyRoutes\[0\].match "ip4.src == \(": .*; spec.policyRoutes\[2\] .* spec.policyRoutes\[1\]/,
      ),
    ])
    expect(control.problems()).toEqual([])
  })
})
