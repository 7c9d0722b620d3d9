import { podAnnotations } from '@kube-ovn/annotations'
import { events, nodes, pods } from '@kube-ovn/kube-api/core'
import { ipPoolResource, ipResource, subnetResource } from '@kube-ovn/kube-api'
import type { Subnet } from '@kube-ovn/kube-api'
import { ipPool, node, pod, subnet } from '@kube-ovn/testing-builders'
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
  await cluster.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11', 'fd00:18::11'] }))
})

const keys = podAnnotations()
const inBlue = { [keys.logicalSwitch.key]: 'blue' }

/** What the suites of the original check, for each stack: the host part of an address is what the cases are about. */
const stacks = [
  { stack: 'IPv4', cidr: '10.17.0.0/24', v4: '10.17.0.', v6: undefined },
  { stack: 'IPv6', cidr: 'fd00:10:17::/120', v4: undefined, v6: 'fd00:10:17::' },
  { stack: 'Dual', cidr: '10.17.0.0/24,fd00:10:17::/120', v4: '10.17.0.', v6: 'fd00:10:17::' },
]

type Stack = (typeof stacks)[number]

const dual: Stack = {
  stack: 'Dual',
  cidr: '10.17.0.0/24,fd00:10:17::/120',
  v4: '10.17.0.',
  v6: 'fd00:10:17::',
}

/** The host number in each family, as `v4,v6`. */
function address({ v4, v6 }: Stack, host: number): string {
  return [v4 && `${v4}${host}`, v6 && `${v6}${host.toString(16)}`].filter((text) => text).join()
}

/** From the first host to the last, as statuses print it. */
function ranges({ v4, v6 }: Stack, first: number, last: number): Readonly<Record<'v4' | 'v6', string>> {
  return {
    v4: v4 === undefined ? '' : `${v4}${first}-${v4}${last}`,
    v6: v6 === undefined ? '' : `${v6}${first.toString(16)}-${v6}${last.toString(16)}`,
  }
}

async function startWithBlue(stack: Stack, excludeIps: readonly string[] = []): Promise<Controller> {
  const control = await cluster.startController()
  await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: stack.cidr, excludeIps }))
  await control.settle()
  return control
}

async function blue(): Promise<Subnet | undefined> {
  return cluster.client.get(subnetResource, { name: 'blue' })
}

async function createPods(
  control: Controller,
  names: readonly string[],
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (const name of names) {
    await cluster.client.create(pods, pod({ name, node: 'n1', annotations: { ...inBlue, ...annotations } }))
    await control.settle()
  }
}

async function addressOf(name: string): Promise<string | undefined> {
  const object = await cluster.client.get(pods, { namespace: 'default', name })
  return object?.metadata.annotations?.[keys.ipAddress.key]
}

async function warnings(about: string): Promise<readonly string[]> {
  const { items } = await cluster.client.list(events)
  return items.filter((event) => event.involvedObject.name === about).map(({ message = '' }) => message)
}

