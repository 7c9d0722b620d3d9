import { podAnnotations } from '@kube-ovn/annotations'
import { ipResource, subnetResource, vipResource } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import { node, vip } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  address,
  addresses,
  ControlCluster,
  createInBlue,
  dualStack,
  elsewhere,
  readBlue,
  singleStacks,
  stacks,
  startWithBlue,
  subnetUsage,
  tiny,
} from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()

async function edit(control: Controller, spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'blue', spec)
  await control.settle()
}

describe.each(stacks)('A subnet of $stack', (stack) => {
  it('does not give the addresses of a node; whoever has one when it comes keeps it, and both are named', async () => {
    await using control = await startWithBlue(cluster, stack)
    await createInBlue(cluster, control, ['first'])
    const own = [...addresses(stack, 2), ...addresses(stack, 3)]
    await cluster.client.create(nodes, node({ name: 'n2', addresses: own }))
    await control.settle()
    await createInBlue(cluster, control, ['second'])
    expect(await cluster.user.addressesOf('first', 'second')).toEqual([address(stack, 2), address(stack, 4)])
    expect(await cluster.user.told('n2')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /: address \S+ of node n2 lies in subnet blue and is held by pod\/default\/first, which keeps it: give/,
        ),
      ]),
    )
    const conditions = (await readBlue(cluster))?.status?.conditions
    expect(conditions?.find(({ type }) => type === 'Validated')?.message).toContain('of node n2')
    await createInBlue(cluster, control, ['asks'], { [keys.ipAddress.key]: address(stack, 3) })
    expect(await cluster.user.addressOf('asks')).toBe(address(stack, 3))
    await cluster.client.remove(nodes, { name: 'n2' })
    await control.settle()
  })

  it('says when it has no more, and goes on with what is given back', async () => {
    await using control = await startWithBlue(cluster, tiny(stack))
    await createInBlue(cluster, control, ['a', 'late'])
    expect(await cluster.user.addressesOf('a', 'late')).toEqual([address(stack, 2), ''])
    expect(await cluster.user.told('late')).toEqual([
      expect.stringMatching(/NoAvailableAddress.*subnet=blue/),
    ])
    await cluster.removePod('a')
    await control.settle()
    expect(await cluster.user.addressOf('late')).toBe(address(stack, 2))
  })

  it('that grows serves those who wait from the new part, and leaves others as they are', async () => {
    await using control = await startWithBlue(cluster, tiny(stack))
    await createInBlue(cluster, control, ['a', 'b'])
    expect(await cluster.user.addressesOf('a', 'b')).toEqual([address(stack, 2), ''])
    await edit(control, { cidrBlock: stack.cidr })
    expect(await cluster.user.addressesOf('a', 'b')).toEqual([address(stack, 2), address(stack, 3)])
    expect((await readBlue(cluster))?.status).toMatchObject(
      subnetUsage(stack, { available: [[4, 254]], using: [[2, 3]] }),
    )
    expect(control.problems().filter((line) => !line.includes('no address of the family'))).toEqual([])
  })

  it('that moves tells a pod that loses its address, which goes on with it', async () => {
    await using control = await startWithBlue(cluster, stack)
    const moved = elsewhere(stack)
    await createInBlue(cluster, control, ['a'])
    await edit(control, { cidrBlock: moved.cidr, gateway: null, excludeIps: null })
    expect(await cluster.user.told('a')).toEqual([expect.stringContaining('AddressOutOfRange')])
    expect(control.named('Logical_Switch_Port', 'a.default')).toBeDefined()
    await createInBlue(cluster, control, ['b'])
    expect(await cluster.user.addressesOf('a', 'b')).toEqual([address(stack, 2), address(moved, 2)])
    await cluster.removePod('a')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'a.default')).toBeUndefined()
    expect(await cluster.client.get(ipResource, { name: 'a.default' })).toBeUndefined()
  })

  it('that gets another gateway and excludes others gives what it may give by then', async () => {
    await using control = await startWithBlue(cluster, stack)
    await createInBlue(cluster, control, ['a'])
    const before = control.named('Logical_Switch_Port', 'a.default')
    await edit(control, { gateway: address(stack, 254), excludeIps: addresses(stack, 3) })
    expect(new Set((await readBlue(cluster))?.spec?.excludeIps)).toEqual(
      new Set([...addresses(stack, 3), ...addresses(stack, 254)]),
    )
    const networks = control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks ?? []
    expect(networks.map((text) => text.replace(/\/.*/, ''))).toEqual(addresses(stack, 254))
    expect(control.named('Logical_Switch_Port', 'a.default')).toEqual(before)
    await createInBlue(cluster, control, ['b', 'c'])
    expect(await cluster.user.addressesOf('a', 'b', 'c')).toEqual(
      [2, 1, 4].map((host) => address(stack, host)),
    )
    await createInBlue(cluster, control, ['greedy'], { [keys.ipAddress.key]: address(stack, 254) })
    expect(await cluster.user.told('greedy')).toEqual([expect.stringContaining('AddressConflict')])
    await edit(control, { excludeIps: [] })
    await createInBlue(cluster, control, ['d'])
    expect(await cluster.user.addressOf('d')).toBe(address(stack, 3))
  })

  it('keeps its gateway while somebody has the address of the new one, names who, and changes it then', async () => {
    await using control = await startWithBlue(cluster, stack)
    await createInBlue(cluster, control, ['a'])
    const v4ip = stack.v4 && `${stack.v4}50`
    const v6ip = stack.v6 && `${stack.v6}32`
    const held = vip({ name: 'v', subnet: 'blue', ...(v4ip && { v4ip }), ...(v6ip && { v6ip }) })
    await cluster.client.create(vipResource, held)
    await control.settle()
    const gatewayNow = () =>
      control
        .named('Logical_Router_Port', 'ovn-cluster-blue')
        ?.networks.map((text) => text.replace(/\/.*/, ''))
    for (const [host, holder] of [
      [50, 'vip/v'],
      [2, 'pod/default/a'],
    ] as const) {
      await edit(control, { gateway: address(stack, host) })
      expect(gatewayNow()).toEqual(addresses(stack, 1))
      expect(await cluster.user.told('blue')).toContainEqual(
        expect.stringContaining(`delete ${holder} first`),
      )
    }
    const before = control.named('Logical_Switch_Port', 'a.default')?.addresses
    expect(before?.[0]).toContain(addresses(stack, 2).join(' '))
    await cluster.removePod('a')
    await control.settle()
    expect(gatewayNow()).toEqual(addresses(stack, 2))
    expect((await readBlue(cluster))?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Validated', status: 'True' }),
    )
  })

  it('keeps its gateway when the first address, which would be the one by default, is held', async () => {
    await using control = await startWithBlue(cluster, stack)
    await edit(control, { gateway: address(stack, 254), excludeIps: [] })
    await createInBlue(cluster, control, ['a'], { [keys.ipAddress.key]: address(stack, 1) })
    await edit(control, { gateway: '' })
    const networks = control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks ?? []
    expect(networks.map((text) => text.replace(/\/.*/, ''))).toEqual(addresses(stack, 254))
    expect(await cluster.user.told('blue')).toEqual([expect.stringContaining('delete pod/default/a first')])
  })

  it('that is deleted waits for its last address, and a condition names who has it', async () => {
    await using control = await startWithBlue(cluster, stack)
    await createInBlue(cluster, control, ['last'])
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    const message = 'addresses of the subnet are held by pod/default/last: delete these first'
    const condition = expect.objectContaining({
      type: 'Error',
      status: 'True',
      reason: 'SubnetInUse',
      message,
    })
    expect((await readBlue(cluster))?.status?.conditions).toContainEqual(condition)
    await cluster.removePod('last')
    await control.settle()
    expect(await readBlue(cluster)).toBeUndefined()
  })
})

