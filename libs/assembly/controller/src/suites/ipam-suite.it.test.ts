import { podAnnotations } from '@kube-ovn/annotations'
import { ipPoolResource, ipResource, subnetResource, type IpPool } from '@kube-ovn/kube-api'
import { namespaces, pods, statefulSets } from '@kube-ovn/kube-api/core'
import { ipPool, type IpPoolFields, namespace, pod, statefulSet, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  address,
  addresses,
  ControlCluster,
  dualStack,
  elsewhere,
  inBlue,
  poolUsage,
  readBlue,
  singleStacks,
  span,
  stacks,
  startWithBlue,
  subnetUsage,
} from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()

const mac = '00:00:5e:00:53:77'

async function createPool(
  control: Controller,
  fields: Omit<IpPoolFields, 'subnet'> & { readonly subnet?: string },
) {
  await cluster.client.create(ipPoolResource, ipPool({ subnet: 'blue', ...fields }))
  await control.settle()
}

async function readPool(name: string): Promise<IpPool | undefined> {
  return cluster.client.get(ipPoolResource, { name })
}

/** Makes a pod and answers its address; empty when it gets none. */
async function addressOfNew(
  control: Controller,
  name: string,
  annotations: Readonly<Record<string, string>> = inBlue,
  ns = 'default',
): Promise<string> {
  await cluster.user.createPod({ name, namespace: ns, annotations })
  await control.settle()
  return cluster.user.addressOf(name, ns)
}

async function remove(control: Controller, ...names: readonly string[]): Promise<void> {
  for (const name of names) await cluster.removePod(name)
  await control.settle()
}

