import { podAnnotations } from '@kube-ovn/annotations'
import { subnetResource, vipResource, type Vip } from '@kube-ovn/kube-api'
import { subnet, vip, type VipFields } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { auditAddresses } from '@kube-ovn/domains-control/address-audit'
import { ControlCluster, createShop, laggingClient } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => createShop(cluster))

const merge = 'application/merge-patch+json'
const nothing = { transactions: 0, writes: [] }

async function make(fields: VipFields): Promise<void> {
  await cluster.client.create(vipResource, vip(fields))
}

async function read(name: string): Promise<Vip | undefined> {
  return cluster.client.get(vipResource, { name })
}

async function usingRange(name: string): Promise<string> {
  const status = (await cluster.client.get(subnetResource, { name }))?.status
  return `${status?.v4usingIPrange} ${status?.v6usingIPrange ?? ''}`.trim()
}

/** What nobody but the API server writes is left out. */
function withoutVersions(object: Vip | undefined): unknown {
  const { name, uid, labels, finalizers } = object?.metadata ?? { name: '' }
  return { name, uid, labels, finalizers, spec: object?.spec, status: had(object) }
}

/** Its status without the generation that it is about. */
function had(object: Vip | undefined): Vip['status'] {
  const { observedGeneration: _, ...rest } = object?.status ?? {}
  return rest
}

function ready(object: Vip | undefined): string {
  const condition = object?.status?.conditions?.find(({ type }) => type === 'Ready')
  return condition === undefined ? '' : `${condition.status}: ${condition.message ?? ''}`
}