describe.each(stacks)('$stack', (stack) => {
  const { v4, v6 } = stack
  const count = (value: number, family: string | undefined) => (family === undefined ? 0 : value)

  it('of a prefix alone gives the first address to the gateway and counts the others', async () => {
    await using _control = await startWithBlue(stack)
    const { metadata, spec, status } = (await blue()) ?? {}
    expect(metadata?.finalizers).toEqual(['kubeovn.io/kube-ovn-controller'])
    expect(spec).toMatchObject({
      protocol: stack.stack,
      gateway: address(stack, 1),
      excludeIps: address(stack, 1).split(','),
      gatewayType: 'distributed',
      natOutgoing: false,
      private: false,
      default: false,
    })
    const all = ranges(stack, 2, 254)
    expect(status).toMatchObject({
      v4availableIPs: count(253, v4),
      v6availableIPs: count(253, v6),
      v4usingIPs: 0,
      v6usingIPs: 0,
      v4availableIPrange: all.v4,
      v6availableIPrange: all.v6,
      v4usingIPrange: '',
      v6usingIPrange: '',
    })
  })

  it('leaves out what is excluded, but for whom asks for it', async () => {
    const excludeIps = address(stack, 2).split(',')
    await using control = await startWithBlue(stack, excludeIps)
    expect((await blue())?.status).toMatchObject({
      v4availableIPs: count(252, v4),
      v6availableIPs: count(252, v6),
    })
    await createPods(control, ['a'])
    await createPods(control, ['b'], { [keys.ipAddress.key]: address(stack, 2) })
    expect([await addressOf('a'), await addressOf('b')]).toEqual([address(stack, 3), address(stack, 2)])
    expect((await blue())?.status).toMatchObject({
      v4usingIPs: count(1, v4),
      v6usingIPs: count(1, v6),
      v4usingIPrange: v4 === undefined ? '' : `${v4}3`,
      v6usingIPrange: v6 === undefined ? '' : `${v6}3`,
    })
  })

  it('advances upwards, and hands out again last what was given back', async () => {
    await using control = await startWithBlue(stack)
    const five = ['a', 'b', 'c', 'd', 'e']
    await createPods(control, five)
    const lowest = ranges(stack, 2, 6)
    expect((await blue())?.status).toMatchObject({ v4usingIPrange: lowest.v4, v6usingIPrange: lowest.v6 })
    for (const name of five) await cluster.removePod(name)
    await control.settle()
    const all = ranges(stack, 2, 254)
    expect((await blue())?.status).toMatchObject({
      v4usingIPrange: '',
      v6usingIPrange: '',
      v4availableIPrange: all.v4,
      v6availableIPrange: all.v6,
    })
    await createPods(control, five)
    const next = ranges(stack, 7, 11)
    expect((await blue())?.status).toMatchObject({ v4usingIPrange: next.v4, v6usingIPrange: next.v6 })
  })

  it('gives an address and a MAC address that are asked for', async () => {
    await using control = await startWithBlue(stack)
    const mac = '00:00:5e:00:53:77'
    await createPods(control, ['fixed'], {
      [keys.ipAddress.key]: address(stack, 77),
      [keys.macAddress.key]: mac,
    })
    expect(control.named('Logical_Switch_Port', 'fixed.default')?.addresses).toEqual([
      `${mac} ${address(stack, 77).replace(',', ' ')}`,
    ])
    await createPods(control, ['twin'], { [keys.macAddress.key]: mac.toUpperCase() })
    expect(await warnings('twin')).toEqual([
      expect.stringMatching(/AddressConflict: the MAC .*mac=00:00:5e:00:53:77 holders=pod\/default\/fixed/),
    ])
    await createPods(control, ['rival'], { [keys.ipAddress.key]: address(stack, 77) })
    expect(await warnings('rival')).toEqual([
      expect.stringMatching(/AddressConflict: the address is held .*holders=pod\/default\/fixed/),
    ])
  })

  it.each([
    ['ip_address', keys.ipAddress.key],
    ['ip_pool', keys.ipPool.key],
  ])('never gives the gateway, asked for by %s', async (_name, key) => {
    await using control = await startWithBlue(stack)
    await createPods(control, ['greedy'], { [key]: address(stack, 1) })
    expect(await warnings('greedy')).toEqual([expect.stringContaining('AddressConflict')])
    expect(await cluster.client.get(ipResource, { name: 'greedy.default' })).toBeUndefined()
  })

  it("never gives the router port's MAC address", async () => {
    await using control = await startWithBlue(stack)
    const mac = control.named('Logical_Router_Port', 'ovn-cluster-blue')?.mac ?? ''
    await createPods(control, ['greedy'], { [keys.macAddress.key]: mac })
    expect(await warnings('greedy')).toEqual([expect.stringContaining('AddressConflict')])
  })

  it('are not those of a node, which may come later; whoever has one by then keeps it, and both are named', async () => {
    await using control = await startWithBlue(stack)
    await createPods(control, ['first'])
    const own = (host: number): string[] => address(stack, host).split(',')
    await cluster.client.create(nodes, node({ name: 'n2', addresses: [...own(2), ...own(3)] }))
    await control.settle()
    await createPods(control, ['second'])
    expect(await addressOf('first')).toBe(address(stack, 2))
    expect(await addressOf('second')).toBe(address(stack, 4))
    expect(await warnings('n2')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^address \S+ of node n2 lies in subnet blue and is held by pod\/default\/first, which keeps it: give/,
        ),
      ]),
    )
    const conditions = (await blue())?.status?.conditions
    expect(conditions?.find(({ type }) => type === 'Validated')?.message).toContain('of node n2')
    await createPods(control, ['asks'], { [keys.ipAddress.key]: own(3)[0] ?? '' })
    expect(await addressOf('asks')).toContain(own(3)[0])
    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
  })

  it('says which addresses ran out', async () => {
    await using control = await cluster.startController()
    const cidrBlock = stack.cidr.replace('/24', '/30').replace('/120', '/126')
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock }))
    await createPods(control, ['a', 'late'])
    expect(await addressOf('a')).toBe(address(stack, 2))
    expect(await warnings('late')).toEqual([expect.stringMatching(/NoAvailableAddress.*subnet=blue/)])
    await cluster.removePod('a')
    await control.settle()
    expect(await addressOf('late')).toBe(address(stack, 2))
  })

  it('of a subnet that grows serves pods from the new part, and leaves others as they are', async () => {
    await using control = await cluster.startController()
    const small = stack.cidr.replace('/24', '/30').replace('/120', '/126')
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: small }))
    await control.settle()
    await createPods(control, ['a', 'b'])
    expect([await addressOf('a'), await addressOf('b')]).toEqual([address(stack, 2), undefined])
    await cluster.client.patch(subnetResource, { name: 'blue' }, 'application/merge-patch+json', {
      spec: { cidrBlock: stack.cidr },
    })
    await control.settle()
    expect([await addressOf('a'), await addressOf('b')]).toEqual([address(stack, 2), address(stack, 3)])
    expect((await blue())?.status).toMatchObject({
      v4availableIPs: count(251, v4),
      v6availableIPs: count(251, v6),
    })
    expect(control.problems().filter((line) => !line.includes('no address of the family'))).toEqual([])
  })

  it('of a subnet that moves is told to a pod that loses it, which goes on with it', async () => {
    await using control = await startWithBlue(stack)
    await createPods(control, ['a'])
    const cidrBlock = stack.cidr.replace('10.17.', '10.27.').replace('fd00:10:17:', 'fd00:10:27:')
    await cluster.client.patch(subnetResource, { name: 'blue' }, 'application/merge-patch+json', {
      spec: { cidrBlock, gateway: null, excludeIps: null },
    })
    await control.settle()
    expect(await warnings('a')).toEqual([expect.stringContaining('AddressOutOfRange')])
    expect(control.named('Logical_Switch_Port', 'a.default')).toBeDefined()
    expect(await addressOf('a')).toBe(address(stack, 2))
    await createPods(control, ['b'])
    expect(await addressOf('b')).toBe(address(stack, 2).replace('10.17.', '10.27.').replace(':17:', ':27:'))
    await cluster.removePod('a')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'a.default')).toBeUndefined()
    expect(await cluster.client.get(ipResource, { name: 'a.default' })).toBeUndefined()
  })
})

