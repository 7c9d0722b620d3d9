import { podAnnotations } from '@kube-ovn/annotations'
import { ipResource, subnetResource, vpcResource } from '@kube-ovn/kube-api'
import { events, namespaces, nodes, pods, statefulSets } from '@kube-ovn/kube-api/core'
import { namespace, node, pod, statefulSet, subnet } from '@kube-ovn/testing-builders'
import pMap from 'p-map'
import { describe, expect, it } from 'vitest'
import { ControlCluster, inBlue } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()

const keys = podAnnotations()
const nothing = { transactions: 0, writes: [] }

/** Tables that the controller writes rows of. */
const tables = [
  'ACL',
  'Address_Set',
  'Logical_Router',
  'Logical_Router_Policy',
  'Logical_Router_Port',
  'Logical_Router_Static_Route',
  'Logical_Switch',
  'Logical_Switch_Port',
  'Port_Group',
] as const

/** Two nodes, a user's subnet with its namespace, and a pod in each subnet. */
async function populate(): Promise<void> {
  const { client } = cluster
  await client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11', 'fd00:18::11'] }))
  await client.create(nodes, node({ name: 'n2', addresses: ['172.18.0.12', 'fd00:18::12'] }))
  await client.create(namespaces, namespace({ name: 'shop' }))
  await client.create(
    subnetResource,
    subnet({ name: 'blue', cidrBlock: '10.17.0.0/24', namespaces: ['shop'] }),
  )
  await client.create(pods, pod({ name: 'web', node: 'n1' }))
  await client.create(pods, pod({ name: 'web', namespace: 'shop', node: 'n2' }))
}

/** A life of the controller from its start until it has settled. */
async function oneLife(): Promise<void> {
  await using control = await cluster.startController()
  await control.settle()
}

function strip(...keysOfMarks: readonly string[]): Promise<unknown> {
  const mutations = [['external_ids', 'delete', ['set', keysOfMarks]]]
  const { server } = cluster.northbound
  return server.transact(tables.map((table) => ({ op: 'mutate', table, where: [], mutations })))
}

function everyRow(control: Controller): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    tables.map((table) => [
      table,
      [...control.world.northbound.scan(table)].sort((a, b) => (a._uuid < b._uuid ? -1 : 1)),
    ]),
  )
}

async function forgetAnnotations(name: string): Promise<void> {
  const annotations = Object.fromEntries(Object.values(keys).map(({ key }) => [key, null]))
  const ref = { namespace: 'default', name }
  await cluster.client.patch(pods, ref, 'application/merge-patch+json', { metadata: { annotations } })
}

async function setPhase(name: string, phase: string): Promise<void> {
  const ref = { namespace: 'default', name }
  const subresource = 'status'
  await cluster.client.patch(
    pods,
    ref,
    'application/merge-patch+json',
    { status: { phase } },
    { subresource },
  )
}

