import { podAnnotations } from '@kube-ovn/annotations'
import { subnetResource, type SubnetSpec } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import { node, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  address,
  addresses,
  ControlCluster,
  createInBlue,
  dualStack,
  elsewhere,
  inBlue,
  readBlue,
  type Stack,
  stacks,
  startWithBlue,
} from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()
const moved = { gateway: null, excludeIps: null }

async function edit(spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'blue', spec)
}

async function writeStatus(status: object): Promise<void> {
  const options = { subresource: 'status' } as const
  const type = 'application/merge-patch+json'
  await cluster.client.patch(subnetResource, { name: 'blue' }, type, { status: { ...status } }, options)
}

function routerAddresses(control: Controller): readonly string[] {
  const networks = control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks ?? []
  return networks.map((text) => text.replace(/\/.*/, ''))
}

/** Everything that a node or a controller that starts goes by. */
function published(stack: Stack, more: object = {}): object {
  return {
    cidrBlock: stack.cidr,
    protocol: stack.stack,
    gateway: address(stack, 1),
    excludeIps: addresses(stack, 1),
    provider: 'ovn',
    vpc: 'ovn-cluster',
    natOutgoing: false,
    mtu: 0,
    ...more,
  }
}

/** Notes each state of the Northbound in which the subnet has a gateway that its status did not name before. */
function watchOrder(control: Controller): { readonly early: readonly string[]; readonly seen: Set<string> } {
  const early: string[] = []
  const seen = new Set<string>()
  control.onNorthboundChange(() => {
    const [gateway] = routerAddresses(control)
    if (gateway === undefined) return
    seen.add(gateway)
    const said = control.world.subnets.get('blue')?.status?.inEffect?.gateway ?? ''
    if (!said.split(',').includes(gateway)) early.push(`${gateway} while the status said "${said}"`)
  })
  return { early, seen }
}

describe.each(stacks)('What is in effect of a subnet of $stack', (stack) => {
  it('is told before any row changes, when it is made and when it is edited', async () => {
    await using control = await cluster.startSettled()
    const order = watchOrder(control)
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: stack.cidr }))
    await control.settle()
    expect((await readBlue(cluster))?.status?.inEffect).toEqual(published(stack))
    await edit({ cidrBlock: elsewhere(stack).cidr, natOutgoing: true, mtu: 1400, ...moved })
    await control.settle()
    expect((await readBlue(cluster))?.status?.inEffect).toEqual(
      published(elsewhere(stack), { natOutgoing: true, mtu: 1400 }),
    )
    expect(order.seen).toEqual(new Set([addresses(stack, 1)[0], addresses(elsewhere(stack), 1)[0]]))
    expect(order.early).toEqual([])
  })

  it.each<{ name: string; spec: SubnetSpec }>([
    { name: 'a gateway elsewhere', spec: { gateway: '192.0.2.1' } },
    { name: 'a VLAN', spec: { vlan: 'v10' } },
    { name: 'another VPC', spec: { vpc: 'other' } },
    { name: 'an address that is none in vips', spec: { vips: ['none'] } },
  ])('stays so while it is edited to have $name', async ({ spec }) => {
    await using control = await startWithBlue(cluster, stack)
    await edit({ natOutgoing: true })
    await control.settle()
    await edit({ ...spec, natOutgoing: false, mtu: 1280 })
    await control.settle()
    const status = (await readBlue(cluster))?.status
    expect(status?.inEffect).toEqual(published(stack, { natOutgoing: true }))
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Validated', status: 'False' }))
  })

  it('stays so when a node comes to have an address there, and when that goes', async () => {
    await using control = await startWithBlue(cluster, stack)
    await cluster.client.create(nodes, node({ name: 'n2', addresses: addresses(stack, 77) }))
    await control.settle()
    const status = (await readBlue(cluster))?.status
    expect(status?.inEffect).toEqual(published(stack))
    expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Validated', status: 'False' }))
    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
    expect((await readBlue(cluster))?.status?.inEffect).toEqual(published(stack))
  })

  it('is what a controller begins with that starts after a bad edit, although the rows are gone', async () => {
    {
      await using control = await startWithBlue(cluster, stack, addresses(stack, 2))
      await createInBlue(cluster, control, ['a'])
    }
    await edit({ gateway: 'none of them', excludeIps: ['none'] }).catch(() => undefined)
    await edit({ vlan: 'v10', excludeIps: ['none'] })
    const where = [['name', '==', 'ovn-cluster-blue']]
    const { server } = cluster.northbound
    await server.transact([
      { op: 'delete', table: 'Logical_Router_Policy', where: [] },
      { op: 'update', table: 'Logical_Router_Port', where, row: { networks: ['192.0.2.1/24'] } },
    ])
    await using control = await cluster.startController()
    await control.settle()
    expect(routerAddresses(control)).toEqual(addresses(stack, 1))
    await cluster.user.createPod({ name: 'b', annotations: inBlue })
    await control.settle()
    expect(await cluster.user.addressesOf('a', 'b')).toEqual([address(stack, 3), address(stack, 4)])
  })

  it('is what was told before the process died, although the rows were not written and the edit was undone', async () => {
    {
      await using control = await startWithBlue(cluster, stack)
      await createInBlue(cluster, control, ['a'])
    }
    await writeStatus({ inEffect: published(stack, { gateway: address(stack, 254) }) })
    await edit({ vlan: 'v10' })
    await using control = await cluster.startController()
    await control.settle()
    expect(routerAddresses(control)).toEqual(addresses(stack, 254))
    await edit({ vlan: '' })
    await control.settle()
    expect(routerAddresses(control)).toEqual(addresses(stack, 1))
    expect((await readBlue(cluster))?.status?.inEffect).toEqual(published(stack))
  })

  it('is told again when somebody writes over it, and nothing follows that', async () => {
    await using control = await startWithBlue(cluster, stack)
    await edit({ vlan: 'v10' })
    await control.settle()
    for (const inEffect of [null, published(elsewhere(stack))]) {
      await writeStatus({ inEffect })
      await control.settle()
      expect((await readBlue(cluster))?.status?.inEffect).toEqual(published(stack))
      expect(routerAddresses(control)).toEqual(addresses(stack, 1))
    }
  })
})

describe('A subnet that is accepted', () => {
  it('keeps its prefix from others before its rows are there', async () => {
    await using control = await startWithBlue(cluster, dualStack)
    await edit({ cidrBlock: elsewhere(dualStack).cidr, ...moved })
    await cluster.client.create(subnetResource, subnet({ name: 'red', cidrBlock: elsewhere(dualStack).cidr }))
    await control.settle()
    const all = await cluster.client.list(subnetResource)
    const owners = all.items.filter(({ status }) => status?.inEffect?.cidrBlock === elsewhere(dualStack).cidr)
    expect(owners.map(({ metadata }) => metadata.name)).toHaveLength(1)
  })

  it('costs a write before and a write after its rows', async () => {
    await using control = await startWithBlue(cluster, dualStack)
    const status = 'patch subnets/status'
    await edit({ cidrBlock: elsewhere(dualStack).cidr, ...moved })
    await control.settle()
    const { writes } = await cluster.costs()
    expect(writes.filter((write) => write === status).length).toBeLessThanOrEqual(3)
    await cluster.forgetCosts()
    // Nothing but nodes go by these.
    await edit({ natOutgoing: true })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [status] })
    await cluster.user.createPod({ name: 'a', annotations: { [keys.logicalSwitch.key]: 'blue' } })
    await control.settle()
  })
})