describe('an IPPool that is named in ip_pool', () => {
  const fromPool = { [keys.ipPool.key]: 'some' }

  async function createPool(): Promise<void> {
    await cluster.client.create(
      ipPoolResource,
      ipPool({ name: 'some', subnet: 'blue', ips: ['10.17.0.64/30'] }),
    )
  }

  async function createFromPool(control: Controller, name: string): Promise<void> {
    await cluster.client.create(pods, pod({ name, node: 'n1', annotations: fromPool }))
    await control.settle()
  }

  it('need not be there yet, and decides about the subnet', async () => {
    await using control = await startWithBlue({ ...dual, cidr: '10.17.0.0/24' })
    await createFromPool(control, 'early')
    expect(await warnings('early')).toEqual([
      expect.stringMatching(/field=ovn\.kubernetes\.io\/ip_pool pool=some\); create the IPPool/),
    ])
    await createPool()
    await control.settle()
    expect(await addressOf('early')).toBe('10.17.0.64')
  })

  it('gives no more once it is being deleted', async () => {
    await using control = await startWithBlue({ ...dual, cidr: '10.17.0.0/24' })
    await createPool()
    await createFromPool(control, 'first')
    await cluster.client.remove(ipPoolResource, { name: 'some' })
    await control.settle()
    await createFromPool(control, 'late')
    expect(await addressOf('late')).toBeUndefined()
    expect(await warnings('late')).toEqual([expect.stringContaining('this one is being deleted')])
    await cluster.removePod('first')
    await control.settle()
    expect(await cluster.client.get(ipPoolResource, { name: 'some' })).toBeUndefined()
    await createPool()
    await control.settle()
    expect(await addressOf('late')).toBe('10.17.0.64')
  })
})

