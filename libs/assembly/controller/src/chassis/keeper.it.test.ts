import { nodeAnnotations, vpcAnnotations } from '@kube-ovn/annotations'
import { vpcResource } from '@kube-ovn/kube-api'
import { events, nodes } from '@kube-ovn/kube-api/core'
import { node } from '@kube-ovn/testing-builders'
import { ControlCluster } from '@kube-ovn/testing-control'
import { startProxy, type DatabaseServer } from '@kube-ovn/testing-ovsdb'
import { expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite({ southbound: true })

function sbctl(...args: readonly string[]): Promise<string> {
  return cluster.northbound.sbctl(...args)
}

function southbound(): DatabaseServer {
  const server = cluster.northbound.southbound
  if (server === undefined) throw new TypeError('the suite has a Southbound')
  return server
}

async function createNode(name: string, chassis?: string): Promise<void> {
  const annotations = chassis === undefined ? {} : { [nodeAnnotations.chassis.key]: chassis }
  await cluster.client.create(nodes, node({ name, addresses: [], annotations }))
}

async function tellChassis(name: string, chassis: string): Promise<void> {
  const annotations = { [nodeAnnotations.chassis.key]: chassis }
  await cluster.client.patch(nodes, { name }, 'application/merge-patch+json', { metadata: { annotations } })
}

/** As ovn-controller of the host does, which has an address for tunnels of its own. */
async function register(chassis: string, hostname: string, ...columns: readonly string[]): Promise<void> {
  await sbctl(
    ...['--', '--id=@e', 'create', 'Encap', 'type=geneve', `ip=${chassis}`, `chassis_name=${chassis}`],
    ...[
      '--',
      '--id=@c',
      'create',
      'Chassis',
      `name=${chassis}`,
      `hostname=${hostname}`,
      'encaps=@e',
      ...columns,
    ],
    ...['--', 'create', 'Chassis_Private', `name=${chassis}`, 'chassis=@c'],
  )
}

/** `name node`, of every chassis. */
async function chassis(): Promise<readonly string[]> {
  const text = await sbctl(
    '--bare',
    '--no-headings',
    '--format=csv',
    '--columns=name,external_ids',
    'list',
    'Chassis',
  )
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', ids = ''] = line.replaceAll('"', '').split(',')
      return `${name} ${ids}`.trim()
    })
    .sort()
}

async function privateChassis(): Promise<readonly string[]> {
  const text = await sbctl('--bare', '--no-headings', '--columns=name', 'list', 'Chassis_Private')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .sort()
}

const marked = (name: string, of: string) => `${name} node=${of} vendor=kube-ovn`

it('marks the chassis of nodes, once, and again when somebody takes the mark away', async () => {
  await createNode('n1', 'c1')
  await register('c1', 'host-1.example.org')
  await register('foreign', 'n1')
  {
    await using control = await cluster.startController()
    await expect.poll(chassis).toEqual([marked('c1', 'n1'), 'foreign'])
    await sbctl('clear', 'Chassis', 'c1', 'external_ids')
    await expect.poll(chassis).toEqual([marked('c1', 'n1'), 'foreign'])
    await control.settle()
    await createNode('n2', 'c2')
    await register('c2', 'n2')
    await expect.poll(chassis).toEqual([marked('c1', 'n1'), marked('c2', 'n2'), 'foreign'])
  }
  const before = await southbound().transactionCount()
  await using control = await cluster.startController()
  await control.settle()
  // It has looked at what is there as soon as it does something.
  await createNode('n3', 'c3')
  await register('c3', 'n3')
  await expect.poll(chassis).toContain(marked('c3', 'n3'))
  // The registration, and the mark.
  expect((await southbound().transactionCount()) - before).toBe(2)
})

