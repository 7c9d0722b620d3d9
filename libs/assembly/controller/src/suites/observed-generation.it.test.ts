import { ipPoolResource, ipResource, subnetResource, vipResource, vpcResource } from '@kube-ovn/kube-api'
import { namespaces } from '@kube-ovn/kube-api/core'
import type { KubeObject, Resource } from '@kube-ovn/kube'
import { ip, ipPool, namespace, vip } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster, createInBlue, dualStack, startWithBlue } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(namespaces, namespace({ name: 'shop' }))
})

interface Told extends KubeObject {
  readonly status?: {
    readonly observedGeneration?: number | undefined
    readonly conditions?:
      | readonly {
          readonly type?: string | undefined
          readonly status?: string | undefined
          readonly observedGeneration?: number | undefined
        }[]
      | undefined
  }
}

/**
 * Whether who waits for an object may go on, as kstatus reads objects of kinds that it does not know.
 *
 * @see https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus
 */
function kstatus({ metadata, status }: Told): string {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  if (status?.observedGeneration !== metadata.generation) return 'InProgress'
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress'
}

async function read({ resource, name }: Named): Promise<Told> {
  const object = await cluster.client.get(resource, { name })
  if (object === undefined) throw new TypeError(`there is no ${resource.kind} ${name}`)
  return object
}

/** Expects that everything in its status is about its present specification. */
async function expectObserved(named: Named, expected = 'Current'): Promise<Told> {
  const object = await read(named)
  const { generation } = object.metadata
  expect(object.status?.observedGeneration).toBe(generation)
  for (const { type, observedGeneration } of object.status?.conditions ?? [])
    expect({ type, observedGeneration }).toEqual({ type, observedGeneration: generation })
  expect(kstatus(object)).toBe(expected)
  return object
}

interface Named {
  readonly resource: Resource
  readonly name: string
}

const subnet: Named = { resource: subnetResource, name: 'blue' }
const pool: Named = { resource: ipPoolResource, name: 'reserve' }
const shared: Named = { resource: vipResource, name: 'shared' }
const record: Named = { resource: ipResource, name: 'a.default' }
const reservation: Named = { resource: ipResource, name: 'db.shop' }
const invalid: Named = { resource: ipResource, name: 'odd' }
const impossible: Named = { resource: ipResource, name: 'late.shop' }
const vpc: Named = { resource: vpcResource, name: 'ovn-cluster' }

/** One object of each kind, and one of each sort of IP objects. */
async function populate(): Promise<Controller> {
  const control = await startWithBlue(cluster, dualStack)
  const { client } = cluster
  await client.create(
    ipPoolResource,
    ipPool({ name: 'reserve', subnet: 'blue', ips: ['10.17.0.200..10.17.0.210'] }),
  )
  await client.create(vipResource, vip({ name: 'shared', subnet: 'blue', namespace: 'shop' }))
  await client.create(ipResource, ip({ name: 'db.shop', podName: 'db', namespace: 'shop', subnet: 'blue' }))
  await client.create(ipResource, ip({ name: 'odd', podName: 'odd', namespace: 'shop', subnet: 'blue' }))
  await client.create(
    ipResource,
    ip({ name: 'late.shop', podName: 'late', namespace: 'shop', subnet: 'missing' }),
  )
  await createInBlue(cluster, control, ['a'])
  await control.settle()
  await cluster.forgetCosts()
  return control
}

/** Of the controller, but for what it tells by events. */
async function writesSoFar(): Promise<readonly string[]> {
  const { writes } = await cluster.costs()
  return writes.filter((write) => !write.endsWith(' events'))
}

const edits: readonly (Named & { readonly edit: object; readonly write: string })[] = [
  { ...subnet, edit: { disableGatewayCheck: true }, write: 'patch subnets/status' },
  { ...pool, edit: { namespaces: ['nobody'] }, write: 'patch ippools/status' },
  { ...vpc, edit: { namespaces: ['nobody'] }, write: 'patch vpcs/status' },
  { ...shared, edit: { selector: ['app:web'] }, write: 'patch vips' },
  { ...record, edit: { containerID: 'x' }, write: 'patch ips' },
  { ...reservation, edit: { containerID: 'x' }, write: 'patch ips' },
  { ...invalid, edit: { containerID: 'x' }, write: 'patch ips' },
  { ...impossible, edit: { containerID: 'x' }, write: 'patch ips' },
]

describe('an edit that changes nothing else', () => {
  it('is told in one write by an object of each kind, and a restart writes nothing', async () => {
    {
      await using control = await populate()
      for (const named of [subnet, pool, vpc, shared, record, reservation, invalid, impossible])
        await expectObserved(named)
      for (const { edit, write, ...named } of edits) {
        const before = await expectObserved(named)
        await cluster.user.edit(named.resource, named.name, edit)
        await control.settle()
        const after = await expectObserved(named)
        expect(after.metadata.generation).toBeGreaterThan(before.metadata.generation ?? 0)
        expect({ ...(await cluster.costs()), writes: await writesSoFar() }).toEqual({
          transactions: 0,
          writes: [write],
        })
        await cluster.forgetCosts()
      }
      // Nobody has edited anything.
      await cluster.client.patch(subnetResource, { name: 'blue' }, 'application/merge-patch+json', {
        metadata: { labels: { team: 'shop' } },
      })
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    }
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  })
})

describe('an edit of a subnet', () => {
  const status = 'patch subnets/status'

  it.each([
    { name: 'that is not in normal form', edit: { excludeIps: [] }, writes: ['patch subnets', status] },
    { name: 'that can not be used', edit: { vlan: 'v10' }, writes: [status], expected: 'InProgress' },
  ])('$name is told in one write', async ({ edit, writes, expected }) => {
    await using control = await startWithBlue(cluster, dualStack)
    await cluster.user.edit(subnetResource, 'blue', edit)
    await control.settle()
    await expectObserved(subnet, expected)
    expect(await writesSoFar()).toEqual(writes)
  })

  it('that changes what is in effect is told by the last of its writes', async () => {
    await using control = await startWithBlue(cluster, dualStack)
    const seen: string[] = []
    const told = (object: Told | undefined) => object !== undefined && kstatus(object) === 'Current'
    control.onNorthboundChange(() => {
      if (told(control.world.subnets.get('blue')))
        seen.push('rows changed after the subnet was told to be current')
    })
    await cluster.user.edit(subnetResource, 'blue', { gateway: '10.17.0.254,fd00:10:17::fe' })
    await control.settle()
    await expectObserved(subnet)
    expect(seen).toEqual([])
    const { writes } = await cluster.costs()
    expect(writes.filter((write) => write !== 'patch subnets/status')).toEqual(['patch subnets'])
  })
})