describe('a subnet of both families', () => {
  it.each([
    ['ipv4', '10.17.0.2', {}],
    ['ipv6', 'fd00:10:17::2', {}],
    ['ipv4', '10.17.0.64', { [keys.ipPool.key]: 'some' }],
    ['ipv6', 'fd00:10:17::64', { [keys.ipPool.key]: 'some' }],
  ])('gives a pod that wants %s %s alone, and tells it of the whole subnet', async (family, want, asked) => {
    await using control = await startWithBlue(dual)
    const ips = ['10.17.0.64..10.17.0.65', 'fd00:10:17::64..fd00:10:17::65']
    await cluster.client.create(ipPoolResource, ipPool({ name: 'some', subnet: 'blue', ips }))
    await control.settle()
    await createPods(control, ['one'], { [keys.ipFamily.key]: family, ...asked })
    const told = (await cluster.client.get(pods, { namespace: 'default', name: 'one' }))?.metadata.annotations
    expect(told).toMatchObject({
      [keys.ipAddress.key]: want,
      [keys.cidr.key]: dual.cidr,
      [keys.gateway.key]: address(dual, 1),
    })
    expect((await cluster.client.get(ipResource, { name: 'one.default' }))?.spec?.ipAddress).toBe(want)
    expect((await blue())?.status).toMatchObject({
      v4usingIPs: family === 'ipv4' ? 1 : 0,
      v6usingIPs: family === 'ipv6' ? 1 : 0,
    })
  })

  it('that had one before serves new pods with both, and leaves others as they are', async () => {
    await using control = await cluster.startController()
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
    await createPods(control, ['old'])
    await cluster.client.patch(subnetResource, { name: 'blue' }, 'application/merge-patch+json', {
      spec: { cidrBlock: dual.cidr },
    })
    await control.settle()
    expect((await blue())?.spec).toMatchObject({ protocol: 'Dual', gateway: address(dual, 1) })
    await createPods(control, ['new'])
    expect([await addressOf('old'), await addressOf('new')]).toEqual(['10.17.0.2', '10.17.0.3,fd00:10:17::2'])
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks).toEqual([
      '10.17.0.1/24',
      'fd00:10:17::1/120',
    ])
    expect(control.problems()).toEqual([])
  })

  it('refuses a family that a subnet of one does not have', async () => {
    await using control = await cluster.startController()
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }))
    await createPods(control, ['one'], { [keys.ipFamily.key]: 'ipv6' })
    expect(await warnings('one')).toEqual([
      expect.stringMatching(
        /requested ip family IPv6 does not match subnet blue protocol IPv4 \(field=ovn\.kubernetes\.io\/ip_family .*; ask for IPv4$/,
      ),
    ])
    expect(await addressOf('one')).toBeUndefined()
  })
})
