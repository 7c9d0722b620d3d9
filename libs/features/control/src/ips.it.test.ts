import { controllerFinalizer, podAnnotations } from '@kube-ovn/annotations'
import { parseIp } from '@kube-ovn/ip'
import { ipResource, subnetResource, vipResource, type Ip } from '@kube-ovn/kube-api'
import { statefulSets } from '@kube-ovn/kube-api/core'
import { ip, statefulSet, subnet, vip, type IpFields } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from './testing/control-cluster.ts'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'blue', cidrBlock: '10.17.0.0/24,fd00:17::/120', namespaces: ['default'] }),
  )
})

const keys = podAnnotations()

/** Reserves addresses for the pod of that name. */
async function reserve(podName: string, fields: Partial<IpFields> = {}): Promise<void> {
  const name = `${podName}.default`
  await cluster.client.create(
    ipResource,
    ip({ name, podName, namespace: 'default', subnet: 'blue', ...fields }),
  )
}

async function read(podName: string): Promise<Ip | undefined> {
  return cluster.client.get(ipResource, { name: `${podName}.default` })
}

describe('an IP object that reserves addresses', () => {
  it.each([
    {
      name: 'of its own choice',
      fields: { v4IpAddress: '10.17.0.50', v6IpAddress: 'fd00:17::50' },
      want: '10.17.0.50,fd00:17::50',
    },
    {
      name: 'one of its choice and one of ours',
      fields: { v4IpAddress: '10.17.0.50' },
      want: '10.17.0.50,fd00:17::2',
    },
    { name: 'of our choice', fields: {}, want: '10.17.0.2,fd00:17::2' },
  ])('has $name, is told so, and its pod has them', async ({ fields, want }) => {
    await using control = await cluster.startSettled()
    await reserve('db', { macAddress: '00:00:5e:00:53:50', ...fields })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: ['patch ips', 'patch subnets/status'] })
    const kept = await read('db')
    expect(kept?.spec).toMatchObject({ ipAddress: want, macAddress: '00:00:5e:00:53:50', subnet: 'blue' })
    expect(kept?.metadata.finalizers).toEqual(['kubeovn.io/kube-ovn-controller'])
    expect(kept?.metadata.labels).toEqual({ 'ovn.kubernetes.io/ip_reserved': 'true' })

    await cluster.user.createPod({ name: 'other' })
    await cluster.user.createPod({ name: 'db' })
    await control.settle()
    expect(await cluster.user.addressOf('db')).toBe(want)
    expect(await cluster.user.addressOf('other')).not.toBe(want)
    await cluster.removePod('db')
    await control.settle()
    const returned = await read('db')
    expect(returned?.spec?.ipAddress).toBe(want)
    expect(returned?.metadata.labels).toEqual({
      'ovn.kubernetes.io/ip_reserved': 'true',
      'ovn.kubernetes.io/subnet': 'blue',
      'ovn.kubernetes.io/node-name': 'n1',
      blue: '',
    })

    await control[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    await cluster.client.remove(ipResource, { name: 'db.default' })
    await again.settle()
    expect(await read('db')).toBeUndefined()
    expect([...again.world.ipam.leases('blue')].map(({ nic }) => nic)).toEqual(['other.default'])
    expect(again.problems()).toEqual([])
  })

  it('holds its addresses for its pod, before and after its life', async () => {
    await using control = await cluster.startSettled()
    await reserve('db', { v4IpAddress: '10.17.0.50', v6IpAddress: 'fd00:17::50' })
    await control.settle()
    await cluster.user.createPod({ name: 'thief', annotations: { [keys.ipAddress.key]: '10.17.0.50' } })
    await control.settle()
    expect((await cluster.user.told('thief'))[0]).toContain('AddressConflict')
    await cluster.user.createPod({ name: 'db' })
    await control.settle()
    expect(await cluster.user.addressOf('db')).toBe('10.17.0.50,fd00:17::50')
    await cluster.removePod('db')
    await control.settle()
    expect((await read('db'))?.metadata.labels?.['ovn.kubernetes.io/ip_reserved']).toBe('true')
    expect(control.named('Logical_Switch_Port', 'db.default')).toBeUndefined()
    expect(control.named('Logical_Switch_Port', 'thief.default')).toBeUndefined()
    await cluster.client.remove(ipResource, { name: 'db.default' })
    await control.settle()
    expect(await read('db')).toBeUndefined()
    expect(await cluster.user.addressOf('thief')).toMatch(/^10\.17\.0\.50,/)
  })

  it('is its pod’s even when both are made in the same moment', async () => {
    await using control = await cluster.startSettled()
    const names = Array.from({ length: 10 }, (_, index) => `p${index}`)
    for (const [index, name] of names.entries()) {
      await Promise.all([
        reserve(name, { v4IpAddress: `10.17.0.${50 + index}` }),
        cluster.user.createPod({ name: `other-${name}` }),
      ])
      await cluster.user.createPod({ name })
    }
    await control.settle()
    for (const [index, name] of names.entries()) {
      expect(await cluster.user.addressOf(name)).toMatch(new RegExp(`^10\\.17\\.0\\.${50 + index},`))
      expect((await read(name))?.spec?.v4IpAddress).toBe(`10.17.0.${50 + index}`)
    }
  })

  it('is refused what somebody has, told who, and has it once it is free', async () => {
    await using control = await cluster.startSettled()
    await cluster.user.createPod({
      name: 'first',
      annotations: { [keys.ipAddress.key]: '10.17.0.50,fd00:17::50' },
    })
    await control.settle()
    await reserve('db', { v4IpAddress: '10.17.0.50' })
    await reserve('early', { subnet: 'green', v4IpAddress: '10.19.0.9' })
    await control.settle()
    expect((await cluster.user.told('db.default'))[0]).toContain('pod/default/first')
    expect((await cluster.user.told('db.default'))[0]).toContain('choose another address')
    expect((await cluster.user.told('early.default'))[0]).toContain('subnet=green')
    expect((await read('db'))?.spec?.ipAddress).toBeUndefined()
    await cluster.removePod('first')
    await cluster.client.create(subnetResource, subnet({ name: 'green', cidrBlock: '10.19.0.0/24' }))
    await control.settle()
    expect((await read('db'))?.spec?.ipAddress).toMatch(/^10\.17\.0\.50,/)
    expect((await read('early'))?.spec?.ipAddress).toBe('10.19.0.9')
  })

  it('that was refused takes nothing from who has it by a restart', async () => {
    const control = await cluster.startSettled()
    const set = await cluster.client.create(statefulSets, statefulSet({ name: 'set' }))
    const { name, uid = '' } = set.metadata
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true }]
    const asks = (address: string) => ({ [keys.ipAddress.key]: address })
    await cluster.client.create(vipResource, vip({ name: 'v', subnet: 'blue', v4ip: '10.17.0.50' }))
    await cluster.user.createPod({ name: 'waits', annotations: asks('10.17.0.51,fd00:17::51') })
    await cluster.user.createPod({
      name: 'set-0',
      ownerReferences,
      annotations: asks('10.17.0.52,fd00:17::52'),
    })
    await control.settle()
    await cluster.removePod('set-0')
    await control.settle()
    const addresses = ['10.17.0.50', '10.17.0.51', '10.17.0.52']
    for (const [index, v4IpAddress] of addresses.entries()) await reserve(`db-${index}`, { v4IpAddress })
    await control.settle()
    await control[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    const holders = addresses.map((text) => again.world.ipam.holders('blue', parseIp(text)))
    expect(holders).toEqual([['vip/v'], ['pod/default/waits'], ['statefulset-pod/default/set-0']])
    await cluster.removePod('waits')
    await again.settle()
    expect((await read('db-1'))?.spec?.v4IpAddress).toBe('10.17.0.51')
    expect(again.world.ipam.holders('blue', parseIp('10.17.0.51'))).toEqual(['reservation/default/db-1'])
  })

  it('keeps a subnet that is deleted', async () => {
    await using control = await cluster.startSettled()
    await reserve('db')
    await control.settle()
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    const { status } = (await cluster.client.get(subnetResource, { name: 'blue' })) ?? {}
    expect(JSON.stringify(status?.conditions)).toContain('default/db')
    await cluster.client.remove(ipResource, { name: 'db.default' })
    await control.settle()
    expect(await cluster.client.get(subnetResource, { name: 'blue' })).toBeUndefined()
  })

  it('says what is wrong when it reserves nothing', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(
      ipResource,
      ip({ name: 'odd', podName: 'db', namespace: 'default', subnet: 'blue' }),
    )
    await control.settle()
    expect((await cluster.user.told('odd'))[0]).toContain('name it like the port: db.default')
    await cluster.client.remove(ipResource, { name: 'odd' })
    await control.settle()
    expect(await cluster.client.get(ipResource, { name: 'odd' })).toBeUndefined()
    expect(control.world.ipam.lease('odd')).toBeUndefined()
  })
})

