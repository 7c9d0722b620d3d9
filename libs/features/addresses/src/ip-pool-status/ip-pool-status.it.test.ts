import { podAnnotations } from '@kube-ovn/annotations'
import { ipPoolResource, ipResource } from '@kube-ovn/kube-api'
import { ipPool } from '@kube-ovn/testing-builders'
import {
  ControlCluster,
  createInBlue,
  dualStack,
  poolUsage,
  span,
  startWithBlue,
  type Controller,
} from '@kube-ovn/testing-control'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const merge = 'application/merge-patch+json'
const fromPool = { [podAnnotations().ipPool.key]: 'some' }
const ref = { name: 'some' }

const statusOf = async () => (await cluster.client.get(ipPoolResource, ref))?.status

/** Of addresses 10 to 19, of which a pod has the first. */
async function startWithPool(): Promise<Controller> {
  const control = await startWithBlue(cluster, dualStack)
  await cluster.client.create(
    ipPoolResource,
    ipPool({ ...ref, subnet: 'blue', ips: span(dualStack, 10, 19) }),
  )
  await control.settle()
  expect(await statusOf()).toMatchObject(poolUsage(dualStack, { available: [[10, 19]], using: [] }))
  await createInBlue(cluster, control, ['a'], fromPool)
  await cluster.forgetCosts()
  return control
}

it('counts who comes and who goes, and what belongs to it', async () => {
  await using control = await startWithPool()
  expect(await statusOf()).toMatchObject(poolUsage(dualStack, { available: [[11, 19]], using: [10] }))
  // Whoever takes an address of the rest of the subnet counts elsewhere.
  await createInBlue(cluster, control, ['other'])
  expect((await cluster.costs()).writes).not.toContain('patch ippools/status')
  await cluster.user.edit(ipPoolResource, 'some', { ips: span(dualStack, 10, 14) })
  await control.settle()
  expect(await statusOf()).toMatchObject(poolUsage(dualStack, { available: [[11, 14]], using: [10] }))
  await cluster.removePod('a')
  await control.settle()
  expect(await statusOf()).toMatchObject(poolUsage(dualStack, { available: [[10, 14]], using: [] }))
  await cluster.client.remove(ipPoolResource, ref)
  await control.settle()
  expect(await statusOf()).toBeUndefined()
})

it('is put right by one write, and is none of anybody’s business who changes something else', async () => {
  await using control = await startWithPool()
  const before = await statusOf()
  const status = { v4UsingIPs: 99, v6AvailableIPRange: 'nonsense' }
  await cluster.client.patch(ipPoolResource, ref, merge, { status }, { subresource: 'status' })
  await control.settle()
  expect(await statusOf()).toEqual(before)
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: ['patch ippools/status'] })

  await cluster.forgetCosts()
  const metadata = { annotations: { note: 'x' } }
  await cluster.client.patch(ipPoolResource, ref, merge, { metadata })
  await cluster.client.patch(ipResource, { name: 'a.default' }, merge, { metadata })
  await control.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
})

it('is the same after a restart, and knows who went meanwhile', async () => {
  await (await startWithPool())[Symbol.asyncDispose]()
  {
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  }
  await cluster.removePod('a')
  await using control = await cluster.startController()
  await control.settle()
  expect(await statusOf()).toMatchObject({ v4UsingIPs: 0, v4AvailableIPs: 10, v6AvailableIPs: 10 })
})
