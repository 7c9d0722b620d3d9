import { podAnnotations } from '@kube-ovn/annotations'
import { ipPoolResource, ipResource, subnetResource, vipResource } from '@kube-ovn/kube-api'
import { namespaces } from '@kube-ovn/kube-api/core'
import { ip, ipPool, namespace, subnet, vip } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  address,
  addresses,
  ControlCluster,
  dualStack,
  elsewhere,
  span,
  type Stack,
  stacks,
} from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()
const mac = '00:00:5e:00:53:07'

/** What somebody gets wrong, who is told, and which names are in what he is told. */
interface Mistake {
  readonly name: string
  readonly make: () => Promise<unknown>
  /** Name of the object that the event is about. */
  readonly about: string
  readonly names: readonly string[]
}

/** A controller, a subnet of a namespace with an IPPool of one address, a pod that has this and one with another. */
async function startWithShop(stack: Stack): Promise<Controller> {
  const { client, user } = cluster
  await client.create(subnetResource, subnet({ name: 'blue', cidrBlock: stack.cidr, namespaces: ['shop'] }))
  await client.create(namespaces, namespace({ name: 'shop' }))
  await client.create(ipPoolResource, ipPool({ name: 'few', subnet: 'blue', ips: addresses(stack, 64) }))
  const control = await cluster.startController()
  await control.settle()
  const good = { [keys.ipAddress.key]: address(stack, 7), [keys.macAddress.key]: mac }
  await user.createPod({ name: 'good', namespace: 'shop', annotations: good })
  await user.createPod({ name: 'taker', namespace: 'shop', annotations: { [keys.ipPool.key]: 'few' } })
  await control.settle()
  return control
}

async function makeSubnet(spec: object): Promise<unknown> {
  return cluster.client.create(subnetResource, subnet({ name: 'bad', cidrBlock: '10.30.0.0/24', ...spec }))
}

async function makePool(fields: {
  readonly subnet?: string
  readonly ips: readonly string[]
}): Promise<unknown> {
  return cluster.client.create(ipPoolResource, ipPool({ name: 'bad', subnet: 'blue', ...fields }))
}

async function makePod(annotations: Readonly<Record<string, string>>): Promise<unknown> {
  const inBlue = { [keys.logicalSwitch.key]: 'blue' }
  return cluster.user.createPod({ name: 'bad', annotations: { ...inBlue, ...annotations } })
}

async function makeVip(fields: object): Promise<unknown> {
  return cluster.client.create(vipResource, vip({ name: 'bad', subnet: 'blue', ...fields }))
}

async function makeIp(fields: object): Promise<unknown> {
  const base = { name: 'bad.shop', podName: 'bad', namespace: 'shop', subnet: 'blue' }
  return cluster.client.create(ipResource, ip({ ...base, ...fields }))
}

/** Addresses in the words of a specification that has a field for each family. */
function byFamily(stack: Stack, host: number, v4: string, v6: string): Readonly<Record<string, string>> {
  const fields = [stack.v4 && v4, stack.v6 && v6].filter((field) => field !== undefined)
  return Object.fromEntries(fields.map((field, index) => [field, addresses(stack, host)[index] ?? '']))
}

/** Mistakes about addresses. */
function mistakesIn(stack: Stack): readonly Mistake[] {
  const other = elsewhere(stack)
  const { cidr: cidrBlock } = other
  return [
    {
      name: 'a gateway outside its subnet',
      make: () => makeSubnet({ cidrBlock, gateway: address(stack, 1) }),
      about: 'bad',
      names: ['spec.gateway', addresses(stack, 1)[0] ?? '', `inside ${cidrBlock.split(',')[0]}`],
    },
    {
      name: 'excluded addresses outside their subnet',
      make: () => makeSubnet({ cidrBlock, excludeIps: [...addresses(stack, 7), ...span(stack, 10, 19)] }),
      about: 'bad',
      names: [
        'spec.excludeIps',
        ...addresses(stack, 7),
        ...span(stack, 10, 19),
        'choose addresses of the subnet',
      ],
    },
    {
      name: 'a subnet that overlaps another one',
      make: () => makeSubnet({ cidrBlock: stack.cidr.replace('/24', '/25').replace('/120', '/121') }),
      about: 'bad',
      names: ['spec.cidrBlock', 'subnet blue'],
    },
    {
      name: 'a pool outside its subnet',
      make: () => makePool({ ips: span(other, 1, 5) }),
      about: 'bad',
      names: [span(other, 1, 5)[0] ?? '', `choose addresses of ${stack.cidr}`],
    },
    {
      name: 'a pool that overlaps another one',
      make: () => makePool({ ips: span(stack, 60, 70) }),
      about: 'bad',
      names: ['conflict IPs with ippool few', addresses(stack, 64)[0] ?? '', 'remove the addresses'],
    },
    {
      name: 'an address that a pod has',
      make: () => makePod({ [keys.ipAddress.key]: address(stack, 7) }),
      about: 'bad',
      names: [keys.ipAddress.key, addresses(stack, 7)[0] ?? '', 'shop/good', 'choose'],
    },
    {
      name: 'an address that nobody may have',
      make: () => makePod({ [keys.ipAddress.key]: address(stack, 1) }),
      about: 'bad',
      names: ['AddressConflict', keys.ipAddress.key, addresses(stack, 1)[0] ?? '', 'gateway'],
    },
    {
      name: 'an address outside the subnet',
      make: () => makePod({ [keys.ipAddress.key]: address(other, 9) }),
      about: 'bad',
      names: ['AddressOutOfRange', keys.ipAddress.key, addresses(other, 9)[0] ?? '', 'blue'],
    },
    {
      name: 'a MAC address that a pod has',
      make: () => makePod({ [keys.macAddress.key]: mac.toUpperCase() }),
      about: 'bad',
      names: [keys.macAddress.key, mac, 'shop/good'],
    },
    {
      name: 'a pool that is exhausted',
      make: () => makePod({ [keys.ipPool.key]: 'few' }),
      about: 'bad',
      names: ['NoAvailableAddress', 'pool=few', 'subnet=blue'],
    },
    {
      name: 'a Vip whose address a pod has',
      make: () => makeVip(byFamily(stack, 7, 'v4ip', 'v6ip')),
      about: 'bad',
      names: [addresses(stack, 7)[0] ?? '', 'shop/good'],
    },
    {
      name: 'a reservation of an address that a pod has',
      make: () => makeIp(byFamily(stack, 7, 'v4IpAddress', 'v6IpAddress')),
      about: 'bad.shop',
      names: [addresses(stack, 7)[0] ?? '', 'shop/good'],
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
      names: [`shop/taker(${address(stack, 64)})`],
    },
  ]
}

