import { networkPolicies, nodes } from '@kube-ovn/kube-api/core'
import { node } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const policy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'closed', namespace: 'default' },
  spec: { podSelector: {} },
}

function aclsOf(control: Controller, group: string): readonly string[] {
  return control
    .rows('ACL', 'direction', 'priority', 'match', 'action', 'external_ids')
    .filter(({ external_ids: ids }) => ids['parent'] === group)
    .map(({ direction, priority, match, action }) => `${direction} ${priority} ${match} ${action}`)
    .sort()
}

/** Between a node of these addresses and the pods of its group. */
function acls(group: string, v4: string, v6: string): readonly string[] {
  return [
    `from-lport 3000 ip4.dst == ${v4} && ip4.src == $${group}_ip4 allow-related`,
    `from-lport 3000 ip6.dst == ${v6} && ip6.src == $${group}_ip6 allow-related`,
    `to-lport 3000 ip4.src == ${v4} && ip4.dst == $${group}_ip4 allow-related`,
    `to-lport 3000 ip6.src == ${v6} && ip6.dst == $${group}_ip6 allow-related`,
  ]
}

const ofFirst = acls('node.n1', '172.18.0.11', 'fd00:18::11')

describe('a node', () => {
  it('may talk to its own pods as long as there is a policy', async () => {
    await using control = await cluster.startSettled()
    expect(aclsOf(control, 'node.n1')).toEqual([])
    await cluster.client.create(networkPolicies, policy)
    await control.settle()
    expect(aclsOf(control, 'node.n1')).toEqual(ofFirst)
    expect((await cluster.costs()).transactions).toBe(1)
    await cluster.client.remove(networkPolicies, policy.metadata)
    await control.settle()
    expect(aclsOf(control, 'node.n1')).toEqual([])
  })

  it('is followed when it comes, changes its address, and goes', async () => {
    await cluster.client.create(networkPolicies, policy)
    await using control = await cluster.startSettled()
    await cluster.client.create(nodes, node({ name: 'n2', addresses: ['172.18.0.12', 'fd00:18::12'] }))
    await control.settle()
    expect(aclsOf(control, 'node.n2')).toEqual(acls('node.n2', '172.18.0.12', 'fd00:18::12'))
    await cluster.user.renumberNode('n2', '172.18.0.22', 'fd00:18::22')
    await control.settle()
    expect(aclsOf(control, 'node.n2')).toEqual(acls('node.n2', '172.18.0.22', 'fd00:18::22'))
    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
    expect(aclsOf(control, 'node.n2')).toEqual([])
  })

  it('has them after a restart without a write, when somebody took them, and beside those of others', async () => {
    await cluster.client.create(networkPolicies, policy)
    {
      await using control = await cluster.startSettled()
      expect(aclsOf(control, 'node.n1')).toEqual(ofFirst)
    }
    await using control = await cluster.startController()
    await cluster.forgetCosts()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    const { northbound } = cluster
    await northbound.nbctl('acl-add', 'node.n1', 'to-lport', '3000', 'ip4.src == 9.9.9.9', 'drop')
    await northbound.nbctl('clear', 'Port_Group', 'node.n1', 'acls')
    await northbound.nbctl('acl-add', 'node.n1', 'to-lport', '3000', 'ip4.src == 9.9.9.9', 'drop')
    await control.settle()
    expect(aclsOf(control, 'node.n1')).toEqual(ofFirst)
    // What somebody else put there stays.
    expect(await northbound.nbctl('acl-list', 'node.n1')).toContain('9.9.9.9')
  })

  it('is told by the ports of its pods where that is wanted, and goes over to it in one transaction', async () => {
    await cluster.client.create(networkPolicies, policy)
    {
      await using control = await cluster.startSettled()
      expect(aclsOf(control, 'node.n1')).toEqual(ofFirst)
    }
    await cluster.forgetCosts()
    await using control = await cluster.startController({ flags: { ownNodeMatch: 'ports' } })
    await control.settle()
    expect(aclsOf(control, 'node.n1')).toEqual([
      'from-lport 3000 ip4.dst == 172.18.0.11 && inport == @node.n1 allow-related',
      'from-lport 3000 ip6.dst == fd00:18::11 && inport == @node.n1 allow-related',
      'to-lport 3000 ip4.src == 172.18.0.11 && outport == @node.n1 allow-related',
      'to-lport 3000 ip6.src == fd00:18::11 && outport == @node.n1 allow-related',
    ])
    expect((await cluster.costs()).transactions).toBe(1)
  })
})
