import { podAnnotations } from '@kube-ovn/annotations'
import {
  providerNetworkResource,
  securityGroupResource,
  subnetResource,
  vlanResource,
} from '@kube-ovn/kube-api'
import { nodes, pods, serviceCidrs, type ServiceCidr } from '@kube-ovn/kube-api/core'
import { node, providerNetwork, securityGroup, subnet, vlan } from '@kube-ovn/testing-builders'
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

const mergePatch = 'application/merge-patch+json'
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

  it('has its pods in their SecurityGroups, whether they are in a group of their node or in none', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(securityGroupResource, securityGroup({ name: 'guard' }))
    const annotations = {
      [podAnnotations().logicalSwitch.key]: 'yard',
      'ovn.kubernetes.io/port_security': 'true',
      'ovn.kubernetes.io/security_groups': 'guard',
    }
    await cluster.user.createPod({ name: 'kept', annotations, node: 'n1' })
    await control.settle()
    const both = () => [membersOf(control)?.toSorted(), membersOf(control, 'ovn.sg.guard')]
    expect(both()).toEqual([['kept.default', 'web.default'], ['kept.default']])
    for (const enableLb of [true, false]) {
      await cluster.user.edit(subnetResource, 'yard', { enableLb })
      await control.settle()
      expect(both()).toEqual([enableLb ? undefined : ['kept.default', 'web.default'], ['kept.default']])
    }
    expect(control.problems()).toEqual([])
  })

  it('is led to a further prefix of Services from when it is ready until its last Service has gone', async () => {
    const before = [...routesBy('n1', '100.64.0.2', 'fd00:100:64::2')]
    await using control = await cluster.startSettled()
    const [ref, spec] = [{ name: 'more' }, { cidrs: ['10.200.0.0/24'] }]
    // As Kubernetes holds it, as long as Services have addresses in it.
    const finalizers = ['example.com/has-services']
    const more: ServiceCidr = {
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { ...ref, finalizers }, spec },
    }
    const tell = async (status: 'True' | 'False'): Promise<void> => {
      const lastTransitionTime = '2026-01-01T00:00:00Z'
      const condition = { type: 'Ready', status, reason: 'Told', message: 'as told', lastTransitionTime }
      const patch = { status: { conditions: [condition] } }
      await cluster.client.patch(serviceCidrs, ref, mergePatch, patch, { subresource: 'status' })
      await control.settle()
    }
    await cluster.client.create(serviceCidrs, more)
    await control.settle()
    expect(routes(control)).toEqual(before)
    await tell('True')
    const more4 = '29400 ip4.src == $yard.n1_ip4 && ip4.dst == 10.200.0.0/24 100.64.0.2'
    expect(routes(control)).toEqual([...before, more4].sort())
    await cluster.client.remove(serviceCidrs, ref)
    await tell('False')
    expect(routes(control)).toEqual([...before, more4].sort())
    await cluster.client.patch(serviceCidrs, ref, mergePatch, { metadata: { finalizers: null } })
    await control.settle()
    expect(routes(control)).toEqual(before)
    expect(control.problems()).toEqual([])
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
