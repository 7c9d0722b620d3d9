import { namespaceAnnotations, podAnnotations } from '@kube-ovn/annotations'
import { ipPoolResource, subnetResource, type IpPool } from '@kube-ovn/kube-api'
import { namespaces } from '@kube-ovn/kube-api/core'
import { ipPool, type IpPoolFields, namespace, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(
    subnetResource,
    subnet({ name: 'blue', cidrBlock: '10.17.0.0/24,fd00:17::/120' }),
  )
})

const keys = podAnnotations()
const nothing = { transactions: 0, writes: [] }

async function make(fields: Partial<IpPoolFields> & { readonly name: string }): Promise<void> {
  await cluster.client.create(ipPoolResource, ipPool({ subnet: 'blue', ips: [], ...fields }))
}

async function read(name: string): Promise<IpPool | undefined> {
  return cluster.client.get(ipPoolResource, { name })
}

function ready(object: IpPool | undefined): string {
  const condition = object?.status?.conditions?.find(({ type }) => type === 'Ready')
  return [condition?.status, condition?.reason, condition?.message ?? ''].join(' ').trim()
}

function countsOf(object: IpPool | undefined): readonly unknown[] {
  const { status } = object ?? {}
  return [
    status?.v4AvailableIPRange,
    status?.v4UsingIPRange,
    status?.v6AvailableIPRange,
    status?.v6UsingIPRange,
  ]
}

/** Pods that take their addresses from the pool. */
const fromPool = { [keys.ipPool.key]: 'some' }

