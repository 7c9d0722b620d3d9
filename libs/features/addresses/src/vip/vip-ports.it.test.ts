import { podAnnotations, vipAnnotations } from '@kube-ovn/annotations'
import { subnetResource, vipResource } from '@kube-ovn/kube-api'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { node, pod, vip, type VipFields } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster, createShop } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => createShop(cluster))

const keys = podAnnotations()

async function make(fields: VipFields): Promise<void> {
  await cluster.client.create(vipResource, vip(fields))
}

async function makePod(
  name: string,
  annotations: Readonly<Record<string, string>>,
  labels = {},
): Promise<void> {
  await cluster.user.createPod({ name, namespace: 'shop', annotations, labels })
}

describe('a Vip that pods share', () => {
  const shared = { [vipAnnotations.shared.key]: 'web' }

  function parents(control: Controller): string | undefined {
    return control.named('Logical_Switch_Port', 'web')?.options['virtual-parents']
  }

  it('has its port again when somebody breaks it, beside foreign ones', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'web', subnet: 'red', namespace: 'shop', v4ip: '10.18.0.200', selector: ['app:web'] })
    await makePod('a', { ...shared, [keys.logicalSwitch.key]: 'red' }, { app: 'web' })
    await control.settle()
    const options = { 'virtual-ip': '10.18.0.200', 'virtual-parents': 'a.shop' }
    const { northbound } = cluster
    await northbound.nbctl('lsp-add', 'red', 'theirs')
    await northbound.nbctl('set', 'Logical_Switch_Port', 'web', 'type=""', 'options:virtual-parents=theirs')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'web')).toMatchObject({ type: 'virtual', options })
    await northbound.nbctl('lsp-del', 'web')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'web')).toMatchObject({ type: 'virtual', options })
    expect(control.portsOf('Logical_Switch', 'red')).toEqual(expect.arrayContaining(['theirs', 'web']))
  })

  it('has a virtual port whose parents follow annotations, labels and pods', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'web', subnet: 'red', namespace: 'shop', v4ip: '10.18.0.200', selector: ['app:web'] })
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'web')).toMatchObject({
      type: 'virtual',
      options: { 'virtual-ip': '10.18.0.200' },
      external_ids: { ls: 'red', vendor: 'kube-ovn' },
    })
    expect(parents(control)).toBeUndefined()

    const inRed = { [keys.logicalSwitch.key]: 'red' }
    await makePod('a', { ...shared, ...inRed, [keys.portSecurity.key]: 'true' }, { app: 'web' })
    await makePod('b', { ...shared, ...inRed }, { app: 'web' })
    await makePod('other-label', { ...shared, ...inRed }, { app: 'db' })
    await makePod('other-subnet', shared, { app: 'web' })
    await cluster.client.create(
      pods,
      pod({
        name: 'other-namespace',
        node: 'n1',
        annotations: { ...shared, ...inRed },
        labels: { app: 'web' },
      }),
    )
    await control.settle()
    expect(parents(control)).toBe('a.shop,b.shop')
    const port = control.named('Logical_Switch_Port', 'a.shop')
    expect(port?.external_ids).toMatchObject({ vips: '10.18.0.200', 'attach-vips': 'true' })
    expect(port?.port_security).toEqual([`${port?.addresses[0]} 10.18.0.200`])
    expect(
      control.named('Logical_Switch_Port', 'other-namespace.default')?.external_ids['vips'],
    ).toBeUndefined()

    await cluster.user.annotate({ name: 'b', namespace: 'shop' }, { [vipAnnotations.shared.key]: null })
    await control.settle()
    expect(parents(control)).toBe('a.shop')
    expect(control.named('Logical_Switch_Port', 'b.shop')?.external_ids['vips']).toBeUndefined()
    await cluster.user.edit(vipResource, 'web', { selector: ['app:db'] })
    await control.settle()
    expect(parents(control)).toBe('other-label.shop')
    await cluster.client.remove(vipResource, { name: 'web' })
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'web')).toBeUndefined()
    expect(control.named('Logical_Switch_Port', 'a.shop')?.external_ids['vips']).toBeUndefined()
    expect(control.problems()).toEqual([])
  })
})