describe('a restart', () => {
  it('of a quiet system writes nothing', async () => {
    await populate()
    await oneLife()
    await cluster.forgetCosts()
    await oneLife()
    expect(await cluster.costs()).toEqual(nothing)
  })

  it('tells nothing twice of pods and subnets that wait', async () => {
    await populate()
    const annotations = { [keys.ipAddress.key]: '10.99.0.1' }
    await cluster.client.create(pods, pod({ name: 'odd', node: 'n1', annotations }))
    await cluster.client.create(subnetResource, subnet({ name: 'bad', cidrBlock: '127.0.0.0/24' }))
    await oneLife()
    await cluster.forgetCosts()
    await oneLife()
    expect(await cluster.costs()).toEqual(nothing)
    const { items } = await cluster.client.list(events)
    expect(items.map(({ involvedObject, count }) => `${involvedObject.name} ${count}`).sort()).toEqual([
      'bad 1',
      'odd 1',
    ])
  })

  it('catches up with what happened meanwhile', async () => {
    await populate()
    await oneLife()
    await cluster.removePod('web')
    await cluster.client.remove(nodes, { name: 'n2' })
    await cluster.removePod('web', 'shop')
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await cluster.client.create(pods, pod({ name: 'late', node: 'n1' }))
    await using control = await cluster.startController()
    await control.settle()
    expect(control.rows('Logical_Switch_Port', 'name').map(({ name }) => name)).toEqual([
      'join-ovn-cluster',
      'late.default',
      'node-n1',
      'ovn-default-ovn-cluster',
    ])
    expect(control.named('Logical_Switch', 'blue')).toBeUndefined()
    expect(await cluster.client.get(subnetResource, { name: 'blue' })).toBeUndefined()
    expect((await cluster.client.list(ipResource)).items.map(({ metadata }) => metadata.name)).toEqual([
      'late.default',
      'node-n1',
    ])
    expect(control.problems()).toEqual([])
  })

  it('leaves an address to the pod that has it when another one claims it too', async () => {
    await populate()
    await oneLife()
    const web = await cluster.client.get(pods, { namespace: 'default', name: 'web' })
    const annotations = web?.metadata.annotations ?? {}
    // Sorts before the other one, and says that it has been allocated.
    await cluster.client.create(pods, pod({ name: 'a-copy', node: 'n1', annotations }))
    await using control = await cluster.startController()
    await control.settle()
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['web.default'])
    const { items } = await cluster.client.list(events)
    expect(items.map(({ involvedObject }) => involvedObject.name)).toEqual(['a-copy'])
    await cluster.removePod('web')
    await control.settle()
    expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['a-copy.default'])
  })

  it('gives an edit no precedence over what is in effect', async () => {
    await populate()
    await oneLife()
    await cluster.client.create(subnetResource, subnet({ name: 'red', cidrBlock: '10.20.0.0/24' }))
    await oneLife()
    // Blue is the older one, and both were valid.
    const edit = { spec: { cidrBlock: '10.20.0.0/16', gateway: '10.20.9.9' } }
    await cluster.client.patch(subnetResource, { name: 'blue' }, 'application/merge-patch+json', edit)
    await using control = await cluster.startController()
    await control.settle()
    expect(control.named('Logical_Router_Port', 'ovn-cluster-red')?.networks).toEqual(['10.20.0.1/24'])
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks).toEqual(['10.17.0.1/24'])
    const conditions = (await cluster.client.get(subnetResource, { name: 'blue' }))?.status?.conditions ?? []
    expect(conditions.find(({ type }) => type === 'Validated')?.message).toContain(
      '10.20.0.0/24 of subnet red',
    )
  })

  it('ends no subnet in which a node has its address by now, nor what waits for a pod there', async () => {
    await populate()
    const set = await cluster.client.create(statefulSets, statefulSet({ annotations: inBlue }))
    const { name, uid = '' } = set.metadata
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true }]
    const member = pod({ name: 'db-0', node: 'n1', annotations: inBlue, ownerReferences })
    {
      await using control = await cluster.startController()
      await cluster.client.create(pods, member)
      await control.settle()
      await cluster.client.create(nodes, node({ name: 'n3', addresses: ['10.17.0.200'] }))
      await cluster.removePod('db-0')
      await control.settle()
    }
    const record = await cluster.client.get(ipResource, { name: 'db-0.default' })
    expect(record?.spec?.v4IpAddress).toMatch(/^10\.17\.0\./)
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    await cluster.client.create(pods, pod({ name: 'new', node: 'n1', annotations: inBlue }))
    await cluster.client.create(pods, member)
    await control.settle()
    expect(await cluster.user.addressOf('new')).toMatch(/^10\.17\.0\./)
    expect(await cluster.user.addressOf('db-0')).toBe(record?.spec?.v4IpAddress)
  })

  it('refuses a gateway that somebody has, although the edit was made meanwhile', async () => {
    await populate()
    await oneLife()
    const held = await cluster.user.addressOf('web', 'shop')
    await cluster.user.edit(subnetResource, 'blue', { gateway: held })
    await using control = await cluster.startController()
    await control.settle()
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks).toEqual(['10.17.0.1/24'])
    expect(await cluster.user.told('blue')).toEqual([expect.stringContaining('delete pod/shop/web first')])
    expect(await cluster.user.told('web')).toEqual([])
  })

  it('moves no running pod, whatever its IP object was edited to meanwhile', async () => {
    await populate()
    await oneLife()
    await setPhase('web', 'Running')
    const before = await cluster.user.addressOf('web')
    const edit = { v4IpAddress: '10.16.0.99', ipAddress: '10.16.0.99' }
    await cluster.user.edit(ipResource, 'web.default', edit)
    await cluster.forgetCosts()
    await oneLife()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: ['patch ips'] })
    expect(await cluster.user.addressOf('web')).toBe(before)
    expect((await cluster.client.get(ipResource, { name: 'web.default' }))?.spec?.ipAddress).toBe(before)
  })

  it('after a crash between the record of a pod and its annotations finishes them, with the same address', async () => {
    await populate()
    await oneLife()
    const before = await cluster.client.get(pods, { namespace: 'default', name: 'web' })
    await forgetAnnotations('web')
    await cluster.forgetCosts()
    await oneLife()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: ['patch pods'] })
    const after = await cluster.client.get(pods, { namespace: 'default', name: 'web' })
    expect(after?.metadata.annotations).toEqual(before?.metadata.annotations)
  })

  it('after a crash between a transaction and the record finishes both, with the same address', async () => {
    await populate()
    await oneLife()
    const before = await cluster.client.get(pods, { namespace: 'default', name: 'web' })
    await forgetAnnotations('web')
    const record = { name: 'web.default' }
    await cluster.client.patch(ipResource, record, 'application/merge-patch+json', {
      metadata: { finalizers: null },
    })
    await cluster.client.remove(ipResource, record)
    await cluster.client.create(pods, pod({ name: 'another', node: 'n1' }))
    await oneLife()
    const after = await cluster.client.get(pods, { namespace: 'default', name: 'web' })
    expect(after?.metadata.annotations).toEqual(before?.metadata.annotations)
    const other = await cluster.client.get(pods, { namespace: 'default', name: 'another' })
    expect(other?.metadata.annotations?.[keys.ipAddress.key]).not.toBe(
      before?.metadata.annotations?.[keys.ipAddress.key],
    )
  })

  it('at any moment of a burst leaves every pod with an address of its own', async () => {
    await populate()
    await oneLife()
    const created: Promise<unknown>[] = []
    for (let life = 0; life < 3; life++) {
      await using control = await cluster.startController()
      // Ended as soon as it has done anything.
      const acted = new Promise<void>((resolve) => void control.onNorthboundChange(resolve))
      for (let n = 0; n < 20; n++) {
        created.push(cluster.client.create(pods, pod({ name: `p${life}-${n}`, node: 'n1' })))
      }
      await acted
    }
    await Promise.all(created)
    await using control = await cluster.startController()
    await control.settle()
    const { items } = await cluster.client.list(pods)
    const addresses = items.map(({ metadata }) => metadata.annotations?.[keys.ipAddress.key])
    expect(addresses).not.toContain(undefined)
    expect(new Set(addresses).size).toBe(62)
    expect(control.portsOf('Port_Group', 'node.n1')).toHaveLength(61)
  })
})