describe('an IPPool', () => {
  it('sets addresses apart for those who name it, counts them, and gives them back', async () => {
    await using control = await cluster.startSettled()
    await make({
      name: 'some',
      ips: ['10.17.0.2..10.17.0.3', '10.17.0.64/30', 'fd00:17::1000/124', 'fd00:17::20'],
    })
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(0)
    const made = await read('some')
    expect(made?.metadata.finalizers).toEqual(['kubeovn.io/kube-ovn-controller'])
    expect(ready(made)).toBe('True UpdateIPAMSucceeded')
    expect(made?.status).toMatchObject({ v4AvailableIPs: 6, v4UsingIPs: 0, v6AvailableIPs: 1, v6UsingIPs: 0 })
    expect(await cluster.user.told('some', 'Normal')).toEqual([
      'UpdateIPAMSucceeded: the addresses are handed out',
    ])

    await cluster.user.createPod({ name: 'named', annotations: fromPool })
    await cluster.user.createPod({ name: 'other', annotations: { [keys.logicalSwitch.key]: 'blue' } })
    await control.settle()
    expect(await cluster.user.addressOf('named')).toBe('10.17.0.2,fd00:17::20')
    expect(await cluster.user.addressOf('other')).toBe('10.17.0.4,fd00:17::2')
    expect(countsOf(await read('some'))).toEqual([
      '10.17.0.3,10.17.0.64-10.17.0.67',
      '10.17.0.2',
      '',
      'fd00:17::20',
    ])

    await cluster.user.createPod({ name: 'full', annotations: fromPool })
    await control.settle()
    expect(await cluster.user.told('full')).toContainEqual(expect.stringContaining('NoAvailableAddress'))
    expect(await cluster.user.told('full')).toContainEqual(expect.stringContaining('pool=some'))
    await cluster.user.edit(ipPoolResource, 'some', {
      ips: ['10.17.0.2..10.17.0.3', 'fd00:17::20..fd00:17::21'],
    })
    await control.settle()
    expect(await cluster.user.addressOf('full')).toBe('10.17.0.3,fd00:17::21')

    for (const name of ['named', 'full']) await cluster.removePod(name)
    await control.settle()
    expect(countsOf(await read('some'))).toEqual(['10.17.0.2-10.17.0.3', '', 'fd00:17::20-fd00:17::21', ''])
    await cluster.client.remove(ipPoolResource, { name: 'some' })
    await control.settle()
    expect(await read('some')).toBeUndefined()
    expect(control.world.ipam.hasPool('blue', 'some')).toBe(false)
    expect(control.world.ipam.verify()).toEqual([])
  })

  it('is kept while somebody has an address of it, says who, and serves no one else', async () => {
    await using control = await cluster.startSettled()
    await make({
      name: 'some',
      ips: ['10.17.0.64..10.17.0.70', 'fd00:17::64..fd00:17::70'],
      enableAddressSet: false,
    })
    await cluster.user.createPod({
      name: 'holder',
      annotations: {
        [keys.logicalSwitch.key]: 'blue',
        [keys.ipAddress.key]: '10.17.0.64,fd00:17::64',
      },
    })
    await control.settle()
    await cluster.client.remove(ipPoolResource, { name: 'some' })
    await control.settle()
    expect(ready(await read('some'))).toContain('False AddressesInUse')
    expect(ready(await read('some'))).toContain('pod/default/holder(10.17.0.64,fd00:17::64)')
    expect(await cluster.user.told('some')).toHaveLength(1)

    await control[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual(nothing)
    await cluster.removePod('holder')
    await again.settle()
    expect(await read('some')).toBeUndefined()
  })

  it('serves a pod that is made anew at once and had another address before', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'some', ips: ['10.17.0.64..10.17.0.70', 'fd00:17::64..fd00:17::70'] })
    await cluster.user.createPod({ name: 'web', annotations: { [keys.logicalSwitch.key]: 'blue' } })
    await control.settle()
    await cluster.removePod('web')
    await cluster.user.createPod({ name: 'web', annotations: fromPool })
    await control.settle()
    expect(await cluster.user.addressOf('web')).toBe('10.17.0.64,fd00:17::64')
  })

  it('that has the family which a pod of its namespace asks for serves it', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    await cluster.user.edit(subnetResource, 'blue', { namespaces: ['shop'] })
    await make({ name: 'a', ips: ['fd00:17::40'], namespaces: ['shop'] })
    await make({ name: 'b', ips: ['10.17.0.64'], namespaces: ['shop'] })
    await control.settle()
    const annotations = { [keys.ipFamily.key]: 'ipv4' }
    await cluster.user.createPod({ name: 'web', namespace: 'shop', annotations })
    await control.settle()
    expect(await cluster.user.addressOf('web', 'shop')).toBe('10.17.0.64')
  })

  it('is in effect before anything is handed out after a restart', async () => {
    await using first = await cluster.startSettled()
    await make({ name: 'some', ips: ['10.17.0.2..10.17.0.9'], enableAddressSet: true })
    await first.settle()
    await first[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using second = await cluster.startController()
    await second.settle()
    expect(await cluster.costs()).toEqual(nothing)
    await second[Symbol.asyncDispose]()
    await cluster.user.createPod({ name: 'p', annotations: { [keys.logicalSwitch.key]: 'blue' } })
    await using third = await cluster.startController()
    await third.settle()
    expect(await cluster.user.addressOf('p')).toBe('10.17.0.10,fd00:17::2')
  })

  it('serves the namespaces that it names, and only them', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    await cluster.user.edit(subnetResource, 'blue', { namespaces: ['shop'] })
    const ips = (n: number) => [`10.17.0.${n}`, `fd00:17::${n}`]
    await make({ name: 'a', ips: ips(64), namespaces: ['shop'] })
    await make({ name: 'b', ips: ips(65), namespaces: ['shop'] })
    await control.settle()
    const annotationOf = async () =>
      (await cluster.client.get(namespaces, { name: 'shop' }))?.metadata.annotations?.[
        namespaceAnnotations.ipPool.key
      ]
    expect(await annotationOf()).toBe('a,b')
    for (const name of ['one', 'two', 'three']) {
      await cluster.user.createPod({ name, namespace: 'shop' })
      await control.settle()
    }
    expect([
      await cluster.user.addressOf('one', 'shop'),
      await cluster.user.addressOf('two', 'shop'),
    ]).toEqual(['10.17.0.64,fd00:17::64', '10.17.0.65,fd00:17::65'])
    expect(await cluster.user.addressOf('three', 'shop')).toBe('')
    expect(await cluster.user.told('three')).toContainEqual(expect.stringContaining('NoAvailableAddress'))
    await cluster.removePod('one', 'shop')
    await control.settle()
    expect(await cluster.user.addressOf('three', 'shop')).toBe('10.17.0.64,fd00:17::64')
    for (const name of ['a', 'b']) await cluster.user.edit(ipPoolResource, name, { namespaces: [] })
    await control.settle()
    expect(await annotationOf()).toBeUndefined()
  })

  it('serves pods of its namespaces that were made with it', async () => {
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    await cluster.user.edit(subnetResource, 'blue', { namespaces: ['shop'] })
    await make({ name: 'a', ips: ['10.17.0.64', 'fd00:17::64'], namespaces: ['shop'] })
    await cluster.user.createPod({ name: 'one', namespace: 'shop' })
    await using control = await cluster.startSettled()
    expect(await cluster.user.addressOf('one', 'shop')).toBe('10.17.0.64,fd00:17::64')

    // One that is full waits, and goes on as soon as another pool serves its namespace.
    await cluster.user.createPod({ name: 'two', namespace: 'shop' })
    await make({ name: 'b', ips: ['10.17.0.65', 'fd00:17::65'] })
    await control.settle()
    expect(await cluster.user.addressOf('two', 'shop')).toBe('')
    await cluster.user.edit(ipPoolResource, 'b', { namespaces: ['shop'] })
    await control.settle()
    expect(await cluster.user.addressOf('two', 'shop')).toBe('10.17.0.65,fd00:17::65')
  })
})