it('an IP object of an older version is no reservation: it is marked as ours, and goes with its pod', async () => {
  const old = { metadata: { labels: null, finalizers: ['kube-ovn-controller'] } }
  const age = () =>
    cluster.client.patch(ipResource, { name: 'web.default' }, 'application/merge-patch+json', old)
  await using control = await cluster.startSettled()
  await cluster.user.createPod({ name: 'web' })
  await control.settle()
  await age()
  await control.settle()
  expect((await read('web'))?.metadata).toMatchObject({
    labels: { 'ovn.kubernetes.io/ip_reserved': 'false' },
    finalizers: ['kubeovn.io/kube-ovn-controller'],
  })
  await control[Symbol.asyncDispose]()
  await age()
  await cluster.removePod('web')
  await using again = await cluster.startController()
  await again.settle()
  expect(await read('web')).toBeUndefined()
  expect(again.world.ipam.lease('web.default')).toBeUndefined()
})

it('leaves the finalizers of others on IP objects, whose addresses are free once these let go', async () => {
  await using control = await cluster.startSettled()
  await cluster.user.createPod({ name: 'web' })
  await control.settle()
  const ref = { name: 'web.default' }
  const theirs = 'example.com/theirs'
  await cluster.client.patch(ipResource, ref, 'application/merge-patch+json', {
    metadata: { finalizers: [controllerFinalizer, theirs] },
  })
  await control.settle()
  expect((await cluster.client.get(ipResource, ref))?.metadata.finalizers).toContain(theirs)
  await cluster.removePod('web')
  await control.settle()
  expect((await cluster.client.get(ipResource, ref))?.metadata.finalizers).toEqual([theirs])
  await cluster.client.patch(ipResource, ref, 'application/merge-patch+json', {
    metadata: { finalizers: null },
  })
  await control.settle()
  expect(control.world.ipam.lease('web.default')).toBeUndefined()
  expect(await cluster.client.get(ipResource, ref)).toBeUndefined()
})
