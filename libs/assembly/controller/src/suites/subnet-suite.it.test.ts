import { podAnnotations } from '@kube-ovn/annotations'
import { ipResource } from '@kube-ovn/kube-api'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  address,
  addresses,
  ControlCluster,
  createInBlue,
  readBlue,
  span,
  stacks,
  startWithBlue,
  subnetUsage,
  tiny,
} from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()

// What the suite of this name of the original checks in a real cluster.
describe.each(stacks)('Subnet suite in $stack', (stack) => {
  it('completes a subnet of which only the CIDR is given', async () => {
    await using _control = await startWithBlue(cluster, stack)
    const { metadata, spec, status } = (await readBlue(cluster)) ?? {}
    expect(metadata?.finalizers).toEqual(['kubeovn.io/kube-ovn-controller'])
    expect(spec).toMatchObject({
      protocol: stack.stack,
      gateway: address(stack, 1),
      excludeIps: addresses(stack, 1),
      gatewayType: 'distributed',
      natOutgoing: false,
      private: false,
      default: false,
    })
    expect(status).toMatchObject(subnetUsage(stack, { available: [[2, 254]], using: [] }))
  })

  it('takes host bits away, and keeps what is excluded beside the gateway', async () => {
    const cidr = stack.cidr.replace('.0/', '.7/').replace('::/', '::7/')
    await using _control = await startWithBlue(cluster, { ...stack, cidr }, span(stack, 10, 19))
    const { spec, status } = (await readBlue(cluster)) ?? {}
    expect(spec?.cidrBlock).toBe(stack.cidr)
    expect(new Set(spec?.excludeIps)).toEqual(new Set([...addresses(stack, 1), ...span(stack, 10, 19)]))
    const available = [[2, 9] as const, [20, 254] as const]
    expect(status).toMatchObject(subnetUsage(stack, { available, using: [] }))
  })

  it('leaves out what is excluded, but for whom asks for it', async () => {
    await using control = await startWithBlue(cluster, stack, addresses(stack, 2))
    await createInBlue(cluster, control, ['a'])
    await createInBlue(cluster, control, ['b'], { [keys.ipAddress.key]: address(stack, 2) })
    expect(await cluster.user.addressesOf('a', 'b')).toEqual([address(stack, 3), address(stack, 2)])
    expect((await readBlue(cluster))?.status).toMatchObject(
      subnetUsage(stack, { available: [[4, 254]], using: [3] }),
    )
  })

  it('advances upwards, and hands out again last what was given back', async () => {
    await using control = await startWithBlue(cluster, stack)
    const five = ['a', 'b', 'c', 'd', 'e']
    await createInBlue(cluster, control, five)
    const first = { available: [[7, 254] as const], using: [[2, 6] as const] }
    expect((await readBlue(cluster))?.status).toMatchObject(subnetUsage(stack, first))
    for (const name of five) await cluster.removePod(name)
    await control.settle()
    expect((await readBlue(cluster))?.status).toMatchObject(
      subnetUsage(stack, { available: [[2, 254]], using: [] }),
    )
    await createInBlue(cluster, control, five)
    const next = { available: [[2, 6] as const, [12, 254] as const], using: [[7, 11] as const] }
    expect((await readBlue(cluster))?.status).toMatchObject(subnetUsage(stack, next))
  })

  it('splits its ranges where pods have static addresses', async () => {
    await using control = await startWithBlue(cluster, stack)
    for (const host of [5, 7, 10, 11])
      await createInBlue(cluster, control, [`p${host}`], { [keys.ipAddress.key]: address(stack, host) })
    const split = {
      available: [[2, 4] as const, 6, [8, 9] as const, [12, 254] as const],
      using: [5, 7, [10, 11] as const],
    }
    expect((await readBlue(cluster))?.status).toMatchObject(subnetUsage(stack, split))
    for (const host of [5, 7, 10, 11]) await cluster.removePod(`p${host}`)
    await control.settle()
    expect((await readBlue(cluster))?.status).toMatchObject(
      subnetUsage(stack, { available: [[2, 254]], using: [] }),
    )
  })

  it.each([
    ['ip_address', keys.ipAddress.key],
    ['ip_pool', keys.ipPool.key],
  ])('never gives the gateway, asked for by %s, not even when there is nothing else', async (_name, key) => {
    await using control = await startWithBlue(cluster, tiny(stack))
    const asked = { [key]: address(stack, 1) }
    await createInBlue(cluster, control, ['greedy'], asked)
    await createInBlue(cluster, control, ['last'])
    expect((await readBlue(cluster))?.status).toMatchObject(subnetUsage(stack, { available: [], using: [2] }))
    await createInBlue(cluster, control, ['late'], asked)
    for (const name of ['greedy', 'late']) {
      expect(await cluster.user.told(name)).toEqual([
        expect.stringMatching(/^AcquireAddressFailed: .*AddressConflict/),
      ])
      expect(await cluster.client.get(ipResource, { name: `${name}.default` })).toBeUndefined()
    }
  })

  it("never gives the router port's MAC address", async () => {
    await using control = await startWithBlue(cluster, stack)
    const mac = control.named('Logical_Router_Port', 'ovn-cluster-blue')?.mac ?? ''
    await createInBlue(cluster, control, ['greedy'], { [keys.macAddress.key]: mac })
    expect(await cluster.user.told('greedy')).toEqual([expect.stringContaining('AddressConflict')])
  })
})