describe('the address set of an IPPool', () => {
  it('follows it, comes back when somebody changes it, and goes with it', async () => {
    await using control = await cluster.startSettled()
    const set = (name = 'some.1') => control.named('Address_Set', name)
    await make({ name: 'some-1', ips: ['10.17.0.1..10.17.0.6', '10.17.0.64/28'], enableAddressSet: true })
    await control.settle()
    expect([...(set()?.addresses ?? [])].sort()).toEqual([
      '10.17.0.1',
      '10.17.0.2/31',
      '10.17.0.4/31',
      '10.17.0.6',
      '10.17.0.64/28',
    ])
    expect(set()?.external_ids).toMatchObject({ ippool: 'some-1', vendor: 'kube-ovn' })
    expect((await cluster.costs()).transactions).toBe(1)

    await cluster.user.edit(ipPoolResource, 'some-1', { ips: ['10.17.0.8/30'] })
    await control.settle()
    expect(set()?.addresses).toEqual(['10.17.0.8/30'])
    await cluster.northbound.nbctl('set', 'Address_Set', 'some.1', 'addresses=10.99.0.1')
    await control.settle()
    expect(set()?.addresses).toEqual(['10.17.0.8/30'])

    await cluster.user.edit(ipPoolResource, 'some-1', { ips: ['10.17.0.8/30', 'fd00:17::9'] })
    await control.settle()
    expect(ready(await read('some-1'))).toContain('False ReconcileAddressSetFailed')
    expect(ready(await read('some-1'))).toContain('make a pool for each family')
    expect(set()?.addresses).toEqual(['10.17.0.8/30'])
    await make({ name: 'some.1', ips: ['10.17.0.200'], enableAddressSet: true })
    await control.settle()
    expect(ready(await read('some.1'))).toContain('that of the IPPool some-1')
    await cluster.user.edit(ipPoolResource, 'some-1', { enableAddressSet: false })
    await control.settle()
    expect(ready(await read('some-1'))).toBe('True UpdateIPAMSucceeded')
    expect(set()?.addresses).toEqual(['10.17.0.200'])
    await cluster.client.remove(ipPoolResource, { name: 'some.1' })
    await control.settle()
    expect(set()).toBeUndefined()
    expect(control.rows('Address_Set', 'name').length).toBeGreaterThan(0)
  })
})