describe.each([
  { name: 'moves one family', cidrBlock: '10.27.0.0/24,fd00:10:17::/120' },
  { name: 'gives up one family', cidrBlock: '10.17.0.0/24' },
])('A dual-stack subnet that $name', ({ cidrBlock }) => {
  it.each(['while a controller runs', 'while none runs'])(
    '%s tells a pod that loses an address, which goes on with both',
    async (when) => {
      await using first = await startWithBlue(cluster, dualStack)
      await createInBlue(cluster, first, ['a'])
      const before = first.named('Logical_Switch_Port', 'a.default')
      const hasStopped = when === 'while none runs'
      if (hasStopped) await first[Symbol.asyncDispose]()
      await cluster.user.edit(subnetResource, 'blue', { cidrBlock, gateway: null, excludeIps: null })
      await using control = hasStopped ? await cluster.startController() : first
      await control.settle()
      expect(await cluster.user.told('a')).toEqual([
        expect.stringMatching(/AddressOutOfRange|InvalidIPFamily/),
      ])
      expect(await cluster.user.addressOf('a')).toBe(address(dualStack, 2))
      expect(control.named('Logical_Switch_Port', 'a.default')).toEqual(before)
      await edit(control, { cidrBlock: dualStack.cidr, gateway: null, excludeIps: null })
      expect(control.world.ipam.lease('a.default')).toMatchObject({
        v4: expect.anything() as unknown,
        v6: expect.anything() as unknown,
      })
      expect(await cluster.user.addressOf('a')).toBe(address(dualStack, 2))
      expect((await readBlue(cluster))?.status).toMatchObject({ v4usingIPs: 1, v6usingIPs: 1 })
      await cluster.removePod('a')
      await control.settle()
      expect(control.named('Logical_Switch_Port', 'a.default')).toBeUndefined()
    },
  )
})

