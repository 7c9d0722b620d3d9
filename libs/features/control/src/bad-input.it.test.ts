import { podAnnotations } from '@kube-ovn/annotations'
import { ipPoolResource, ipResource, subnetResource, vipResource } from '@kube-ovn/kube-api'
import { events, namespaces, nodes, pods } from '@kube-ovn/kube-api/core'
import { ip, ipPool, namespace, node, pod, subnet, vip } from '@kube-ovn/testing-builders'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from './testing/control-cluster.ts'
import type { Controller } from './testing/controller.ts'

let cluster: ControlCluster
beforeAll(async () => {
  cluster = await ControlCluster.start()
})
afterAll(() => cluster[Symbol.asyncDispose]())
beforeEach(async () => {
  await cluster.reset()
  const { client } = cluster
  await client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11', 'fd00:18::11'] }))
  await client.create(subnetResource, subnet({ name: 'blue', cidrBlock: blueCidrs, namespaces: ['shop'] }))
  await client.create(namespaces, namespace({ name: 'shop' }))
  await client.create(
    ipPoolResource,
    ipPool({ name: 'few', subnet: 'blue', ips: ['10.17.0.64', 'fd00:17::64'] }),
  )
})

const keys = podAnnotations()
const merge = 'application/merge-patch+json'
const blueCidrs = '10.17.0.0/24,fd00:17::/120'
const mac = '00:00:5e:00:53:07'

/** What somebody gets wrong, who is told, and which names are in what he is told. */
interface Mistake {
  readonly name: string
  readonly make: () => Promise<unknown>
  /** Name of the object that the event is about. */
  readonly about: string
  readonly names: readonly string[]
}

function badSubnet(name: string, spec: object): () => Promise<unknown> {
  return () =>
    cluster.client.create(subnetResource, { ...subnet({ name, cidrBlock: '10.30.0.0/24', ...spec }) })
}

function badPool(ips: readonly string[]): () => Promise<unknown> {
  return () => cluster.client.create(ipPoolResource, ipPool({ name: 'bad', subnet: 'blue', ips }))
}

function badPod(annotations: Readonly<Record<string, string>>): () => Promise<unknown> {
  const asked = { [keys.logicalSwitch.key]: 'blue', ...annotations }
  return () => cluster.client.create(pods, pod({ name: 'bad', node: 'n1', annotations: asked }))
}

function badVip(fields: object): () => Promise<unknown> {
  return () => cluster.client.create(vipResource, vip({ name: 'bad', subnet: 'blue', ...fields }))
}

function badIp(fields: object): () => Promise<unknown> {
  const base = { name: 'bad.shop', podName: 'bad', namespace: 'shop', subnet: 'blue' }
  return () => cluster.client.create(ipResource, ip({ ...base, ...fields }))
}