describe('addresses of pods that go', () => {
  const names = Array.from({ length: 40 }, (_, n) => `p${n}`)

  async function createAll(prefix: string): Promise<void> {
    await Promise.all(
      names.map((name) => cluster.client.create(pods, pod({ name: prefix + name, node: 'n1' }))),
    )
  }

  it('are held for as long as anything records them', async () => {
    await populate()
    await using control = await cluster.startController()
    await createAll('')
    await control.settle()
    const lost = new Set<string>()
    let removals = 0
    using _watching = control.onNorthboundChange(() => {
      removals++
      for (const { metadata } of control.world.ips.values())
        if (control.world.ipam.lease(metadata.name) === undefined) lost.add(metadata.name)
      for (const { name } of control.world.northbound.scan('Logical_Switch_Port'))
        if (/^p\d/.test(name) && control.world.ipam.lease(name) === undefined) lost.add(name)
    })
    await Promise.all(names.map((name) => cluster.removePod(name)))
    await control.settle()
    expect(removals).toBeGreaterThan(0)
    expect([...lost]).toEqual([])
    expect(names.filter((name) => control.world.ipam.lease(`${name}.default`) !== undefined)).toEqual([])
  })

  it('are given to nobody who could lose them, whenever the controller is killed', async () => {
    await populate()
    await oneLife()
    for (let life = 0; life < 4; life++) {
      await createAll(`l${life}-`)
      const gone = life === 0 ? [] : names.map((name) => `l${life - 1}-${name}`)
      await Promise.all(gone.map((name) => cluster.removePod(name)))
      await using control = await cluster.startController()
      await new Promise<void>((resolve) => void control.onNorthboundChange(resolve))
      expect(control.problems()).toEqual([])
    }
    await using control = await cluster.startController()
    await control.settle()
    const { items } = await cluster.client.list(pods)
    const addresses = items.map(({ metadata }) => metadata.annotations?.[keys.ipAddress.key])
    expect(addresses).not.toContain(undefined)
    expect(new Set(addresses).size).toBe(items.length)
    expect(control.world.ipam.verify()).toEqual([])
    expect(control.problems()).toEqual([])
  })
})

