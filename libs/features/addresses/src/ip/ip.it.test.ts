import { controllerFinalizer, podAnnotations } from '@kube-ovn/annotations'
import { parseIp } from '@kube-ovn/ip'
import { ipPoolResource, ipResource, subnetResource, vipResource, type Ip } from '@kube-ovn/kube-api'
import { events, statefulSets } from '@kube-ovn/kube-api/core'
import { ip, type IpFields, ipPool, statefulSet, subnet, vip } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

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
    expect(await cluster.user.told('thief')).toContainEqual(expect.stringContaining('AddressConflict'))
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
    expect(await cluster.user.told('db.default')).toContainEqual(expect.stringContaining('pod/default/first'))
    expect(await cluster.user.told('db.default')).toContainEqual(
      expect.stringContaining('choose another address'),
    )
    expect(await cluster.user.told('early.default')).toContainEqual(expect.stringContaining('subnet=green'))
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

  it('that was made while no controller ran has what it leaves open drawn, too', async () => {
    await reserve('db', { v4IpAddress: '10.17.0.50' })
    await using control = await cluster.startSettled()
    expect((await read('db'))?.spec?.ipAddress).toBe('10.17.0.50,fd00:17::2')
    expect(control.problems()).toEqual([])
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
    expect(await cluster.user.told('odd')).toContainEqual(
      expect.stringContaining('name it like the port: db.default'),
    )
    await cluster.client.remove(ipResource, { name: 'odd' })
    await control.settle()
    expect(await cluster.client.get(ipResource, { name: 'odd' })).toBeUndefined()
    expect(control.world.ipam.lease('odd')).toBeUndefined()
  })
})

describe('a pod that asks for other addresses than are reserved for it', () => {
  const other = '10.17.0.60,fd00:17::60'
  const asks: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['by ip_address', { [keys.ipAddress.key]: other }, `field=${keys.ipAddress.key} value=${other}`],
    ['by a list in ip_pool', { [keys.ipPool.key]: `${other};` }, `field=${keys.ipPool.key} value=${other};`],
    ['by an IPPool elsewhere', { [keys.ipPool.key]: 'reds' }, `field=${keys.ipPool.key} value=reds`],
    [
      'by vip',
      { [podAnnotations().borrowedVip.key]: 'v' },
      `field=${podAnnotations().borrowedVip.key} value=v`,
    ],
    ['by logical_switch', { [keys.logicalSwitch.key]: 'red' }, `field=${keys.logicalSwitch.key} value=red`],
  ]

  it.each(asks)(
    '%s has these, the IP object says so, and both are told once',
    async (_name, annotations, why) => {
      await cluster.client.create(subnetResource, subnet({ name: 'red', cidrBlock: '10.18.0.0/24' }))
      await using control = await cluster.startSettled()
      await cluster.client.create(
        ipPoolResource,
        ipPool({ name: 'reds', subnet: 'red', ips: ['10.18.0.60'] }),
      )
      await cluster.client.create(vipResource, vip({ name: 'v', subnet: 'blue' }))
      await reserve('db', { v4IpAddress: '10.17.0.50', v6IpAddress: 'fd00:17::50' })
      await control.settle()
      const wanted = { [keys.ipAddress.key]: '10.17.0.50,fd00:17::50' }
      await cluster.user.createPod({ name: 'next', annotations: wanted })
      await control.settle()
      expect(await cluster.user.addressOf('next')).toBe(wanted[keys.ipAddress.key])
      expect(await cluster.user.told('next')).toContainEqual(
        expect.stringContaining('reservation/default/db'),
      )
      await cluster.user.createPod({ name: 'db', annotations })
      await control.settle()
      const has = await cluster.user.addressOf('db')
      expect(has).not.toContain('10.17.0.50')
      expect((await read('db'))?.spec?.ipAddress).toBe(has)
      // Whoever waited for what was given up has it.
      expect(control.named('Logical_Switch_Port', 'next.default')).toBeDefined()
      const told = `${why} reservation=db.default reserved=10.17.0.50,fd00:17::50`
      for (const about of ['db', 'db.default'])
        expect(await cluster.user.told(about)).toEqual([expect.stringContaining(told)])

      await cluster.user.annotate({ name: 'db' }, { touched: 'yes' })
      await control.settle()
      await control[Symbol.asyncDispose]()
      await cluster.forgetCosts()
      await using again = await cluster.startController()
      await again.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      expect(await cluster.user.addressOf('db')).toBe(has)
      const { items } = await cluster.client.list(events)
      expect(items.filter(({ reason }) => reason === 'ReservationGivenUp').map(({ count }) => count)).toEqual(
        [1, 1],
      )
    },
  )

  it('has what is reserved when that is what it asks for, in its subnet or from an IPPool of it', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(
      ipPoolResource,
      ipPool({ name: 'blues', subnet: 'blue', ips: ['10.17.0.90'] }),
    )
    const annotations = {
      same: { [keys.ipAddress.key]: '10.17.0.50', [keys.logicalSwitch.key]: 'blue' },
      pool: { [keys.ipPool.key]: 'blues' },
    }
    for (const [index, [name, asked]] of Object.entries(annotations).entries()) {
      await reserve(name, { v4IpAddress: `10.17.0.${50 + index}` })
      await cluster.user.createPod({ name, annotations: asked })
    }
    await control.settle()
    expect(await cluster.user.addressesOf('same', 'pool')).toEqual([
      expect.stringContaining('10.17.0.50,'),
      expect.stringContaining('10.17.0.51,'),
    ])
    for (const name of ['same', 'pool']) expect(await cluster.user.told(name)).toEqual([])
  })
})