/** Mistakes about names. */
const misnomers: readonly Mistake[] = [
  {
    name: 'a pool of an unknown subnet',
    make: () => makePool({ subnet: 'nowhere', ips: ['10.17.0.9'] }),
    about: 'bad',
    names: ['nowhere', 'create the subnet'],
  },
  {
    name: 'an unknown subnet',
    make: () => makePod({ [keys.logicalSwitch.key]: 'nowhere' }),
    about: 'bad',
    names: [keys.logicalSwitch.key, 'nowhere', 'create the subnet'],
  },
  {
    name: 'an unknown pool',
    make: () => makePod({ [keys.ipPool.key]: 'none' }),
    about: 'bad',
    names: [keys.ipPool.key, 'none', 'create the IPPool'],
  },
  {
    name: 'a Vip of an unknown subnet',
    make: () => makeVip({ subnet: 'nowhere' }),
    about: 'bad',
    names: ['spec.subnet', 'nowhere', 'create the Subnet'],
  },
  {
    name: 'a reservation of an unknown subnet',
    make: () => makeIp({ subnet: 'nowhere' }),
    about: 'bad.shop',
    names: ['nowhere'],
  },
  {
    name: 'a namespace bound to a second subnet',
    make: () => makeSubnet({ namespaces: ['shop'] }),
    about: 'bad',
    names: ['namespace shop', 'bad, blue', 'leave the namespace out of spec.namespaces'],
  },
]

const cases = [
  ...stacks.flatMap((stack) =>
    mistakesIn(stack).map((mistake) => ({ ...mistake, stack, where: stack.stack })),
  ),
  ...misnomers.map((mistake) => ({ ...mistake, stack: dualStack, where: 'any family' })),
]

it.each(cases)(
  '$name is told in $where, with what is wrong and what to do, and disturbs nobody else',
  async ({ stack, make, about, names }) => {
    await using control = await startWithShop(stack)
    const ports = () => control.rows('Logical_Switch_Port', 'name', 'addresses', 'external_ids')
    const before = ports()
    await make()
    await control.settle()
    const told = await cluster.user.told(about)
    expect(told).toHaveLength(1)
    for (const name of names) expect(told[0]).toContain(name)
    expect(ports()).toEqual(expect.arrayContaining([...before]))
    await cluster.user.createPod({ name: 'next' })
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'next.default')).toBeDefined()
  },
)

describe('text that can mean nothing', () => {
  it.each([
    { cidrBlock: 'ten' },
    { cidrBlock: '10.30.0.0/33' },
    { cidrBlock: 'fd00:30::/129' },
    { cidrBlock: '10.30.0.0/33,fd00:30::/120' },
    { cidrBlock: '10.30.0.0/24,fd00:30::/129' },
    { cidrBlock: '10.30.0.0/24', gateway: '10.30.0.300' },
    { cidrBlock: 'fd00:30::/120', gateway: 'fd00:30::g' },
    { cidrBlock: '10.30.0.0/24,fd00:30::/120', gateway: '10.30.0.1,fd00:30::g' },
  ])('is refused by the API server: %j', async (spec) => {
    const refusal = { details: { answer: expect.stringMatching(/spec\.(cidrBlock|gateway)/) } }
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: dualStack.cidr }))
    await expect(makeSubnet(spec)).rejects.toMatchObject(refusal)
    await expect(cluster.user.edit(subnetResource, 'blue', spec)).rejects.toMatchObject(refusal)
  })
})
