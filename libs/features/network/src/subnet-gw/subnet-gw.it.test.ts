import { subnetResource, vpcResource } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import { node, subnet, vpc } from '@kube-ovn/testing-builders'
import {
  ControlCluster,
  createInBlue,
  dualStack,
  startWithBlue,
  type Controller,
} from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

/** Who leaves by way of which node, and how. */
function waysOut(control: Controller, subnet = 'blue'): readonly string[] {
  return control
    .rows('Logical_Router_Policy', 'priority', 'match', 'action', 'nexthops', 'external_ids')
    .filter(({ external_ids, priority }) => external_ids['subnet'] === subnet && priority === 29_000)
    .map(({ match, action, nexthops }) => `${match} ${action} ${nexthops.join()}`)
    .sort()
}

function groups(control: Controller): readonly string[] {
  return control.rows('Port_Group', 'name').flatMap(({ name }) => (name.startsWith('blue.') ? [name] : []))
}

const byNode = (name: string, host: number) => [
  `ip4.src == $blue.${name}_ip4 reroute 100.64.0.${host}`,
  `ip6.src == $blue.${name}_ip6 reroute fd00:100:64::${host}`,
]

const second = node({ name: 'n2', addresses: ['172.18.0.12', 'fd00:18::12'] })

describe('traffic of a distributed subnet', () => {
  it('leaves by the node of each pod, whichever nodes and families there are', async () => {
    await using control = await startWithBlue(cluster, dualStack)
    expect(waysOut(control)).toEqual(byNode('n1', 2))
    await createInBlue(cluster, control, ['a'])
    expect(control.portsOf('Port_Group', 'blue.n1')).toEqual(['a.default'])
    await cluster.forgetCosts()
    await cluster.client.create(nodes, second)
    await control.settle()
    expect(waysOut(control)).toEqual([...byNode('n1', 2), ...byNode('n2', 3)].sort())
    expect(groups(control)).toEqual(['blue.n1', 'blue.n2'])
    // All subnets in one.
    expect((await cluster.costs()).transactions).toBe(1)
    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
    expect([waysOut(control), groups(control)]).toEqual([byNode('n1', 2), ['blue.n1']])

    await cluster.user.edit(subnetResource, 'blue', { gatewayType: 'centralized', gatewayNode: 'n1' })
    await control.settle()
    expect(groups(control)).toEqual([])
    expect(waysOut(control).filter((way) => way.includes('$blue.'))).toEqual([])
    await cluster.user.edit(subnetResource, 'blue', { gatewayType: 'distributed', gatewayNode: '' })
    await control.settle()
    expect(waysOut(control)).toEqual(byNode('n1', 2))
    expect(control.portsOf('Port_Group', 'blue.n1')).toEqual(['a.default'])
    await cluster.removePod('a')
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect([waysOut(control), groups(control)]).toEqual([[], []])
  })

  it('does so after a restart, and when somebody broke it, beside foreign policies', async () => {
    await using first = await startWithBlue(cluster, dualStack)
    await createInBlue(cluster, first, ['a'])
    await first[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })

    const { northbound } = cluster
    const [way = ''] = byNode('n1', 2)
    const [match = ''] = way.split(' reroute')
    await northbound.nbctl('lr-policy-add', 'ovn-cluster', '29000', 'ip4.src == 9.9.9.9', 'drop')
    await northbound.nbctl('lr-policy-del', 'ovn-cluster', '29000', match)
    await northbound.nbctl('pg-del', 'blue.n1')
    await control.settle()
    expect(waysOut(control)).toEqual(byNode('n1', 2))
    expect(control.portsOf('Port_Group', 'blue.n1')).toEqual(['a.default'])
    expect(await northbound.nbctl('lr-policy-list', 'ovn-cluster')).toContain('9.9.9.9')
  })

  it('does so over a restart, for nodes that come, while the subnet asks for a VPC that it does not get', async () => {
    const control = await startWithBlue(cluster, dualStack)
    await createInBlue(cluster, control, ['a'])
    await cluster.client.create(vpcResource, vpc({ name: 'red' }))
    await control.settle()
    await cluster.user.edit(subnetResource, 'blue', { vpc: 'red' })
    await control.settle()
    expect(waysOut(control)).toEqual(byNode('n1', 2))
    await control[Symbol.asyncDispose]()

    await cluster.forgetCosts()
    await using next = await cluster.startController()
    await next.settle()
    expect((await cluster.costs()).transactions).toBe(0)
    await cluster.client.create(nodes, second)
    await next.settle()
    expect(waysOut(next)).toEqual([...byNode('n1', 2), ...byNode('n2', 3)].sort())

    // Nothing holds it any longer: it moves, and leaves nothing behind.
    await cluster.removePod('a')
    await next.settle()
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await next.settle()
    expect([waysOut(next), groups(next)]).toEqual([[], []])
  })

  it('is left without the rows of nodes without pods when these are asked for no more, however many there are', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `empty${at}`)
    await cluster.user.createNodes(...names)
    const kept: string[] = []
    {
      await using every = await startWithBlue(cluster, dualStack)
      await createInBlue(cluster, every, ['a'])
      expect(groups(every)).toHaveLength(names.length + 1)
      kept.push(...waysOut(every).filter((way) => way.includes('$blue.n1_')))
    }
    expect(kept).toHaveLength(2)
    await using control = await cluster.startController({ flags: { gatewayRowsByPods: true } })
    await control.settle()
    expect([waysOut(control), groups(control)]).toEqual([kept, ['blue.n1']])
    expect(control.portsOf('Port_Group', 'blue.n1')).toEqual(['a.default'])
  })

  it('does so, where that is asked for, by rows for no nodes but those that have pods of it', async () => {
    await cluster.client.create(nodes, second)
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: dualStack.cidr }))
    await using control = await cluster.startController({ flags: { gatewayRowsByPods: true } })
    await control.settle()
    expect([waysOut(control), groups(control)]).toEqual([[], []])
    await cluster.forgetCosts()
    await createInBlue(cluster, control, ['a'])
    expect([waysOut(control), groups(control)]).toEqual([byNode('n1', 2), ['blue.n1']])
    // Those of the node, then the port with all that it is in: no row waits for a record of addresses.
    expect((await cluster.costs()).transactions).toBe(2)
    expect(control.portsOf('Port_Group', 'blue.n1')).toEqual(['a.default'])
    await cluster.forgetCosts()
    await createInBlue(cluster, control, ['b'])
    expect(control.portsOf('Port_Group', 'blue.n1')).toEqual(['a.default', 'b.default'])
    expect((await cluster.costs()).transactions).toBe(1)
    await cluster.removePod('a')
    await control.settle()
    expect(groups(control)).toEqual(['blue.n1'])
    await cluster.forgetCosts()
    {
      await using other = await cluster.startController({ flags: { gatewayRowsByPods: true } })
      await other.settle()
    }
    expect((await cluster.costs()).transactions).toBe(0)
    await cluster.removePod('b')
    await control.settle()
    expect([waysOut(control), groups(control)]).toEqual([[], []])
  })
})