// What the suite of this name of the original checks in a real cluster.
describe.each(stacks)('IPAM suite in $stack', (stack) => {
  it('gives a pod the addresses that it asks for, and tells it all that it needs', async () => {
    await using control = await startWithBlue(cluster, stack)
    const asked = { [keys.ipAddress.key]: address(stack, 77), [keys.macAddress.key]: mac }
    await addressOfNew(control, 'fixed', { ...inBlue, ...asked })
    expect(await cluster.user.annotationsOf({ name: 'fixed' })).toMatchObject({
      ...inBlue,
      ...asked,
      [keys.allocated.key]: 'true',
      [keys.routed.key]: 'true',
      [keys.cidr.key]: stack.cidr,
      [keys.gateway.key]: address(stack, 1),
    })
    const want = [`${mac} ${address(stack, 77).replace(',', ' ')}`]
    expect(control.named('Logical_Switch_Port', 'fixed.default')?.addresses).toEqual(want)
    const spec = { ipAddress: address(stack, 77), macAddress: mac, subnet: 'blue' }
    expect((await cluster.client.get(ipResource, { name: 'fixed.default' }))?.spec).toMatchObject(spec)
  })

  it('serves pods of any workload from a list, and again after they were deleted', async () => {
    await using control = await startWithBlue(cluster, stack)
    const hosts = [40, 30, 50].map((host) => address(stack, host))
    const annotations = { ...inBlue, [keys.ipPool.key]: hosts.join(';') }
    const create = async (name: string, kind: string) => {
      const owner = {
        apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
        kind,
        name: 'owner',
        uid: 'of-the-owner',
      }
      await cluster.user.createPod({ name, annotations, ownerReferences: [owner] })
      await control.settle()
    }
    await create('web', 'ReplicaSet')
    await create('agent', 'DaemonSet')
    await remove(control, 'web')
    await create('job', 'Job')
    await create('web', 'ReplicaSet')
    await create('late', 'Job')
    const want = [50, 30, 40].map((host) => address(stack, host))
    expect(await cluster.user.addressesOf('web', 'agent', 'job', 'late')).toEqual([...want, ''])
    expect(await cluster.user.told('late')).toEqual([expect.stringContaining('AddressConflict')])
  })

  it.each([
    ['drawn', 0, undefined],
    ['drawn', 10, undefined],
    ['from a list', 0, [40, 30]],
    ['from a list', 10, [40, 30]],
  ])('keeps addresses of a StatefulSet that are %s, with members from %d on', async (_how, start, hosts) => {
    await using control = await startWithBlue(cluster, stack)
    const list = hosts?.map((host) => address(stack, host)).join(';')
    const annotations = { ...inBlue, ...(list === undefined ? {} : { [keys.ipPool.key]: list }) }
    const set = await cluster.client.create(statefulSets, statefulSet({ replicas: 2, start, annotations }))
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: set.metadata.uid ?? '' }
    const members = [start, start + 1].map((ordinal) => `db-${ordinal}`)
    const create = async (name: string) => {
      await cluster.client.create(pods, pod({ name, node: 'n1', annotations, ownerReferences: [owner] }))
      await control.settle()
    }
    for (const name of members) await create(name)
    const before = await cluster.user.addressesOf(...members)
    expect(before).toEqual((hosts ?? [2, 3]).map((host) => address(stack, host)))
    await remove(control, ...members)
    for (const name of members.toReversed()) await create(name)
    expect(await cluster.user.addressesOf(...members)).toEqual(before)
  })

  it('finds the subnet by the name of an IPPool, and counts what its pods have', async () => {
    await using control = await startWithBlue(cluster, stack)
    await createPool(control, { name: 'some', ips: span(stack, 64, 73) })
    const fromPool = { [keys.ipPool.key]: 'some' }
    for (const name of ['a', 'b', 'c']) await addressOfNew(control, name, fromPool)
    const first = { available: [[67, 73] as const], using: [[64, 66] as const] }
    expect((await readPool('some'))?.status).toMatchObject(poolUsage(stack, first))
    // As when a Deployment is restarted: the new ones come before the old ones go.
    for (const name of ['d', 'e', 'f']) await addressOfNew(control, name, fromPool)
    await remove(control, 'a', 'b', 'c')
    const next = { available: [[64, 66] as const, [70, 73] as const], using: [[67, 69] as const] }
    expect((await readPool('some'))?.status).toMatchObject(poolUsage(stack, next))
    await remove(control, 'd', 'e', 'f')
    expect((await readPool('some'))?.status).toMatchObject(
      poolUsage(stack, { available: [[64, 73]], using: [] }),
    )
    expect((await readBlue(cluster))?.status).toMatchObject(
      subnetUsage(stack, { available: [[2, 254]], using: [] }),
    )
  })

  it('keeps what is excluded out of an IPPool, and gives its addresses back when it goes', async () => {
    await using control = await startWithBlue(cluster, stack)
    await createPool(control, { name: 'some', ips: span(stack, 2, 6) })
    const fromPool = { [keys.ipPool.key]: 'some' }
    expect(await addressOfNew(control, 'a', fromPool)).toBe(address(stack, 2))
    await cluster.user.edit(subnetResource, 'blue', {
      excludeIps: [...addresses(stack, 1), ...span(stack, 2, 3)],
    })
    await control.settle()
    expect(await addressOfNew(control, 'b', fromPool)).toBe(address(stack, 4))
    await remove(control, 'a')
    expect((await readPool('some'))?.status).toMatchObject(
      poolUsage(stack, { available: [[5, 6]], using: [4] }),
    )
    expect(await addressOfNew(control, 'c', fromPool)).toBe(address(stack, 5))
    await remove(control, 'b', 'c')
    await cluster.client.remove(ipPoolResource, { name: 'some' })
    await control.settle()
    expect(await readPool('some')).toBeUndefined()
    const asked = { ...inBlue, [keys.ipAddress.key]: address(stack, 4) }
    expect(await addressOfNew(control, 'd', asked)).toBe(address(stack, 4))
    expect(await addressOfNew(control, 'e')).toBe(address(stack, 6))
  })

  describe('with IPPools of a namespace', () => {
    const other = elsewhere(stack)
    const inGreen = { [keys.logicalSwitch.key]: 'green' }

    async function startWithShop(): Promise<Controller> {
      const control = await startWithBlue(cluster, stack)
      await cluster.client.create(namespaces, namespace({ name: 'shop' }))
      await cluster.client.create(subnetResource, subnet({ name: 'green', cidrBlock: other.cidr }))
      for (const name of ['blue', 'green'])
        await cluster.user.edit(subnetResource, name, { namespaces: ['shop'] })
      await control.settle()
      return control
    }

    it('serves its pods from one after the other, and no more when all are full', async () => {
      await using control = await startWithShop()
      await createPool(control, { name: 'a', ips: addresses(stack, 64), namespaces: ['shop'] })
      await createPool(control, { name: 'b', ips: addresses(stack, 65), namespaces: ['shop'] })
      const shop = (await cluster.client.get(namespaces, { name: 'shop' }))?.metadata.annotations
      expect(shop?.['ovn.kubernetes.io/ip_pool']).toBe('a,b')
      expect(await addressOfNew(control, 'one', {}, 'shop')).toBe(address(stack, 64))
      expect(await addressOfNew(control, 'two', {}, 'shop')).toBe(address(stack, 65))
      expect(await addressOfNew(control, 'three', {}, 'shop')).toBe('')
      const told = expect.stringMatching(/^AcquireAddressFailed: .*NoAvailableAddress/)
      expect(await cluster.user.told('three')).toEqual([told])
    })

    it('serves its pods from those in other subnets, and in the one that a pod names', async () => {
      await using control = await startWithShop()
      await createPool(control, { name: 'a', ips: addresses(stack, 64), namespaces: ['shop'] })
      await createPool(control, {
        name: 'b',
        subnet: 'green',
        ips: span(other, 64, 65),
        namespaces: ['shop'],
      })
      expect(await addressOfNew(control, 'named', inGreen, 'shop')).toBe(address(other, 64))
      expect(await addressOfNew(control, 'one', {}, 'shop')).toBe(address(stack, 64))
      expect(await addressOfNew(control, 'two', {}, 'shop')).toBe(address(other, 65))
    })
  })
})

