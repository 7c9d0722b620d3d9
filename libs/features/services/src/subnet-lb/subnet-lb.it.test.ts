import { providerNetworkResource, subnetResource, vlanResource } from '@kube-ovn/kube-api'
import { providerNetwork, subnet, vlan } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

function balancersOf(control: Controller, name: string): readonly string[] {
  const uuids = control.named('Logical_Switch', name)?.load_balancer ?? []
  return uuids.map((uuid) => control.world.northbound.get('Load_Balancer', uuid)?.name ?? uuid).sort()
}

describe('the switch of a subnet', () => {
  const blue = subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' })

  it('has load balancers as long as the subnet wants them', async () => {
    await using control = await cluster.startSettled()
    const all = balancersOf(control, 'ovn-default')
    expect(all).toHaveLength(6)
    await cluster.client.create(subnetResource, blue)
    await control.settle()
    expect(balancersOf(control, 'blue')).toEqual(all)
    await cluster.forgetCosts()
    await cluster.user.edit(subnetResource, 'blue', { enableLb: false })
    await control.settle()
    expect(balancersOf(control, 'blue')).toEqual([])
    expect((await cluster.costs()).transactions).toBe(1)
    await cluster.user.edit(subnetResource, 'blue', { enableLb: true })
    await control.settle()
    expect(balancersOf(control, 'blue')).toEqual(all)
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(control.named('Logical_Switch', 'blue')).toBeUndefined()
  })

  it('of the original keeps them while the subnet can not be used', async () => {
    const merge = 'application/merge-patch+json'
    {
      await using control = await cluster.startSettled()
      await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
      await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
      await cluster.client.create(subnetResource, subnet({ ...blue.spec, name: 'blue', vlan: 'v10' }))
      await control.settle()
      expect(balancersOf(control, 'blue')).toHaveLength(6)
    }
    // It does not say what is in effect, nor does a port of the router.
    const status = { inEffect: null }
    await cluster.client.patch(subnetResource, { name: 'blue' }, merge, { status }, { subresource: 'status' })
    await cluster.client.remove(vlanResource, { name: 'v10' })
    await using control = await cluster.startController()
    await control.settle()
    expect(balancersOf(control, 'blue')).toHaveLength(6)
  })

  it('has the same after a restart without a write, has them back, and keeps those of others', async () => {
    await cluster.client.create(subnetResource, blue)
    {
      await using control = await cluster.startSettled()
      expect(balancersOf(control, 'blue')).toHaveLength(6)
    }
    await using control = await cluster.startController()
    await cluster.forgetCosts()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    const { northbound } = cluster
    await northbound.nbctl('lb-add', 'theirs', '10.0.0.1:1', '10.0.0.2:2')
    await northbound.nbctl('ls-lb-add', 'blue', 'theirs')
    await northbound.nbctl('ls-lb-del', 'blue', 'cluster-tcp-loadbalancer')
    await control.settle()
    expect(balancersOf(control, 'blue')).toEqual([...balancersOf(control, 'ovn-default'), 'theirs'].sort())
  })
})
