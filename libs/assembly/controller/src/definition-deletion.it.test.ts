import { ipResource, subnetResource, vpcResource } from '@kube-ovn/kube-api'
import { customResourceDefinitions, events, namespaces } from '@kube-ovn/kube-api/core'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import { namespace, subnet } from '@kube-ovn/testing-builders'
import { applyDefinitions, chartCrds, readDefinitions } from '@kube-ovn/testing-kube'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  address,
  ControlCluster,
  createInBlue,
  dualStack,
  elsewhere,
  startWithBlue,
} from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const kinds: readonly Resource[] = [subnetResource, vpcResource, ipResource]
const names = kinds.map(({ plural, group }) => `${plural}.${group}`)

interface Saved extends KubeObject {
  readonly resource: Resource
  readonly status?: unknown
}

async function all(): Promise<readonly Saved[]> {
  const lists = await Promise.all(
    kinds.map(async (resource) =>
      (await cluster.client.list(resource)).items.map((item) => ({ ...item, resource })),
    ),
  )
  return lists.flat()
}

/** Deletes the definitions, and waits until all of their objects are being deleted. */
async function deleteDefinitions(): Promise<void> {
  for (const name of names) await cluster.client.remove(customResourceDefinitions, { name })
  await vi.waitUntil(
    async () => (await all()).every(({ metadata }) => metadata.deletionTimestamp !== undefined),
    { timeout: 180_000 },
  )
}

/** Lets go what is being deleted, and brings the definitions of the chart back. */
async function restore(): Promise<void> {
  const isEnding = async (name: string) =>
    (await cluster.client.get(customResourceDefinitions, { name }))?.metadata.deletionTimestamp !== undefined
  for (const [index, name] of names.entries()) {
    const resource = kinds[index]
    if (resource === undefined || !(await isEnding(name))) continue
    for (const { metadata } of (await cluster.client.list(resource)).items) {
      const change = { metadata: { finalizers: null } }
      await cluster.client.patch(resource, { name: metadata.name }, 'application/merge-patch+json', change)
    }
    await vi.waitUntil(async () => !(await isEnding(name)), { timeout: 180_000 })
  }
  await applyDefinitions(cluster.client, await readDefinitions([chartCrds]))
}

afterEach(restore, 300_000)

describe('definitions that are deleted while a controller runs', () => {
  it('take no network down, used or not, which is told; neither does a restart', async () => {
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    const idle = subnet({ name: 'idle', cidrBlock: elsewhere(dualStack).cidr, namespaces: ['shop'] })
    await cluster.client.create(subnetResource, idle)
    {
      await using control = await startWithBlue(cluster, dualStack)
      await createInBlue(cluster, control, ['a'])
      await cluster.forgetCosts()
      await deleteDefinitions()
      await control.settle()
      const { transactions, writes } = await cluster.costs()
      // Being deleted is another generation of each, which is told.
      const told = ['patch ips', 'patch subnets/status', 'patch vpcs/status']
      expect(new Set(writes.filter((write) => !write.endsWith(' events')))).toEqual(new Set(told))
      expect(transactions).toBe(0)
      expect(control.world.networks.scan().map(({ name }) => name)).toEqual([
        'blue',
        'idle',
        'join',
        'ovn-default',
      ])
      const { items } = await cluster.client.list(events)
      const deleted = items.filter(({ reason }) => reason === 'DefinitionDeleted')
      expect(deleted.map(({ involvedObject }) => involvedObject.name).sort()).toEqual([...names].sort())
      await cluster.forgetCosts()
    }
    let rows: unknown
    {
      await using control = await cluster.startController()
      await control.settle()
      const { transactions, writes } = await cluster.costs()
      expect({ transactions, writes: writes.filter((write) => !write.endsWith(' events')) }).toEqual({
        transactions: 0,
        writes: [],
      })
      expect(control.portsOf('Logical_Switch', 'blue')).toContain('a.default')
      expect(await cluster.user.addressOf('a')).toBe(address(dualStack, 2))
      rows = control.rows('Logical_Switch_Port', '_uuid', 'name', 'addresses')
    }
    // The way out: without a controller they are let go, and made again.
    const saved = await all()
    await restore()
    for (const { resource, status: _, metadata, ...rest } of saved) {
      const { name, labels = {}, finalizers = [] } = metadata
      await cluster.client.create(resource, { ...rest, metadata: { name, labels, finalizers } })
    }
    await using control = await cluster.startController()
    await control.settle()
    expect(control.rows('Logical_Switch_Port', '_uuid', 'name', 'addresses')).toEqual(rows)
    expect(control.world.networks.scan().map(({ name }) => name)).toEqual([
      'blue',
      'idle',
      'join',
      'ovn-default',
    ])
    await cluster.removePod('a')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'a.default')).toBeUndefined()
  }, 300_000)
})

describe('an object that is deleted alone', () => {
  it('goes as ever', async () => {
    await using control = await startWithBlue(cluster, dualStack)
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(await cluster.client.get(subnetResource, { name: 'blue' })).toBeUndefined()
    expect(control.named('Logical_Switch', 'blue')).toBeUndefined()
  })
})
