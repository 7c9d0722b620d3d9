import { subnetResource, vpcResource } from '@kube-ovn/kube-api'
import { subnet, vpc } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const nothing = { transactions: 0, writes: [] }

/** Routes of a router, as `table policy prefix next-hop`. */
function routesOf(control: Controller, router: string): readonly string[] {
  const uuids = new Set(control.named('Logical_Router', router)?.static_routes)
  return control
    .rows('Logical_Router_Static_Route', '_uuid', 'route_table', 'policy', 'ip_prefix', 'nexthop')
    .filter(({ _uuid }) => uuids.has(_uuid))
    .map((row) => [row.route_table, row.policy, row.ip_prefix, row.nexthop].join(' ').trim())
    .sort()
}

const byDefault = ['dst-ip 0.0.0.0/0 100.64.0.1', 'dst-ip ::/0 fd00:100:64::1']

async function makeRed(staticRoutes: readonly object[] = []): Promise<void> {
  await cluster.client.create(vpcResource, vpc({ name: 'red', staticRoutes }))
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'red1', vpc: 'red', cidrBlock: '10.30.0.0/24,fd00:30::/120' }),
  )
}

const own = ['src-ip 10.30.0.0/24 10.30.0.1', 'src-ip fd00:30::/120 fd00:30::1']