describe('a Vip with a port', () => {
  it('comes back when somebody deletes it, and leaves strangers alone; for a SwitchLBRule the router answers', async () => {
    await using control = await cluster.startSettled()
    const { server } = cluster.northbound
    await server.transact([
      { op: 'insert', table: 'Logical_Switch_Port', 'uuid-name': 'stranger', row: { name: 'stranger' } },
      {
        op: 'mutate',
        table: 'Logical_Switch',
        where: [['name', '==', 'red']],
        mutations: [['ports', 'insert', ['named-uuid', 'stranger']]],
      },
    ])
    await make({ name: 'slb', subnet: 'red', type: 'switch_lb_vip', namespace: 'shop', v4ip: '10.18.0.88' })
    await make({ name: 'hvm', subnet: 'red', type: 'kube_host_vm_vip', v4ip: '10.18.0.89' })
    await control.settle()
    const mac = control.named('Logical_Router_Port', 'ovn-cluster-red')?.mac
    const answered = () => control.named('Logical_Switch_Port', 'red-ovn-cluster')?.options['arp_proxy']
    expect(answered()).toBe('10.18.0.88')
    expect((await cluster.client.get(vipResource, { name: 'slb' }))?.status).toMatchObject({
      mac,
      type: 'switch_lb_vip',
    })
    const onRed = ['hvm.', 'red-ovn-cluster', 'stranger']
    expect(control.portsOf('Logical_Switch', 'red')).toEqual(onRed)

    await server.transact([
      {
        op: 'mutate',
        table: 'Logical_Switch',
        where: [],
        mutations: [['ports', 'delete', ['uuid', control.named('Logical_Switch_Port', 'hvm.')?._uuid ?? '']]],
      },
    ])
    await cluster.northbound.nbctl('remove', 'Logical_Switch_Port', 'red-ovn-cluster', 'options', 'arp_proxy')
    await control.settle()
    expect([control.portsOf('Logical_Switch', 'red'), answered()]).toEqual([onRed, '10.18.0.88'])
    await make({ name: 'more', subnet: 'red', type: 'switch_lb_vip', v4ip: '10.18.0.80' })
    await control.settle()
    expect(answered()).toBe('10.18.0.80 10.18.0.88')

    for (const name of ['slb', 'hvm', 'more']) await cluster.client.remove(vipResource, { name })
    await control.settle()
    expect(answered()).toBeUndefined()
    expect(control.portsOf('Logical_Switch', 'red')).toEqual(['red-ovn-cluster', 'stranger'])
  })

  it('that upstream made is adopted with its ports', async () => {
    await using first = await cluster.startSettled()
    await make({ name: 'slb', subnet: 'red', type: 'switch_lb_vip', namespace: 'shop', v4ip: '10.18.0.88' })
    await make({
      name: 'hvm',
      subnet: 'red',
      type: 'kube_host_vm_vip',
      namespace: 'shop',
      v4ip: '10.18.0.89',
    })
    await make({ name: 'red-vip-10.18.0.90', subnet: 'red', namespace: 'shop', v4ip: '10.18.0.90' })
    await first.settle()
    const ports = first.rows('Logical_Switch_Port', 'name', '_uuid')
    const mac = first.named('Logical_Router_Port', 'ovn-cluster-red')?.mac
    await first[Symbol.asyncDispose]()
    const mutations = [['external_ids', 'delete', ['set', ['owner', 'id']]]]
    // The original gives one that answers two ports.
    const vendor = ['vendor', 'kube-ovn']
    const beside = { name: 'slb', type: 'virtual', external_ids: ['map', [vendor]] }
    const answering = {
      ...{ name: 'slb.shop', addresses: `${mac} 10.18.0.88`, options: ['map', [['arp_proxy', 'true']]] },
      external_ids: ['map', [vendor, ['ls', 'red'], ['pod', 'shop/slb']]],
    }
    await cluster.northbound.server.transact([
      { op: 'mutate', table: 'Logical_Switch_Port', where: [], mutations },
      { op: 'insert', table: 'Logical_Switch_Port', 'uuid-name': 'beside', row: beside },
      { op: 'insert', table: 'Logical_Switch_Port', 'uuid-name': 'answering', row: answering },
      {
        op: 'mutate',
        table: 'Logical_Switch',
        where: [['name', '==', 'red']],
        mutations: ['beside', 'answering'].map((name) => ['ports', 'insert', ['named-uuid', name]]),
      },
    ])
    await using second = await cluster.startController()
    await second.settle()
    expect(second.rows('Logical_Switch_Port', 'name', '_uuid')).toEqual(ports)
    expect(second.portsOf('Logical_Switch', 'red')).toEqual([
      'hvm.shop',
      'red-ovn-cluster',
      'red-vip-10.18.0.90',
    ])
    expect(second.problems()).toEqual([])
  })
})