describe('a Northbound that upstream wrote', () => {
  it('is taken over: only marks are added', async () => {
    await populate()
    let before: Readonly<Record<string, unknown>>
    {
      await using control = await cluster.startController()
      await control.settle()
      before = everyRow(control)
    }
    await strip('owner', 'id')
    await cluster.forgetCosts()
    await using control = await cluster.startController()
    await control.settle()
    expect(everyRow(control)).toEqual(before)
    const { transactions, writes } = await cluster.costs()
    expect(writes).toEqual([])
    expect(transactions).toBeLessThanOrEqual(3)
    expect(control.problems()).toEqual([])
  })

  it('keeps what belongs to a VPC of others, for as long as that exists', async () => {
    await populate()
    const vendor = 'external_ids:vendor=kube-ovn'
    cluster.declareForeign('Logical_Router', 'v1')
    await cluster.northbound.nbctl('lr-add', 'v1', '--', 'set', 'Logical_Router', 'v1', vendor)
    await cluster.client.create(vpcResource, {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Vpc',
      metadata: { name: 'v1', labels: { 'ovn.kubernetes.io/vpc_external': 'true' } },
      spec: {},
    })
    await oneLife()
    await using control = await cluster.startController()
    await control.settle()
    expect(control.named('Logical_Router', 'v1')).toBeDefined()
    await cluster.client.remove(vpcResource, { name: 'v1' })
    await control.settle()
    expect(control.named('Logical_Router', 'v1')).toBeUndefined()
  })

  it('is cleared of ports without a pod, whose addresses are free again', async () => {
    await populate()
    await oneLife()
    await strip('owner', 'id')
    await cluster.removePod('web', 'shop')
    const record = { name: 'web.shop' }
    await cluster.client.patch(ipResource, record, 'application/merge-patch+json', {
      metadata: { finalizers: null },
    })
    await cluster.client.remove(ipResource, record)
    await using control = await cluster.startController()
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'web.shop')).toBeUndefined()
    expect(control.world.ipam.lease('web.shop')).toBeUndefined()
    expect((await cluster.client.get(subnetResource, { name: 'blue' }))?.status).toMatchObject({
      v4usingIPs: 0,
    })
  })
})

it('starts with 2,000 pods, and restarts without a write', { timeout: 300_000 }, async () => {
  await populate()
  const names = Array.from({ length: 2000 }, (_, n) => `p${n}`)
  await pMap(names, (name) => cluster.client.create(pods, pod({ name, node: 'n1' })), { concurrency: 20 })
  await cluster.forgetCosts()
  await oneLife()
  expect((await cluster.costs()).transactions).toBeLessThanOrEqual(400)
  await cluster.forgetCosts()
  await oneLife()
  expect(await cluster.costs()).toEqual(nothing)
})