describe('IPAM suite in Dual alone', () => {
  it.each([
    ['ipv4', undefined, '10.17.0.2'],
    ['ipv6', undefined, 'fd00:10:17::2'],
    [undefined, undefined, '10.17.0.2,fd00:10:17::2'],
    ['ipv4', 'some', '10.17.0.64'],
    ['ipv6', 'some', 'fd00:10:17::40'],
    [undefined, 'some', '10.17.0.64,fd00:10:17::40'],
  ])(
    'gives a pod with ip_family %s and ip_pool %s %s, and tells it of the whole subnet',
    async (family, pool, want) => {
      await using control = await startWithBlue(cluster, dualStack)
      await createPool(control, { name: 'some', ips: span(dualStack, 64, 65) })
      const asked = {
        ...(family === undefined ? {} : { [keys.ipFamily.key]: family }),
        ...(pool === undefined ? {} : { [keys.ipPool.key]: pool }),
      }
      expect(await addressOfNew(control, 'one', { ...inBlue, ...asked })).toBe(want)
      const about = { [keys.cidr.key]: dualStack.cidr, [keys.gateway.key]: address(dualStack, 1) }
      expect(await cluster.user.annotationsOf({ name: 'one' })).toMatchObject(about)
      expect((await cluster.client.get(ipResource, { name: 'one.default' }))?.spec?.ipAddress).toBe(want)
      const counts = { v4usingIPs: family === 'ipv6' ? 0 : 1, v6usingIPs: family === 'ipv4' ? 0 : 1 }
      expect((await readBlue(cluster))?.status).toMatchObject(counts)
    },
  )
})

describe.each(singleStacks)('IPAM suite in $stack alone', (stack) => {
  it('serves members of a StatefulSet from a list with commas', async () => {
    await using control = await startWithBlue(cluster, stack)
    const list = { ...inBlue, [keys.ipPool.key]: [40, 30].map((host) => address(stack, host)).join() }
    expect(await addressOfNew(control, 'any', list)).toBe(address(stack, 40))
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'of-the-set' }
    await cluster.user.createPod({ name: 'db-1', annotations: list, ownerReferences: [owner] })
    await control.settle()
    expect(await cluster.user.addressOf('db-1')).toBe(address(stack, 30))
  })

  it('serves a member of a StatefulSet that is seen before its set, which says where the list begins', async () => {
    await using control = await startWithBlue(cluster, stack)
    const list = { ...inBlue, [keys.ipPool.key]: [40, 30].map((host) => address(stack, host)).join(';') }
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'of-the-set' }
    await cluster.user.createPod({ name: 'db-11', annotations: list, ownerReferences: [owner] })
    await control.settle()
    expect(await cluster.user.addressOf('db-11')).toBe('')
    await cluster.client.create(statefulSets, statefulSet({ replicas: 2, start: 10, annotations: list }))
    await control.settle()
    expect(await cluster.user.addressOf('db-11')).toBe(address(stack, 30))
  })

  it('refuses the other family', async () => {
    await using control = await startWithBlue(cluster, stack)
    const [family, text] = stack.v4 === undefined ? ['ipv4', 'IPv4'] : ['ipv6', 'IPv6']
    expect(await addressOfNew(control, 'one', { ...inBlue, [keys.ipFamily.key]: family })).toBe('')
    const why = `requested ip family ${text} does not match subnet blue protocol ${stack.stack} `
    const told = `(field=ovn.kubernetes.io/ip_family `
    expect(await cluster.user.told('one')).toEqual([expect.stringContaining(`${why}${told}`)])
    expect(await cluster.user.annotationsOf({ name: 'one' })).not.toHaveProperty([keys.allocated.key])
  })

  it('keeps the address set of an IPPool while it is wanted', async () => {
    await using control = await startWithBlue(cluster, stack)
    const set = () => control.named('Address_Set', 'some')?.addresses.toSorted()
    await createPool(control, { name: 'some', ips: addresses(stack, 64), enableAddressSet: true })
    expect(set()).toEqual(addresses(stack, 64))
    await cluster.user.edit(ipPoolResource, 'some', {
      ips: [...addresses(stack, 66), ...addresses(stack, 68)],
    })
    await control.settle()
    expect(set()).toEqual([...addresses(stack, 66), ...addresses(stack, 68)])
    await cluster.client.remove(ipPoolResource, { name: 'some' })
    await control.settle()
    expect(set()).toBeUndefined()
  })
})