it('removes the chassis of a node that is deleted, and no other one', async () => {
  await createNode('n1', 'c1')
  await createNode('n2', 'c2')
  await register('c1', 'n1')
  await register('c2', 'n2')
  await register('foreign', 'n2')
  await register('other-zone', 'n2', 'other_config:is-remote=true')
  await register('interconnection', 'n2', 'other_config:is-interconn=true')
  await using control = await cluster.startController()
  const others = ['foreign', 'interconnection', 'other-zone']
  await expect.poll(chassis).toEqual([marked('c1', 'n1'), marked('c2', 'n2'), ...others])
  await cluster.client.remove(nodes, { name: 'n2' })
  await expect.poll(chassis).toEqual([marked('c1', 'n1'), ...others])
  expect(await privateChassis()).toEqual(['c1', ...others])
  await control.settle()
})

it('removes what was of nodes that went away while no controller ran, also as upstream marked it', async () => {
  await createNode('n1', 'c1')
  await register('c1', 'n1', 'external_ids:vendor=kube-ovn')
  await register('c2', 'n2', 'external_ids:vendor=kube-ovn', 'external_ids:node=n2')
  await register('c3', 'n3', 'external_ids:vendor=kube-ovn')
  await using control = await cluster.startController()
  await expect.poll(chassis).toEqual([marked('c1', 'n1')])
  await control.settle()
})

it('waits for nodes that have not told their chassis, before it takes a chassis for nobody’s', async () => {
  await createNode('n1')
  await register('c1', 'host-1.example.org', 'external_ids:vendor=kube-ovn')
  await register('c2', 'n2', 'external_ids:vendor=kube-ovn', 'external_ids:node=n2')
  await using control = await cluster.startController()
  await expect.poll(chassis).toEqual(['c1 vendor=kube-ovn'])
  await tellChassis('n1', 'c1')
  await expect.poll(chassis).toEqual([marked('c1', 'n1')])
  await control.settle()
})

it('removes the older chassis of a node that came back with another system-id', async () => {
  await createNode('n1', 'c1')
  await register('c1', 'n1')
  await using control = await cluster.startController()
  await expect.poll(chassis).toEqual([marked('c1', 'n1')])
  await tellChassis('n1', 'c2')
  // The new one has the same address for tunnels: ovn-controller can not register it before the older one has gone.
  await expect.poll(chassis).toEqual([])
  await register('c2', 'n1')
  await expect.poll(chassis).toEqual([marked('c2', 'n1')])
  expect(await cluster.user.told('n1', 'Normal')).toContainEqual(
    expect.stringMatching(/^ChassisReplaced: chassis c1 was removed/),
  )
  await control.settle()
})

it('keeps the chassis when a node is renamed', async () => {
  await createNode('n1', 'c1')
  await register('c1', 'n1')
  await using control = await cluster.startController()
  await expect.poll(chassis).toEqual([marked('c1', 'n1')])
  const [id] = (await sbctl('--bare', '--no-headings', '--columns=_uuid', 'list', 'Chassis')).split('\n')
  await createNode('n2', 'c1')
  await cluster.client.remove(nodes, { name: 'n1' })
  await expect.poll(chassis).toEqual([marked('c1', 'n2')])
  expect(await sbctl('--bare', '--no-headings', '--columns=_uuid', 'list', 'Chassis')).toBe(id)
  await control.settle()
})

it('keeps the chassis of a renamed node as well while its agent has not told it under the new name', async () => {
  await createNode('n1', 'c1')
  await register('c1', 'n1')
  await using control = await cluster.startController()
  await expect.poll(chassis).toEqual([marked('c1', 'n1')])
  await createNode('n2')
  await cluster.client.remove(nodes, { name: 'n1' })
  await control.settle()
  // What came later has been looked at.
  await createNode('n3', 'c3')
  await register('c3', 'n3')
  await expect.poll(chassis).toEqual([marked('c1', 'n1'), marked('c3', 'n3')])
  await tellChassis('n2', 'c1')
  await expect.poll(chassis).toEqual([marked('c1', 'n2'), marked('c3', 'n3')])

  // The new Node comes late: ovn-controller has registered the chassis again by then.
  await cluster.client.remove(nodes, { name: 'n2' })
  await expect.poll(chassis).toEqual([marked('c3', 'n3')])
  await createNode('n4')
  await control.settle()
  await register('c1', 'n1')
  await expect.poll(chassis).toEqual([marked('c1', 'n2'), marked('c3', 'n3')])
  await tellChassis('n4', 'c1')
  await expect.poll(chassis).toEqual([marked('c1', 'n4'), marked('c3', 'n3')])
  await control.settle()
})