describe('an IPPool that can not be served as it is written', () => {
  it.each([
    [
      { subnet: 'nowhere', ips: ['10.17.0.64'] },
      'subnet nowhere does not exist in IPAM',
      'create the subnet',
    ],
    [
      { ips: ['10.17.0.200'] },
      'ippool bad has conflict IPs with ippool first: 10.17.0.200',
      'remove the addresses',
    ],
    [
      { ips: ['10.99.0.1..10.99.0.5'] },
      'none of its subnet',
      'choose addresses of 10.17.0.0/24,fd00:17::/120',
    ],
    [{ ips: ['10.17.0.9..10.17.0.3'] }, '10.17.0.9..10.17.0.3', 'write the lower address first'],
    [{ ips: ['blue'] }, 'spec.ips', 'write an address'],
    [{ name: '1-bad', ips: ['10.17.0.64'], enableAddressSet: true }, '1-bad', 'begins with a letter'],
  ] as const)('says so: %j', async (fields, what, cure) => {
    await using control = await cluster.startSettled()
    await make({ name: 'first', ips: ['10.17.0.200..10.17.0.210'] })
    await control.settle()
    const { name = 'bad' } = { name: undefined, ...fields }
    await make({ ...fields, ips: [...fields.ips], name })
    await control.settle()
    expect(ready(await read(name))).toMatch(/^False /)
    expect(ready(await read(name))).toContain(what)
    expect(ready(await read(name))).toContain(cure)
    expect(await cluster.user.told(name)).toHaveLength(1)
    expect(ready(await read('first'))).toBe('True UpdateIPAMSucceeded')
    await cluster.client.remove(ipPoolResource, { name })
    await control.settle()
    expect(await read(name)).toBeUndefined()
  })

  it('keeps what it had, over a restart too, and is served once the cause is gone', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'first', ips: ['10.17.0.200..10.17.0.210'] })
    await make({ name: 'some', ips: ['10.17.0.64..10.17.0.70', 'fd00:17::64..fd00:17::70'] })
    await control.settle()
    await cluster.user.edit(ipPoolResource, 'some', {
      ips: ['10.17.0.64..10.17.0.70', 'fd00:17::64..fd00:17::70', '10.17.0.205'],
    })
    await control.settle()
    expect(ready(await read('some'))).toContain('conflict IPs with ippool first')
    await control[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual(nothing)
    await cluster.user.createPod({ name: 'p', annotations: fromPool })
    await again.settle()
    expect(await cluster.user.addressOf('p')).toBe('10.17.0.64,fd00:17::64')
    await cluster.client.remove(ipPoolResource, { name: 'first' })
    await again.settle()
    expect(ready(await read('some'))).toBe('True UpdateIPAMSucceeded')
    expect(countsOf(await read('some'))[0]).toBe('10.17.0.65-10.17.0.70,10.17.0.205')
  })

  it('keeps what it had although it was edited while no controller ran', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'some', ips: ['10.17.0.2..10.17.0.9', 'fd00:17::2..fd00:17::9'] })
    await control.settle()
    await control[Symbol.asyncDispose]()
    await cluster.user.edit(ipPoolResource, 'some', { ips: ['10.17.0.9..10.17.0.2'] })
    await using again = await cluster.startController()
    await again.settle()
    expect(ready(await read('some'))).toContain('write the lower address first')
    await cluster.user.createPod({ name: 'other', annotations: { [keys.logicalSwitch.key]: 'blue' } })
    await cluster.user.createPod({ name: 'p', annotations: fromPool })
    await again.settle()
    expect(await cluster.user.addressesOf('other', 'p')).toEqual([
      '10.17.0.10,fd00:17::a',
      '10.17.0.2,fd00:17::2',
    ])
  })

  it('keeps what it had although another one was edited to have that, while no controller ran', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'another', ips: ['10.17.0.200..10.17.0.210'] })
    await control.settle()
    await make({ name: 'some', ips: ['10.17.0.64..10.17.0.70', 'fd00:17::64..fd00:17::70'] })
    await control.settle()
    await control[Symbol.asyncDispose]()
    // The older one, and the only one of the two that could be served as it is written.
    await cluster.user.edit(ipPoolResource, 'another', { ips: ['10.17.0.64..10.17.0.70'] })
    await cluster.user.edit(ipPoolResource, 'some', { ips: ['10.17.0.70..10.17.0.64'] })
    await using again = await cluster.startController()
    await again.settle()
    expect(ready(await read('another'))).toContain('conflict IPs with ippool some')
    expect(ready(await read('some'))).toContain('write the lower address first')
    expect([again.world.pools.get('some')?.ips, again.world.pools.get('another')?.ips]).toEqual([
      ['10.17.0.64..10.17.0.70', 'fd00:17::64..fd00:17::70'],
      ['10.17.0.200..10.17.0.210'],
    ])
    await cluster.user.edit(ipPoolResource, 'some', { ips: ['10.17.0.80', 'fd00:17::64'] })
    await again.settle()
    expect(ready(await read('another'))).toBe('True UpdateIPAMSucceeded')
    expect(ready(await read('some'))).toBe('True UpdateIPAMSucceeded')
  })

  it('warns of entries without effect, and takes them once the subnet has them', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'some', ips: ['10.17.0.64', '10.17.1.5'] })
    await control.settle()
    expect(ready(await read('some'))).toBe('True UpdateIPAMSucceeded')
    expect(await cluster.user.told('some')).toContainEqual(expect.stringContaining('value=10.17.1.5'))
    await cluster.user.edit(subnetResource, 'blue', { cidrBlock: '10.17.0.0/23,fd00:17::/120' })
    await control.settle()
    expect(countsOf(await read('some'))[0]).toBe('10.17.0.64,10.17.1.5')
  })

  it('refuses another subnet', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'some', ips: ['10.17.0.64'] })
    await control.settle()
    await expect(cluster.user.edit(ipPoolResource, 'some', { subnet: 'ovn-default' })).rejects.toMatchObject({
      details: { answer: expect.stringContaining('subnet is changed') },
    })
  })
})

