import type { KubeObject, Resource } from '@kube-ovn/kube'
import { providerNetworkResource, subnetResource, vlanResource, vpcResource } from '@kube-ovn/kube-api'
import { namespaces, nodes, pods } from '@kube-ovn/kube-api/core'
import { namespace, node, pod, providerNetwork, subnet, vlan, vpc } from '@kube-ovn/testing-builders'
import { ControlCluster, dualStack, startWithBlue } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it, vi } from 'vitest'

const patience = { timeout: 60_000 }

/* Objects of different names, of which OVN has rows of one name. */

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

/** Something that is made, with what it needs. */
interface Made {
  readonly about: string
  make(): Promise<unknown>
  remove(): Promise<unknown>
}

function made<T extends KubeObject>(resource: Resource<T>, object: T, needs: () => Promise<unknown>): Made {
  const { name, namespace: space } = object.metadata
  return {
    about: name,
    async make() {
      await needs()
      await cluster.client.create(resource, object)
    },
    remove: () =>
      space === undefined ? cluster.client.remove(resource, { name }) : cluster.removePod(name, space),
  }
}

const nothingElse = (): Promise<unknown> => Promise.resolve()

function nodeOf(name: string, host: number): Made {
  return made(nodes, node({ name, addresses: [`172.18.0.${host}`, `fd00:18::${host}`] }), nothingElse)
}

function podOf(space: string, name: string): Made {
  return made(pods, pod({ name, namespace: space, node: 'n1' }), () =>
    cluster.client.create(namespaces, namespace({ name: space })),
  )
}

function subnetOf(name: string, cidrBlock: string, needs = nothingElse, more = {}): Made {
  return made(subnetResource, subnet({ name, cidrBlock, ...more }), needs)
}

const inVpc = (name: string) => () => cluster.client.create(vpcResource, vpc({ name }))

async function onVlan(): Promise<void> {
  await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
  await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10, provider: 'quay' }))
}

/** A connection of a Vpc to another one, with both of them. */
function peeringOf(name: string, remoteVpc: string, localConnectIP: string): Made {
  return {
    about: name,
    async make() {
      for (const one of [name, remoteVpc]) await cluster.client.create(vpcResource, vpc({ name: one }))
      await cluster.user.edit(vpcResource, name, { vpcPeerings: [{ remoteVpc, localConnectIP }] })
    },
    remove: () => cluster.user.edit(vpcResource, name, { vpcPeerings: [] }),
  }
}

const pairs: readonly {
  readonly title: string
  readonly table: 'Logical_Switch_Port' | 'Logical_Router_Port' | 'Port_Group'
  readonly row: string
  readonly first: Made
  readonly second: Made
}[] = [
  {
    ...{ title: 'a pod and a node', table: 'Logical_Switch_Port', row: 'node-x.y' },
    ...{ first: podOf('y', 'node-x'), second: nodeOf('x.y', 77) },
  },
  {
    ...{ title: 'a node and a pod', table: 'Logical_Switch_Port', row: 'node-x.y' },
    ...{ first: nodeOf('x.y', 77), second: podOf('y', 'node-x') },
  },
  {
    ...{ title: 'a subnet and a pod', table: 'Logical_Switch_Port', row: 'p.n-ovn-cluster' },
    ...{ first: subnetOf('p.n', '10.40.0.0/24'), second: podOf('n-ovn-cluster', 'p') },
  },
  {
    ...{ title: 'a pod and a subnet', table: 'Logical_Switch_Port', row: 'p.n-ovn-cluster' },
    ...{ first: podOf('n-ovn-cluster', 'p'), second: subnetOf('p.n', '10.40.0.0/24') },
  },
  {
    ...{ title: 'an underlay subnet and a pod', table: 'Logical_Switch_Port', row: 'localnet.sea' },
    ...{ first: subnetOf('sea', '10.40.0.0/24', onVlan, { vlan: 'v10' }), second: podOf('sea', 'localnet') },
  },
  {
    ...{ title: 'a pod and an underlay subnet', table: 'Logical_Switch_Port', row: 'localnet.sea' },
    ...{ first: podOf('sea', 'localnet'), second: subnetOf('sea', '10.40.0.0/24', onVlan, { vlan: 'v10' }) },
  },
  {
    ...{ title: 'a node and a subnet', table: 'Logical_Switch_Port', row: 'node-w' },
    ...{ first: nodeOf('w', 77), second: subnetOf('node', '10.40.0.0/24', inVpc('w'), { vpc: 'w' }) },
  },
  {
    ...{ title: 'two nodes', table: 'Port_Group', row: 'node.a.b' },
    ...{ first: nodeOf('a-b', 77), second: nodeOf('a.b', 78) },
  },
  {
    ...{ title: 'two subnets', table: 'Port_Group', row: 's.t.n1' },
    ...{ first: subnetOf('s-t', '10.40.0.0/24'), second: subnetOf('s.t', '10.41.0.0/24') },
  },
  {
    ...{ title: 'two peerings', table: 'Logical_Router_Port', row: 'a-b-c' },
    first: peeringOf('a', 'b-c', '169.254.1.1/30'),
    second: peeringOf('a-b', 'c', '169.254.2.1/30'),
  },
  {
    ...{ title: 'a subnet and a peering', table: 'Logical_Router_Port', row: 'a-b-c' },
    first: subnetOf('b-c', '10.40.0.0/24', inVpc('a'), { vpc: 'a' }),
    second: peeringOf('a-b', 'c', '169.254.2.1/30'),
  },
  {
    ...{ title: 'a peering and a subnet', table: 'Logical_Router_Port', row: 'a-b-c' },
    first: peeringOf('a-b', 'c', '169.254.2.1/30'),
    second: subnetOf('b-c', '10.40.0.0/24', inVpc('a'), { vpc: 'a' }),
  },
]

describe('a row of one name that two objects have', () => {
  it.each(pairs)('is that of the first of $title; the second is told until it is free', async (pair) => {
    const { table, row, first, second } = pair
    await using control = await startWithBlue(cluster, dualStack)
    await first.make()
    await control.settle()
    const found = () => control.rows(table, 'name', 'external_ids').filter(({ name }) => name === row)
    const before = found()
    expect(before).toHaveLength(1)
    await second.make()
    const told = async () => (await cluster.user.told(second.about)).join()
    await vi.waitFor(async () => expect(await told()).toMatch(/holder=.*(rename|another name)/), patience)
    expect(found()).toEqual(before)
    await first.remove()
    await vi.waitFor(() => expect(found()).not.toEqual(before), patience)
    await vi.waitFor(() => expect(found()).toHaveLength(1), patience)
    await control.settle()
    expect(found()).toHaveLength(1)
  })
})
