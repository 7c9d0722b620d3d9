import { podAnnotations } from '@kube-ovn/annotations'
import { providerNetworkResource, subnetResource, vlanResource } from '@kube-ovn/kube-api'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { node, providerNetwork, subnet, vlan } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
  await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
  const fields = { cidrBlock: '172.19.0.0/24,fd00:172:19::/112', vlan: 'v10', u2oInterconnection: true }
  await cluster.client.create(subnetResource, subnet({ name: 'yard', enableLb: false, ...fields }))
  const annotations = { [podAnnotations().logicalSwitch.key]: 'yard' }
  await cluster.user.createPod({ name: 'web', annotations, node: 'n1' })
})

const quiet = { transactions: 0, writes: [] }
const group = 'yard.n1'

/** Policies that lead to Services: `match next hop`. */
function routes(control: Controller): readonly string[] {
  return control
    .rows('Logical_Router_Policy', 'priority', 'match', 'nexthops', 'external_ids')
    .filter(({ external_ids }) => external_ids['isU2ONoLBRoutePolicy'] === 'true')
    .map(({ priority, match, nexthops }) => [priority, match, ...nexthops].join(' '))
    .sort()
}

/** That there are, with the join addresses of a node. */
function routesBy(name: string, ...hops: readonly string[]): readonly string[] {
  const [v4 = '', v6 = ''] = hops
  return [
    `29400 ip4.src == $yard.${name}_ip4 && ip4.dst == 10.96.0.0/12 ${v4}`,
    `29400 ip6.src == $yard.${name}_ip6 && ip6.dst == fd00:10:96::/112 ${v6}`,
  ]
}

function membersOf(control: Controller, name = group): readonly (string | undefined)[] | undefined {
  return control
    .named('Port_Group', name)
    ?.ports.map((uuid) => control.world.northbound.get('Logical_Switch_Port', uuid)?.name)
}

describe('a connected underlay subnet on which OVN does not balance', () => {
  it('is led to Services by the node of each pod, for as long', async () => {
    await using control = await cluster.startSettled()
    expect(control.named('Port_Group', group)?.external_ids).toMatchObject({
      ...{ vendor: 'kube-ovn', lr: 'ovn-cluster', ls: 'yard', u2o: 'true' },
    })
    expect(membersOf(control)).toEqual(['web.default'])
    expect(routes(control)).toEqual(routesBy('n1', '100.64.0.2', 'fd00:100:64::2'))
    await cluster.user.edit(subnetResource, 'yard', { enableLb: true })
    await control.settle()
    expect([membersOf(control), routes(control)]).toEqual([undefined, []])
    await cluster.user.edit(subnetResource, 'yard', { enableLb: false })
    await control.settle()
    expect([membersOf(control), routes(control).length]).toEqual([['web.default'], 2])
    await cluster.user.edit(subnetResource, 'yard', { u2oInterconnection: false })
    await control.settle()
    expect([membersOf(control), routes(control)]).toEqual([undefined, []])
  })

  it('follows nodes, and goes with the subnet', async () => {
    await using control = await cluster.startSettled()
    const more = node({ name: 'n2', addresses: ['172.18.0.12', 'fd00:18::12'] })
    await cluster.client.create(nodes, more)
    await control.settle()
    expect(membersOf(control, 'yard.n2')).toEqual([])
    expect(routes(control)).toHaveLength(4)
    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
    expect([membersOf(control, 'yard.n2'), routes(control).length]).toEqual([undefined, 2])
    await cluster.client.remove(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await cluster.client.remove(subnetResource, { name: 'yard' })
    await control.settle()
    expect([membersOf(control), routes(control)]).toEqual([undefined, []])
    expect(control.problems()).toEqual([])
  })

  it('has the same after a restart without a write, has it back, and keeps what is of others', async () => {
    let before: unknown
    {
      await using control = await cluster.startSettled()
      before = [membersOf(control), routes(control)]
    }
    await using control = await cluster.startController()
    await cluster.forgetCosts()
    await control.settle()
    expect(await cluster.costs()).toEqual(quiet)
    const { northbound } = cluster
    await northbound.nbctl('lr-policy-add', 'ovn-cluster', '29400', 'ip4.dst == 10.9.9.9', 'allow')
    await northbound.nbctl('lr-policy-del', 'ovn-cluster', '29400', routes(control)[0]?.slice(6, -11) ?? '')
    await northbound.nbctl('pg-del', group)
    await control.settle()
    expect([membersOf(control), routes(control)]).toEqual(before)
    const matches = control.rows('Logical_Router_Policy', 'match').map(({ match }) => match)
    expect(matches).toContain('ip4.dst == 10.9.9.9')
  })
})