describe('an IPPool that is named in ip_pool', () => {
  it('need not be there yet, and decides about the subnet', async () => {
    await using control = await cluster.startSettled()
    await cluster.user.createPod({ name: 'early', annotations: fromPool })
    await control.settle()
    expect(await cluster.user.told('early')).toEqual([
      expect.stringMatching(/field=ovn\.kubernetes\.io\/ip_pool pool=some\); create the IPPool/),
    ])
    await make({ name: 'some', ips: ['10.17.0.64/30', 'fd00:17::64'] })
    await control.settle()
    expect(await cluster.user.addressOf('early')).toBe('10.17.0.64,fd00:17::64')
  })

  it('gives no more once it is being deleted', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'some', ips: ['10.17.0.64/30', 'fd00:17::64'] })
    await cluster.user.createPod({ name: 'first', annotations: fromPool })
    await control.settle()
    await cluster.client.remove(ipPoolResource, { name: 'some' })
    await control.settle()
    await cluster.user.createPod({ name: 'late', annotations: fromPool })
    await control.settle()
    expect(await cluster.user.addressOf('late')).toBe('')
    expect(await cluster.user.told('late')).toEqual([expect.stringContaining('this one is being deleted')])
    await cluster.removePod('first')
    await control.settle()
    expect(await read('some')).toBeUndefined()
    await make({ name: 'some', ips: ['10.17.0.64/30', 'fd00:17::64'] })
    await control.settle()
    expect(await cluster.user.addressOf('late')).toBe('10.17.0.64,fd00:17::64')
  })
})