it('removes again what an ovn-controller registers that outlived its node', async () => {
  await createNode('n1', 'c1')
  await register('c1', 'n1')
  await using control = await cluster.startController()
  await expect.poll(chassis).toEqual([marked('c1', 'n1')])
  await cluster.client.remove(nodes, { name: 'n1' })
  await expect.poll(chassis).toEqual([])
  for (let again = 0; again < 2; again++) {
    await register('c1', 'n1')
    await expect.poll(chassis).toEqual([])
  }
  // It would be removed once more in some seconds, which a busy machine may take to create a Node.
  await createNode('n1', 'c1')
  await register('c1', 'n1')
  await expect.poll(chassis).toEqual([marked('c1', 'n1')])
  await control.settle()
})

it('does all else while the Southbound is away, and then what waited', async () => {
  await createNode('n1', 'c1')
  await createNode('n2', 'c2')
  await register('c1', 'n1')
  await register('c2', 'n2')
  await using proxy = await startProxy(southbound().address)
  await using control = await cluster.startController({ southboundAddress: proxy.address })
  await expect.poll(chassis).toEqual([marked('c1', 'n1'), marked('c2', 'n2')])
  proxy.cut()
  await cluster.client.remove(nodes, { name: 'n2' })
  await cluster.user.createPod({ name: 'web', node: 'n1' })
  await control.settle()
  expect(await cluster.user.addressOf('web')).not.toBe('')
  expect(await chassis()).toContain(marked('c2', 'n2'))
  proxy.mend()
  await expect.poll(chassis).toEqual([marked('c1', 'n1')])
})

it('asks before it removes many chassis of nodes that it never saw', async () => {
  await createNode('n1', 'c1')
  await register('c1', 'n1')
  const count = 51
  for (let n = 0; n < count; n++)
    await register(`gone${n}`, `gone${n}`, 'external_ids:vendor=kube-ovn', `external_ids:node=gone${n}`)
  await using control = await cluster.startController()
  await expect.poll(async () => (await heldMessages()).length).toBe(1)
  expect(await chassis()).toHaveLength(count + 1)
  const [message = ''] = await heldMessages()
  expect(message).toMatch(/^51 of 5[12] rows of kind chassis belong to nothing that exists/)
  const annotations = { [vpcAnnotations.deleteOrphans.key]: message.split('=').at(-1) }
  const ref = { name: 'ovn-cluster' }
  await cluster.client.patch(vpcResource, ref, 'application/merge-patch+json', { metadata: { annotations } })
  await expect.poll(chassis).toEqual([marked('c1', 'n1')])
  await control.settle()
})

async function heldMessages(): Promise<readonly string[]> {
  const { items } = await cluster.client.list(events)
  return items.filter(({ reason }) => reason === 'OrphansHeld').map(({ message = '' }) => message)
}

it('tells of a node whose chassis is not registered, and of two nodes that have one', async () => {
  await createNode('n1', 'c1')
  await createNode('n2', 'c2')
  await createNode('n3', 'c2')
  await register('c2', 'n2')
  await using control = await cluster.startController()
  await expect
    .poll(() => cluster.user.told('n1'))
    .toContainEqual(expect.stringMatching(/^ChassisWaits: .*c1.* ovs-ovn pod/))
  await expect
    .poll(() => cluster.user.told('n3'))
    .toContainEqual(expect.stringMatching(/^ChassisWaits: .* that of n2 as well/))
  expect(await chassis()).toEqual([marked('c2', 'n2')])
  await control.settle()
})