describe('a reservation', () => {
  it('has addresses of its own choice or of ours, counts, and gives them back', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'auto', subnet: 'blue' })
    await control.settle()
    expect(await cluster.costs()).toEqual({
      transactions: 0,
      writes: ['patch subnets/status', 'patch vips'],
    })
    const auto = await read('auto')
    expect(auto?.spec).toMatchObject({ v4ip: '10.17.0.2', v6ip: 'fd00:17::2', macAddress: auto?.status?.mac })
    expect(had(auto)).toEqual({ v4ip: '10.17.0.2', v6ip: 'fd00:17::2', mac: auto?.spec?.macAddress })
    expect(auto?.metadata.finalizers).toEqual(['kubeovn.io/kube-ovn-controller'])
    expect(auto?.metadata.labels).toEqual({
      'ovn.kubernetes.io/subnet': 'blue',
      'ovn.kubernetes.io/ip_reserved': '',
    })

    await make({ name: 'fixed', subnet: 'blue', v4ip: '10.17.0.77', macAddress: '00:00:5E:00:53:77' })
    await make({ name: 'v6', subnet: 'blue', v6ip: 'fd00:17::88' })
    await control.settle()
    expect(had(await read('fixed'))).toEqual({
      v4ip: '10.17.0.77',
      v6ip: 'fd00:17::3',
      mac: '00:00:5E:00:53:77',
    })
    expect((await read('v6'))?.status).toMatchObject({ v4ip: '10.17.0.3', v6ip: 'fd00:17::88' })
    expect(await usingRange('blue')).toBe('10.17.0.2-10.17.0.3,10.17.0.77 fd00:17::2-fd00:17::3,fd00:17::88')
    expect(control.portsOf('Logical_Switch', 'blue')).toEqual(['blue-ovn-cluster'])

    for (const name of ['auto', 'fixed', 'v6']) await cluster.client.remove(vipResource, { name })
    await control.settle()
    expect(await read('auto')).toBeUndefined()
    expect(await usingRange('blue')).toBe('')
    expect(control.world.ipam.size).toBe(1)
    expect(control.problems()).toEqual([])
  })

  it('keeps its addresses over a restart, and a crash before it was told them', async () => {
    await using first = await cluster.startSettled()
    await make({ name: 'auto', subnet: 'blue' })
    await make({ name: 'slb', subnet: 'blue', type: 'switch_lb_vip' })
    await make({ name: 'host', subnet: 'blue', namespace: 'shop', type: 'kube_host_vm_vip' })
    await first.settle()
    await first[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using second = await cluster.startController()
    await second.settle()
    expect(await cluster.costs()).toEqual(nothing)

    await second[Symbol.asyncDispose]()
    const address = (await read('host'))?.status?.v4ip
    for (const name of ['slb', 'host']) {
      await cluster.client.patch(vipResource, { name }, merge, {
        spec: { v4ip: null, v6ip: null, macAddress: null },
        status: null,
      })
    }
    await cluster.client.remove(vipResource, { name: 'auto' })
    await make({ name: 'early', subnet: 'blue', v4ip: address ?? '' })
    await using third = await cluster.startController()
    await third.settle()
    // Its port is there, so that nobody else has its address.
    expect((await read('host'))?.status?.v4ip).toBe(address)
    expect(ready(await read('early'))).toContain('vip/host')
    // Nothing tells what the one without a port had: the router answers for what it has now, and for nothing else.
    const { v4ip, v6ip } = (await read('slb'))?.status ?? {}
    expect(v4ip).not.toBe(address)
    expect(third.named('Logical_Switch_Port', 'blue-ovn-cluster')?.options['arp_proxy']).toBe(
      `${v4ip} ${v6ip}`,
    )
    expect(await read('auto')).toBeUndefined()
  })

  it('counts on an excluded address as a pod does there: not at all, until it is excluded no more', async () => {
    await using control = await cluster.startSettled()
    const excludeIps = ['10.17.0.2..10.17.0.9', 'fd00:17::5']
    await cluster.user.edit(subnetResource, 'blue', { excludeIps })
    await control.settle()
    const counts = async () => {
      const { status } = (await cluster.client.get(subnetResource, { name: 'blue' })) ?? {}
      return [status?.v4usingIPs, status?.v4availableIPs, status?.v6usingIPs, status?.v6availableIPs]
    }
    await make({ name: 'excluded', subnet: 'blue', v4ip: '10.17.0.5', v6ip: 'fd00:17::5' })
    await make({ name: 'half', subnet: 'blue', v4ip: '10.17.0.6', v6ip: 'fd00:17::2' })
    await cluster.user.createPod({
      name: 'pod',
      namespace: 'shop',
      annotations: { [podAnnotations().ipAddress.key]: '10.17.0.7,fd00:17::3' },
    })
    await control.settle()
    expect(await usingRange('blue')).toBe('fd00:17::2-fd00:17::3')
    expect(await counts()).toEqual([0, 245, 2, 250])
    expect(auditAddresses(control.world)).toEqual([])
    await cluster.user.edit(subnetResource, 'blue', { excludeIps: [] })
    await control.settle()
    expect(await usingRange('blue')).toBe('10.17.0.5-10.17.0.7 fd00:17::2-fd00:17::3,fd00:17::5')
    expect(await counts()).toEqual([3, 250, 3, 250])
    expect(auditAddresses(control.world)).toEqual([])
  })

  it('keeps a subnet that is deleted', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'held', subnet: 'red' })
    await control.settle()
    await cluster.client.remove(subnetResource, { name: 'red' })
    // A watch of Vips may be ahead of that of Subnets.
    await control.settle()
    await make({ name: 'late', subnet: 'red' })
    await control.settle()
    const { status } = (await cluster.client.get(subnetResource, { name: 'red' })) ?? {}
    expect(JSON.stringify(status?.conditions)).toContain('held')
    expect(ready(await read('late'))).toContain('being deleted')
    await cluster.client.remove(vipResource, { name: 'held' })
    await control.settle()
    expect(await cluster.client.get(subnetResource, { name: 'red' })).toBeUndefined()
  })

  it.each([
    [
      'at another address',
      { subnet: 'blue', v4ip: '10.17.0.77' },
      '10.17.0.77',
      ['again', 'blue-ovn-cluster'],
    ],
    ['in another subnet', { subnet: 'blue' }, '10.17.0.2', ['again', 'blue-ovn-cluster']],
    ['of what can not be', { subnet: 'blue', v4ip: '10.99.0.1' }, undefined, ['blue-ovn-cluster']],
  ])('has nothing of the one before it when it is made anew at once, %s', async (_, fields, v4ip, ports) => {
    const { client } = await cluster.openFaultyClient()
    // The end of the one is seen with the begin of the other.
    await using control = await cluster.startSettled({ client: laggingClient(client, () => 150) })
    await make({ name: 'again', subnet: 'red', v4ip: '10.18.0.77', namespace: 'shop' })
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'red')).toEqual(['again', 'red-ovn-cluster'])
    await cluster.client.remove(vipResource, { name: 'again' })
    await cluster.client.patch(vipResource, { name: 'again' }, merge, { metadata: { finalizers: [] } })
    await make({ name: 'again', namespace: 'shop', ...fields })
    await control.settle()
    expect((await read('again'))?.status?.v4ip).toBe(v4ip)
    expect(control.portsOf('Logical_Switch', 'red')).toEqual(['red-ovn-cluster'])
    expect(control.portsOf('Logical_Switch', 'blue')).toEqual(ports)
    expect(await usingRange('red')).toBe('')
    expect(auditAddresses(control.world)).toEqual([])
  })

  it('heals what somebody wrote over its status', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'auto', subnet: 'red' })
    await control.settle()
    const before = await read('auto')
    await cluster.client.patch(vipResource, { name: 'auto' }, merge, {
      status: { v4ip: '10.18.0.99', mac: null },
      metadata: { labels: null, finalizers: [] },
    })
    await control.settle()
    expect(withoutVersions(await read('auto'))).toEqual(withoutVersions(before))
  })
})