describe.each(singleStacks)('A subnet of $stack that gains the other family', (stack) => {
  it('serves new pods with both, and leaves others as they are', async () => {
    await using control = await startWithBlue(cluster, stack)
    await createInBlue(cluster, control, ['old'])
    await edit(control, { cidrBlock: dualStack.cidr })
    expect((await readBlue(cluster))?.spec).toMatchObject({
      protocol: 'Dual',
      gateway: address(dualStack, 1),
    })
    await createInBlue(cluster, control, ['new'])
    const hosts = stack.v4 === undefined ? { v4: 2, v6: 3 } : { v4: 3, v6: 2 }
    const [v4] = addresses(dualStack, hosts.v4)
    const [, v6] = addresses(dualStack, hosts.v6)
    expect(await cluster.user.addressesOf('old', 'new')).toEqual([address(stack, 2), `${v4},${v6}`])
    expect(control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks).toEqual([
      '10.17.0.1/24',
      'fd00:10:17::1/120',
    ])
    expect(control.problems()).toEqual([])
  })
})

it('A subnet has its switch and its place at the router again when somebody breaks them, beside foreign rows', async () => {
  await using control = await startWithBlue(cluster, dualStack)
  await createInBlue(cluster, control, ['a'])
  const made = () => ({
    subnet: control.named('Logical_Switch', 'blue')?.other_config,
    ports: control.portsOf('Logical_Switch', 'blue').filter((name) => name !== 'theirs'),
    pod: control.named('Logical_Switch_Port', 'a.default')?.addresses,
    router: control.named('Logical_Router_Port', 'ovn-cluster-blue')?.networks,
  })
  const before = made()
  const { northbound } = cluster
  await northbound.nbctl('lsp-add', 'blue', 'theirs')
  await northbound.nbctl('set', 'Logical_Router_Port', 'ovn-cluster-blue', 'networks=10.99.0.1/24')
  await northbound.nbctl('lsp-del', 'blue-ovn-cluster')
  await control.settle()
  expect(made()).toEqual(before)
  await northbound.nbctl('lrp-del', 'ovn-cluster-blue')
  await control.settle()
  expect(made()).toEqual(before)
  expect(control.portsOf('Logical_Switch', 'blue')).toContain('theirs')
  await northbound.nbctl('ls-del', 'blue')
  await control.settle()
  expect(made()).toEqual(before)
})