describe('the name of a Vip', () => {
  it('that is the name of a port of a pod or of a node leaves it to them, with a condition, and the Vip its addresses', async () => {
    await using control = await cluster.startSettled()
    for (const name of ['a.shop', 'node-n2']) await make({ name, subnet: 'red', namespace: 'shop' })
    await control.settle()
    await makePod('a', { [keys.logicalSwitch.key]: 'red' })
    await cluster.client.create(nodes, node({ name: 'n2', addresses: ['172.18.0.12'] }))
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'a.shop')?.external_ids['pod']).toBe('shop/a')
    expect(control.portsOf('Logical_Switch', 'join')).toContain('node-n2')
    for (const name of ['a.shop', 'node-n2']) {
      expect(await cluster.user.told(name)).toEqual([expect.stringContaining(`field=metadata.name`)])
      expect((await cluster.client.get(vipResource, { name }))?.status?.v4ip).not.toBe('')
    }
    await cluster.removePod('a', 'shop')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'a.shop')).toMatchObject({ type: 'virtual' })
  })
})

describe("a subnet's vips", () => {
  it('are virtual ports whose parents are the pods that may take them', async () => {
    await using control = await cluster.startSettled()
    await cluster.user.edit(subnetResource, 'red', { vips: ['10.18.0.100', '10.18.0.10'] })
    await make({ name: 'web', subnet: 'red', namespace: 'shop', v4ip: '10.18.0.50' })
    await control.settle()
    const inRed = { [keys.logicalSwitch.key]: 'red' }
    await makePod('a', { ...inRed, [keys.portVips.key]: '10.18.0.100' })
    await makePod('b', { ...inRed, [vipAnnotations.shared.key]: 'web' })
    await control.settle()
    const options = (name: string) => control.named('Logical_Switch_Port', name)?.options
    expect(options('red-vip-10.18.0.100')).toEqual({
      'virtual-ip': '10.18.0.100',
      'virtual-parents': 'a.shop',
    })
    expect(options('red-vip-10.18.0.10')).toEqual({ 'virtual-ip': '10.18.0.10' })

    await cluster.user.edit(subnetResource, 'red', { vips: ['10.18.0.10', '10.18.0.50'] })
    await control.settle()
    expect(options('red-vip-10.18.0.100')).toBeUndefined()
    expect(options('red-vip-10.18.0.50')?.['virtual-parents']).toBe('b.shop')
    // The Vip's own virtual port is nobody else's business.
    expect(options('web')?.['virtual-parents']).toBe('b.shop')

    await cluster.removePod('b', 'shop')
    await control.settle()
    expect(options('red-vip-10.18.0.50')).toEqual({ 'virtual-ip': '10.18.0.50' })
    await cluster.user.edit(subnetResource, 'red', { vips: ['10.99.0.1'] })
    await control.settle()
    const conditions = (await cluster.client.get(subnetResource, { name: 'red' }))?.status?.conditions
    expect(conditions?.find(({ type }) => type === 'Ready')?.message).toContain('spec.vips "10.99.0.1"')
    expect(options('red-vip-10.18.0.50')).toBeDefined()
  })
})
