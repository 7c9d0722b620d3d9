import { podAnnotations } from '@kube-ovn/annotations'
import { subnetResource } from '@kube-ovn/kube-api'
import { namespaces } from '@kube-ovn/kube-api/core'
import { namespace, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'
import { hostileSize, usedBytes } from '@kube-ovn/domains-control/testing/cost'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const { ipPool } = podAnnotations()

/** As much as the API server takes beside what else is written on a pod. */
const room = 250 * 1024

function inTotal(item: (index: number) => string, separator = ','): string {
  const items: string[] = []
  for (let size = 0, index = 0; size < room - 80; index++) {
    items.push(item(index))
    size += (items.at(-1) ?? '').length + separator.length
  }
  return items.join(separator)
}

const ranges = inTotal((index) => {
  const network = `10.${17 + (index >>> 8)}.${index & 255}`
  return `${network}.0..${network}.255`
})

/** The last of them is free. */
const entries = Array.from({ length: 1024 }, (_, index) =>
  `10.17.${4 + (index >>> 8)}.${index & 255},fd00:17::${(1024 + index).toString(16)}`.padEnd(room / 1024 - 1),
).join(';')

async function startWithShop(): Promise<Controller> {
  const blue = subnet({ name: 'blue', cidrBlock: '10.17.0.0/16,fd00:17::/64', namespaces: ['shop'] })
  await cluster.client.create(subnetResource, blue)
  await cluster.client.create(namespaces, namespace({ name: 'shop' }))
  const control = await cluster.startController()
  await control.settle()
  return control
}

async function createPod(name: string, pool?: string): Promise<void> {
  const annotations = pool === undefined ? {} : { [ipPool.key]: pool }
  await cluster.user.createPod({ name, namespace: 'shop', annotations })
}

/** How much of a core is used until all is settled, in milliseconds: what others do on the machine does not count. */
async function workOf(control: Controller, act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await act()
  await control.settle()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

it('a list of ranges that is far too long is refused, and others get their addresses', async () => {
  await using control = await startWithShop()
  const plain = await workOf(control, () => createPod('plain'))
  const hostile = await workOf(control, () => Promise.all([createPod('bad', ranges), createPod('next')]))
  const told = await cluster.user.told('bad')
  expect(told).toHaveLength(1)
  for (const part of [ipPool.key, '10.17.0.0..10.17.0.255', 'characters)', 'or make an IPPool'])
    expect(told[0]).toContain(part)
  expect(await cluster.user.addressOf('next', 'shop')).not.toBe('')
  // Both pods, and a text of 250 KB that is sent, watched and looked at.
  expect(hostile).toBeLessThan(20 * plain)
})

it('a list of as many entries as may be is served like any other', async () => {
  await using control = await startWithShop()
  await Promise.all([createPod('long', entries), createPod('next')])
  await control.settle()
  expect(await cluster.user.addressOf('long', 'shop')).toBe('10.17.4.0,fd00:17::400')
  expect(await cluster.user.addressOf('next', 'shop')).not.toBe('')
})

it('a Subnet with 20,000 excluded ranges is refused, and one with as many as may be comes up', async () => {
  await using control = await startWithShop()
  const excluded = (count: number, prefix: string) =>
    Array.from(
      { length: count },
      (_, index) => `${prefix}${index.toString(16)}:0..${prefix}${index.toString(16)}:9`,
    )
  const bad = subnet({ name: 'bad', cidrBlock: 'fd00:30::/64', excludeIps: excluded(20_000, 'fd00:30::') })
  const most = subnet({
    name: 'most',
    cidrBlock: 'fd00:31::/64',
    excludeIps: excluded(1000, 'fd00:31::'),
    namespaces: ['shop'],
  })
  await cluster.client.create(subnetResource, bad)
  await cluster.client.create(subnetResource, most)
  await createPod('next')
  await control.settle()
  const told = await cluster.user.told('bad')
  expect(told).toHaveLength(1)
  for (const part of ['spec.excludeIps', '20000 entries', 'write neighbours as one range'])
    expect(told[0]).toContain(part)
  expect(control.named('Logical_Switch', 'bad')).toBeUndefined()
  expect(control.named('Logical_Switch', 'most')).toBeDefined()
  expect(await cluster.user.addressOf('next', 'shop')).not.toBe('')
})

it('edits of one pod leave nothing behind', async () => {
  await using control = await startWithShop()
  await createPod('busy')
  await control.settle()
  let round = 0
  const edit = async (): Promise<void> => {
    const names = Array.from({ length: 2000 }, (_, index) => `net${index}.shop-${round}.ovn.kubernetes.io`)
    const keys = names.flatMap((name) => [`${name}/allocated`, `${name}/cidr`])
    await cluster.user.annotate(
      { name: 'busy', namespace: 'shop' },
      Object.fromEntries(keys.map((key) => [key, 'true'])),
    )
    // They look like what was given to the pod before, so that they are taken away.
    await control.settle()
    round++
  }
  for (let times = 0; times < 3; times++) await edit()
  const before = usedBytes()
  for (let times = 0; times < 10; times++) await edit()
  expect(usedBytes() - before).toBeLessThan(8 * hostileSize)
})