const mistakes: readonly Mistake[] = [
  {
    name: 'a gateway outside its subnet',
    make: badSubnet('bad', { gateway: '10.31.0.1' }),
    about: 'bad',
    names: ['spec.gateway', '10.31.0.1', 'inside 10.30.0.0/24'],
  },
  {
    name: 'excluded addresses outside their subnet',
    make: badSubnet('bad', { excludeIps: ['10.31.0.7'] }),
    about: 'bad',
    names: ['spec.excludeIps', '10.31.0.7', 'choose addresses of the subnet'],
  },
  {
    name: 'a subnet that overlaps another one',
    make: badSubnet('bad', { cidrBlock: '10.17.0.128/25' }),
    about: 'bad',
    names: ['spec.cidrBlock', '10.17.0.128/25', 'subnet blue'],
  },
  {
    name: 'a pool outside its subnet',
    make: badPool(['10.99.0.1..10.99.0.5']),
    about: 'bad',
    names: ['10.99.0.1..10.99.0.5', 'choose addresses of 10.17.0.0/24,fd00:17::/120'],
  },
  {
    name: 'a pool that overlaps another one',
    make: badPool(['10.17.0.60..10.17.0.70']),
    about: 'bad',
    names: ['conflict IPs with ippool few', '10.17.0.64', 'remove the addresses'],
  },
  {
    name: 'a pool of an unknown subnet',
    make: () =>
      cluster.client.create(ipPoolResource, ipPool({ name: 'bad', subnet: 'nowhere', ips: ['10.17.0.9'] })),
    about: 'bad',
    names: ['nowhere', 'create the subnet'],
  },
  {
    name: 'an address that a pod has',
    make: badPod({ [keys.ipAddress.key]: '10.17.0.7,fd00:17::9' }),
    about: 'bad',
    names: [keys.ipAddress.key, '10.17.0.7', 'shop/good', 'choose'],
  },
  {
    name: 'an address that nobody may have',
    make: badPod({ [keys.ipAddress.key]: '10.17.0.1' }),
    about: 'bad',
    names: ['AddressConflict', keys.ipAddress.key, '10.17.0.1', 'gateway'],
  },
  {
    name: 'an address outside the subnet',
    make: badPod({ [keys.ipAddress.key]: 'fd00:99::1' }),
    about: 'bad',
    names: ['AddressOutOfRange', keys.ipAddress.key, 'fd00:99::1', 'blue'],
  },
  {
    name: 'a MAC address that a pod has',
    make: badPod({ [keys.macAddress.key]: mac.toUpperCase() }),
    about: 'bad',
    names: [keys.macAddress.key, mac, 'shop/good'],
  },
  {
    name: 'a pool that is exhausted',
    make: badPod({ [keys.ipPool.key]: 'few' }),
    about: 'bad',
    names: ['NoAvailableAddress', 'pool=few', 'subnet=blue'],
  },
  {
    name: 'an unknown subnet',
    make: badPod({ [keys.logicalSwitch.key]: 'nowhere' }),
    about: 'bad',
    names: [keys.logicalSwitch.key, 'nowhere', 'create the subnet'],
  },
  {
    name: 'an unknown pool',
    make: badPod({ [keys.ipPool.key]: 'none' }),
    about: 'bad',
    names: [keys.ipPool.key, 'none', 'create the IPPool'],
  },
  {
    name: 'a Vip whose address a pod has',
    make: badVip({ v6ip: 'fd00:17::7' }),
    about: 'bad',
    names: ['fd00:17::7', 'shop/good'],
  },
  {
    name: 'a Vip of an unknown subnet',
    make: badVip({ subnet: 'nowhere' }),
    about: 'bad',
    names: ['spec.subnet', 'nowhere', 'create the Subnet'],
  },
  {
    name: 'a reservation of an address that a pod has',
    make: badIp({ v4IpAddress: '10.17.0.7' }),
    about: 'bad.shop',
    names: ['10.17.0.7', 'shop/good'],
  },
  {
    name: 'a reservation of an unknown subnet',
    make: badIp({ subnet: 'nowhere' }),
    about: 'bad.shop',
    names: ['nowhere'],
  },
  {
    name: 'a namespace bound to a second subnet',
    make: badSubnet('bad', { namespaces: ['shop'] }),
    about: 'bad',
    names: ['namespace shop', 'bad, blue', 'leave the namespace out of spec.namespaces'],
  },
  {
    name: 'a subnet deleted while somebody has an address',
    make: () => cluster.client.remove(subnetResource, { name: 'blue' }),
    about: 'blue',
    names: ['shop/good', 'delete these first'],
  },
  {
    name: 'a pool deleted while somebody has an address',
    make: () => cluster.client.remove(ipPoolResource, { name: 'few' }),
    about: 'few',
    names: ['shop/taker'],
  },
]

async function start(): Promise<Controller> {
  const control = await cluster.startController()
  await control.settle()
  const good = { [keys.ipAddress.key]: '10.17.0.7,fd00:17::7', [keys.macAddress.key]: mac }
  await cluster.client.create(pods, pod({ name: 'good', namespace: 'shop', node: 'n1', annotations: good }))
  const taker = { [keys.ipPool.key]: 'few' }
  await cluster.client.create(pods, pod({ name: 'taker', namespace: 'shop', node: 'n1', annotations: taker }))
  await control.settle()
  return control
}

async function warnings(about: string): Promise<readonly string[]> {
  const { items } = await cluster.client.list(events)
  return items
    .filter(({ involvedObject, type }) => involvedObject.name === about && type === 'Warning')
    .map(({ reason = '', message = '' }) => `${reason}: ${message}`)
}

describe('a mistake is told, with what is wrong and what to do, and disturbs nobody else', () => {
  it.each(mistakes)('$name', async ({ make, about, names }) => {
    await using control = await start()
    const rows = control.rows('Logical_Switch_Port', 'name', 'addresses', 'external_ids')
    await make()
    await control.settle()
    const told = await warnings(about)
    expect(told).toHaveLength(1)
    for (const name of names) expect(told[0]).toContain(name)
    expect(control.rows('Logical_Switch_Port', 'name', 'addresses', 'external_ids')).toEqual(
      expect.arrayContaining([...rows]),
    )
    await cluster.client.create(pods, pod({ name: 'next', node: 'n1' }))
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'next.default')).toBeDefined()
  })

  it.each([
    { cidrBlock: '10.30.0.0/33' },
    { cidrBlock: 'ten' },
    { cidrBlock: '10.30.0.0/24', gateway: '10.30.0.300' },
  ])('text that can mean nothing is refused by the API server: %j', async (spec) => {
    await expect(badSubnet('bad', spec)()).rejects.toMatchObject({
      details: { answer: expect.stringMatching(/spec\.(cidrBlock|gateway)/) },
    })
    await expect(
      cluster.client.patch(subnetResource, { name: 'blue' }, merge, { spec }),
    ).rejects.toMatchObject({ details: { answer: expect.stringMatching(/spec\.(cidrBlock|gateway)/) } })
  })
})
