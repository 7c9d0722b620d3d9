import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import {
  addresses,
  ControlCluster,
  createInBlue,
  dualStack,
  readBlue,
  span,
  startWithBlue,
  subnetUsage,
} from '@kube-ovn/testing-control'
import { beforeEach, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const merge = 'application/merge-patch+json'
const statusOf = async () => (await readBlue(cluster))?.status

it('counts who comes and who goes, and what may be handed out', async () => {
  await using control = await startWithBlue(cluster, dualStack)
  expect(await statusOf()).toMatchObject(subnetUsage(dualStack, { available: [[2, 254]], using: [] }))
  await createInBlue(cluster, control, ['a', 'b'])
  expect(await statusOf()).toMatchObject(subnetUsage(dualStack, { available: [[4, 254]], using: [[2, 3]] }))
  const excludeIps = [...addresses(dualStack, 1), ...span(dualStack, 100, 254)]
  await cluster.user.edit(subnetResource, 'blue', { excludeIps })
  await control.settle()
  expect(await statusOf()).toMatchObject(subnetUsage(dualStack, { available: [[4, 99]], using: [[2, 3]] }))
  await cluster.removePod('a')
  await control.settle()
  expect(await statusOf()).toMatchObject(subnetUsage(dualStack, { available: [2, [4, 99]], using: [3] }))
  await cluster.removePod('b')
  await cluster.client.remove(subnetResource, { name: 'blue' })
  await control.settle()
  expect(await statusOf()).toBeUndefined()
})

it('is put right by one write, and is none of anybody’s business who changes something else', async () => {
  await using control = await startWithBlue(cluster, dualStack)
  await createInBlue(cluster, control, ['a'])
  const before = await statusOf()
  await cluster.forgetCosts()
  const status = { v4usingIPs: 99, v6availableIPrange: 'nonsense' }
  await cluster.client.patch(subnetResource, { name: 'blue' }, merge, { status }, { subresource: 'status' })
  await control.settle()
  expect(await statusOf()).toEqual(before)
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: ['patch subnets/status'] })

  await cluster.forgetCosts()
  const metadata = { annotations: { note: 'x' } }
  await cluster.client.patch(subnetResource, { name: 'blue' }, merge, { metadata })
  await cluster.client.patch(ipResource, { name: 'a.default' }, merge, { metadata })
  await control.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
})

it('is the same after a restart, and knows who went meanwhile', async () => {
  {
    await using control = await startWithBlue(cluster, dualStack)
    await createInBlue(cluster, control, ['a', 'b'])
  }
  await cluster.forgetCosts()
  {
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  }
  await cluster.removePod('a')
  await using control = await cluster.startController()
  await control.settle()
  expect(await statusOf()).toMatchObject({ v4usingIPs: 1, v6usingIPs: 1, v4availableIPs: 252 })
})