it('takes its MAC address in any notation', async () => {
  await using control = await cluster.startSettled()
  await make({ name: 'dashed', subnet: 'blue', macAddress: '00-00-5E-00-53-77' })
  await control.settle()
  expect((await read('dashed'))?.status?.mac).toBe('00:00:5e:00:53:77')
  expect(await cluster.user.told('dashed')).toEqual([])
})

describe('a Vip that a pod borrows', () => {
  it('is held all the while, and lent to one pod at a time', async () => {
    await using control = await cluster.startSettled()
    const borrowing = { namespace: 'shop', annotations: { [podAnnotations().borrowedVip.key]: 'lent' } }
    await cluster.user.createPod({ name: 'early', ...borrowing })
    await control.settle()
    expect(await cluster.user.told('early')).toContainEqual(expect.stringContaining('the Vip does not exist'))
    await make({ name: 'lent', subnet: 'blue', v4ip: '10.17.0.77', v6ip: 'fd00:17::77' })
    await control.settle()
    expect(await cluster.user.addressOf('early', 'shop')).toBe('10.17.0.77,fd00:17::77')
    const vipObject = await read('lent')
    const annotations = await cluster.user.annotationsOf({ name: 'early', namespace: 'shop' })
    expect(annotations[podAnnotations().macAddress.key]).toBe(vipObject?.status?.mac)
    expect(vipObject?.metadata.labels?.['ovn.kubernetes.io/ip_reserved']).toBe('early.shop')
    expect(control.portsOf('Logical_Switch', 'blue')).toEqual(['blue-ovn-cluster', 'early.shop'])
    expect(await usingRange('blue')).toBe('10.17.0.77 fd00:17::77')

    await cluster.user.createPod({ name: 'late', ...borrowing })
    await control.settle()
    expect(await cluster.user.told('late')).toContainEqual(expect.stringContaining('in use by another pod'))
    expect(await cluster.user.told('late')).toContainEqual(expect.stringContaining('pod/shop/early'))

    await control[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual(nothing)

    await cluster.removePod('early', 'shop')
    await again.settle()
    expect(await cluster.user.addressOf('late', 'shop')).toBe('10.17.0.77,fd00:17::77')
    expect((await read('lent'))?.metadata.labels?.['ovn.kubernetes.io/ip_reserved']).toBe('late.shop')
    await cluster.removePod('late', 'shop')
    await again.settle()
    const free = await read('lent')
    expect(free?.metadata.labels?.['ovn.kubernetes.io/ip_reserved']).toBe('')
    expect(had(free)).toEqual(had(vipObject))
    expect(await usingRange('blue')).toBe('10.17.0.77 fd00:17::77')
    expect(again.world.ipam.verify()).toEqual([])
  })
})

describe('a Vip that can not have what it asks for', () => {
  it.each([
    [{ subnet: 'nowhere' }, 'spec.subnet', 'create the Subnet'],
    [{}, 'spec.subnet', 'name the Subnet'],
    [{ subnet: 'blue', type: 'magic' }, 'spec.type', 'write switch_lb_vip or kube_host_vm_vip'],
    [{ subnet: 'blue', v4ip: '10.99.0.1' }, 'AddressOutOfRange', 'choose an address of 10.17.0.0/24'],
    [{ subnet: 'blue', v4ip: '10.17.0.1' }, 'gateway', 'other than the gateway'],
    [{ subnet: 'red', v6ip: 'fd00:17::9' }, 'InvalidIPFamily', 'ask for IPv4'],
    [{ subnet: 'blue', v4ip: '10.17.0.50' }, 'vip/first', 'choose another address'],
    [{ subnet: 'blue', macAddress: '00:00:5e:00:53:50' }, 'vip/first', 'choose another MAC address'],
    [{ subnet: 'blue', namespace: 'shop', selector: ['app=web'] }, 'spec.selector', 'separated by a colon'],
  ] as const)('is told so: %j', async (fields, what, cure) => {
    await using control = await cluster.startSettled()
    await make({ name: 'first', subnet: 'blue', v4ip: '10.17.0.50', macAddress: '00:00:5e:00:53:50' })
    await make({ name: 'bad', ...fields })
    await make({ name: 'good', subnet: 'blue' })
    await control.settle()
    expect(ready(await read('bad'))).toContain('False')
    expect(ready(await read('bad'))).toContain(what)
    expect(ready(await read('bad'))).toContain(cure)
    expect(await cluster.user.told('bad')).toHaveLength(1)
    expect((await read('good'))?.status?.v4ip).toBe('10.17.0.2')
    await cluster.client.remove(vipResource, { name: 'bad' })
    await control.settle()
    expect(await read('bad')).toBeUndefined()
  })

  it('has it as soon as it can', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'early', subnet: 'green' })
    await make({ name: 'first', subnet: 'blue', v4ip: '10.17.0.50' })
    await make({ name: 'second', subnet: 'blue', v4ip: '10.17.0.50' })
    await control.settle()
    expect(ready(await read('early'))).toContain('False')
    await cluster.client.create(subnetResource, subnet({ name: 'green', cidrBlock: '10.19.0.0/30' }))
    await cluster.client.remove(vipResource, { name: 'first' })
    await control.settle()
    expect((await read('early'))?.status?.v4ip).toBe('10.19.0.2')
    expect(ready(await read('early'))).toBe('True: ')
    expect((await read('second'))?.status?.v4ip).toBe('10.17.0.50')
  })

  it('keeps what it has when its specification is changed', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'web', subnet: 'red', namespace: 'shop', v4ip: '10.18.0.200' })
    await control.settle()
    for (const change of [
      { v4ip: '10.18.0.201' },
      { subnet: 'blue' },
      { type: 'switch_lb_vip' },
      { macAddress: '00:00:5e:00:53:99' },
    ]) {
      const before = await read('web')
      await cluster.user.edit(vipResource, 'web', change)
      await control.settle()
      const changed = await read('web')
      expect(ready(changed)).toContain('does not support change')
      expect({ ...had(changed), conditions: undefined }).toEqual({ ...had(before), conditions: undefined })
      expect(control.named('Logical_Switch_Port', 'web')?.options['virtual-ip']).toBe('10.18.0.200')
      await cluster.user.edit(vipResource, 'web', { type: '', ...before?.spec })
      await control.settle()
      expect(ready(await read('web'))).toBe('True: ')
    }
  })
})