describe('a pod whose reserved address can not be had', () => {
  it.each([
    {
      name: 'since somebody has it',
      fields: { v4IpAddress: '10.17.0.50' },
      why: 'field=spec.v4IpAddress value=10.17.0.50',
      who: 'pod/default/first',
      free: () => cluster.removePod('first'),
    },
    {
      name: 'since it is none of the subnet',
      fields: { v4IpAddress: '10.27.0.50', v6IpAddress: 'fd00:17::50' },
      why: 'field=spec.v4IpAddress value=10.27.0.50',
      who: '10.17.0.0/24',
      free: () =>
        cluster.user.edit(subnetResource, 'blue', { cidrBlock: '10.27.0.0/24,fd00:17::/120', gateway: null }),
    },
    {
      name: 'since the subnet does not exist',
      fields: { subnet: 'green', v4IpAddress: '10.19.0.50' },
      why: 'field=spec.subnet value=green',
      who: 'create the subnet',
      free: () => cluster.client.create(subnetResource, subnet({ name: 'green', cidrBlock: '10.19.0.0/24' })),
    },
  ])('$name waits, is told why, and has it then', async ({ fields, why, who, free }) => {
    await using control = await cluster.startSettled()
    await cluster.user.createPod({ name: 'first', annotations: { [keys.ipAddress.key]: '10.17.0.50' } })
    await control.settle()
    await reserve('db', fields)
    await cluster.user.createPod({ name: 'db' })
    await control.settle()
    const waiting = async () => {
      expect(await cluster.user.addressOf('db')).toBe('')
      const told = await cluster.user.told('db')
      expect(told).toEqual([expect.stringContaining(why)])
      expect(told[0]).toContain(who)
      expect(await cluster.user.told('db.default')).toEqual([expect.stringContaining(who)])
      expect((await read('db'))?.spec).toMatchObject({ subnet: 'blue', ...fields })
    }
    await waiting()
    await control[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    await waiting()
    expect((await read('db'))?.metadata.finalizers).toBeUndefined()

    await free()
    await again.settle()
    expect(await cluster.user.addressOf('db')).toContain(fields.v4IpAddress)
    expect((await read('db'))?.spec).toMatchObject(fields)
  })

  it('has another one as soon as the IP object is deleted', async () => {
    await using control = await cluster.startSettled()
    await reserve('db', { subnet: 'green' })
    await cluster.user.createPod({ name: 'db' })
    await control.settle()
    expect(await cluster.user.addressOf('db')).toBe('')
    await cluster.client.remove(ipResource, { name: 'db.default' })
    await control.settle()
    expect(await cluster.user.addressOf('db')).toBe('10.17.0.2,fd00:17::2')
    expect((await read('db'))?.metadata.labels?.['ovn.kubernetes.io/ip_reserved']).toBe('false')
  })
})

describe('a reservation that loses an address by an edit of its subnet', () => {
  const cidrs = {
    both: '10.27.0.0/24,fd00:27::/120',
    'that of one family': '10.17.0.0/24,fd00:27::/120',
    'one family': '10.17.0.0/24',
  }
  const reserved = { v4IpAddress: '10.17.0.50', v6IpAddress: 'fd00:17::50' }
  const edit = (cidrBlock: string) =>
    cluster.user.edit(subnetResource, 'blue', { cidrBlock, gateway: null, excludeIps: null })

  it.each(Object.entries(cidrs))(
    'of %s is told, keeps what is written, and has it when the CIDR comes back',
    async (_name, cidrBlock) => {
      await using control = await cluster.startSettled()
      await reserve('db', reserved)
      await control.settle()
      const before = await read('db')
      await edit(cidrBlock)
      await control.settle()
      expect(await cluster.user.told('db.default')).toHaveLength(1)
      expect(await read('db')).toEqual(before)
      await control[Symbol.asyncDispose]()
      await cluster.forgetCosts()
      await using again = await cluster.startController()
      await again.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      await cluster.user.createPod({ name: 'db' })
      await again.settle()
      expect(await cluster.user.addressOf('db')).toBe('')
      expect(await cluster.user.told('db.default')).toHaveLength(1)

      await edit('10.17.0.0/24,fd00:17::/120')
      await again.settle()
      expect(await cluster.user.addressOf('db')).toBe('10.17.0.50,fd00:17::50')
      expect((await read('db'))?.spec).toMatchObject(reserved)
    },
  )

  it('leaves a pod alone that runs with it', async () => {
    await using control = await cluster.startSettled()
    await reserve('db', reserved)
    await cluster.user.createPod({ name: 'db' })
    await control.settle()
    const before = [await read('db'), await cluster.user.annotationsOf({ name: 'db' })]
    const port = control.named('Logical_Switch_Port', 'db.default')
    await edit(cidrs.both)
    await control.settle()
    expect([await read('db'), await cluster.user.annotationsOf({ name: 'db' })]).toEqual(before)
    expect(control.named('Logical_Switch_Port', 'db.default')).toEqual(port)
    for (const about of ['db', 'db.default']) expect(await cluster.user.told(about)).toHaveLength(1)
    await edit('10.17.0.0/24,fd00:17::/120')
    await control.settle()
    expect([await read('db'), await cluster.user.annotationsOf({ name: 'db' })]).toEqual(before)
    expect(control.world.ipam.holders('blue', parseIp('10.17.0.50'))).toHaveLength(1)
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
