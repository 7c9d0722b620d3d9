import { nodes } from '@kube-ovn/kube-api/core'
import { subnetResource } from '@kube-ovn/kube-api'
import { node, subnet } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const spec = { cidrBlock: '10.17.0.0/16,fd00:10:17::/112', private: true }

function make(name: string): Promise<unknown> {
  return cluster.client.create(subnetResource, subnet({ name, ...spec }))
}

function sets(control: Controller): readonly string[] {
  return control
    .rows('Address_Set', 'name', 'addresses')
    .filter(({ name }) => name.startsWith('kube_ovn_nodes_'))
    .map(({ name, addresses }) => `${name} ${[...addresses].sort().join()}`)
    .sort()
}

const ofFirst = ['kube_ovn_nodes_ip4 172.18.0.11', 'kube_ovn_nodes_ip6 fd00:18::11']

describe('the addresses of nodes', () => {
  it('are in sets as long as there is a private subnet', async () => {
    await using control = await cluster.startSettled()
    expect(sets(control)).toEqual([])
    await make('blue')
    await control.settle()
    expect(sets(control)).toEqual(ofFirst)
    await cluster.user.edit(subnetResource, 'blue', { private: false })
    await control.settle()
    expect(sets(control)).toEqual([])
    expect(control.problems()).toEqual([])
  })

  it('follow nodes that come, move and go, by one transaction for all private subnets', async () => {
    await using control = await cluster.startSettled()
    await make('blue')
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'red', cidrBlock: '10.18.0.0/16', private: true }),
    )
    await control.settle()
    await cluster.client.create(nodes, node({ name: 'n2', addresses: ['172.18.0.12', 'fd00:18::12'] }))
    await control.settle()
    expect(sets(control)).toEqual([
      'kube_ovn_nodes_ip4 172.18.0.11,172.18.0.12',
      'kube_ovn_nodes_ip6 fd00:18::11,fd00:18::12',
    ])
    await cluster.forgetCosts()
    await cluster.user.renumberNode('n2', '172.18.0.22', 'fd00:18::12')
    await control.settle()
    expect(sets(control)[0]).toBe('kube_ovn_nodes_ip4 172.18.0.11,172.18.0.22')
    expect((await cluster.costs()).transactions).toBe(1)
    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
    expect(sets(control)).toEqual(ofFirst)
  })

  it('are left alone by a restart, put right when somebody changes them, and leave those of others alone', async () => {
    {
      await using control = await cluster.startSettled()
      await make('blue')
      await control.settle()
    }
    await using control = await cluster.startController()
    await cluster.forgetCosts()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    const { northbound } = cluster
    await northbound.nbctl('create', 'Address_Set', 'name=others', 'addresses=10.9.9.9')
    await northbound.nbctl('set', 'Address_Set', 'kube_ovn_nodes_ip4', 'addresses=10.9.9.9')
    await control.settle()
    expect(sets(control)).toEqual(ofFirst)
    expect(control.named('Address_Set', 'others')?.addresses).toEqual(['10.9.9.9'])
  })
})