describe('static routes of a VPC', () => {
  it('come, change and go, a transaction each, with what is added to them', async () => {
    await using control = await cluster.startSettled()
    await makeRed()
    await control.settle()
    expect(routesOf(control, 'red')).toEqual(own)
    await cluster.forgetCosts()
    const route = { cidr: '10.30.9.0/24', nextHopIP: '10.30.0.9' }
    const steps: readonly (readonly [routes: readonly object[], want: readonly string[]])[] = [
      [[route], ['dst-ip 10.30.9.0/24 10.30.0.9', ...own]],
      [
        [route, { ...route, nextHopIP: '10.30.0.8' }],
        ['dst-ip 10.30.9.0/24 10.30.0.8', 'dst-ip 10.30.9.0/24 10.30.0.9', ...own],
      ],
      [[{ cidr: '0.0.0.0/0', nextHopIP: '10.30.0.254' }], ['dst-ip 0.0.0.0/0 10.30.0.254', own[1] ?? '']],
      [[], own],
    ]
    for (const [staticRoutes, want] of steps) {
      await cluster.user.edit(vpcResource, 'red', { staticRoutes })
      await control.settle()
      expect(routesOf(control, 'red')).toEqual(want)
      expect(await cluster.costs()).toEqual({ transactions: 1, writes: ['patch vpcs/status'] })
      await cluster.forgetCosts()
    }
    // What a user wrote is never written over.
    const { spec } = (await cluster.client.get(vpcResource, { name: 'red' })) ?? {}
    expect(spec?.staticRoutes).toEqual([])
    await cluster.client.remove(subnetResource, { name: 'red1' })
    await control.settle()
    expect(routesOf(control, 'red')).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('are as they were after a restart, and what was edited meanwhile follows', async () => {
    {
      await using control = await cluster.startSettled()
      await makeRed([{ cidr: '10.9.0.0/24', nextHopIP: '10.30.0.9', ecmpMode: 'ecmp_symmetric_reply' }])
      await control.settle()
      await cluster.forgetCosts()
      await using again = await cluster.startController()
      await again.settle()
      expect(await cluster.costs()).toEqual(nothing)
    }
    await cluster.user.edit(vpcResource, 'red', { staticRoutes: null })
    await using control = await cluster.startController()
    await control.settle()
    expect(routesOf(control, 'red')).toEqual(own)
  })

  it('of the default VPC stand beside those to the nodes, in each table', async () => {
    await using control = await cluster.startSettled()
    expect(routesOf(control, 'ovn-cluster')).toEqual(byDefault)
    const staticRoutes = [{ cidr: '172.31.0.0/16', nextHopIP: '10.16.0.254', routeTable: 't1' }]
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'blue', cidrBlock: '10.17.0.0/24', routeTable: 't1' }),
    )
    await cluster.user.edit(vpcResource, 'ovn-cluster', { staticRoutes })
    await control.settle()
    expect(routesOf(control, 'ovn-cluster')).toEqual([
      ...byDefault,
      't1 dst-ip 0.0.0.0/0 100.64.0.1',
      't1 dst-ip 172.31.0.0/16 10.16.0.254',
      't1 dst-ip ::/0 fd00:100:64::1',
    ])
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')?.options).toEqual({ route_table: 't1' })
    await cluster.user.edit(subnetResource, 'blue', { routeTable: '' })
    await cluster.user.edit(vpcResource, 'ovn-cluster', { staticRoutes: [] })
    await control.settle()
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')?.options).toEqual({})
    expect(routesOf(control, 'ovn-cluster')).toEqual(byDefault)
  })

  it('stay beside those of a foreign hand, and are back when somebody deletes them', async () => {
    const { northbound } = cluster
    await using control = await cluster.startSettled()
    await makeRed([{ cidr: '10.30.9.0/24', nextHopIP: '10.30.0.9' }])
    await control.settle()
    const before = routesOf(control, 'red')
    await northbound.nbctl('lr-route-del', 'red')
    await control.settle()
    expect(routesOf(control, 'red')).toEqual(before)
    await northbound.nbctl('lr-route-add', 'red', '10.77.0.0/16', '10.30.0.7')
    await cluster.user.edit(vpcResource, 'red', { staticRoutes: [] })
    await control.settle()
    expect(routesOf(control, 'red')).toEqual(['dst-ip 10.77.0.0/16 10.30.0.7'.replace('dst-ip ', ''), ...own])
    expect(control.problems()).toEqual([])
  })

  it('of upstream are taken over', async () => {
    const { northbound } = cluster
    {
      await using control = await cluster.startSettled()
      await makeRed([{ cidr: '10.30.9.0/24', nextHopIP: '10.30.0.9' }])
      await control.settle()
    }
    const uuids = await northbound.nbctl('--bare', '--columns=_uuid', 'list', 'Logical_Router_Static_Route')
    for (const uuid of uuids.split(/\s+/))
      await northbound.nbctl('set', 'Logical_Router_Static_Route', uuid, 'external_ids={vendor=kube-ovn}')
    await using control = await cluster.startController()
    await control.settle()
    expect(await northbound.nbctl('--bare', '--columns=_uuid', 'list', 'Logical_Router_Static_Route')).toBe(
      uuids,
    )
    expect(routesOf(control, 'red')).toEqual(['dst-ip 10.30.9.0/24 10.30.0.9', ...own])
  })

  it('that can not be used are told, and the others are there', async () => {
    await using control = await cluster.startSettled()
    await makeRed([
      { cidr: '10.9', nextHopIP: '10.30.0.9' },
      { cidr: '10.30.9.0/24', nextHopIP: '10.99.0.1' },
      { cidr: '10.30.8.0/24', nextHopIP: '10.30.0.8' },
    ])
    await control.settle()
    expect(routesOf(control, 'red')).toContain('dst-ip 10.30.8.0/24 10.30.0.8')
    const { status } = (await cluster.client.get(vpcResource, { name: 'red' })) ?? {}
    const message = status?.conditions?.find(({ type }) => type === 'Validated')?.message
    expect(message).toMatch(
      /^spec.staticRoutes\[0\].cidr "10.9": write a prefix .*; spec.staticRoutes\[1\].nextHopIP "10.99.0.1": choose/,
    )
    expect(await cluster.user.told('red')).toContainEqual(`VpcInvalid: ${message ?? ''}`)
    await cluster.user.edit(vpcResource, 'red', {
      staticRoutes: [{ cidr: '10.30.8.0/24', nextHopIP: '10.30.0.8' }],
    })
    await control.settle()
    expect((await cluster.client.get(vpcResource, { name: 'red' }))?.status?.conditions).toEqual([])
    expect(control.problems()).toEqual([])
  })
})
