import { sharedGatewayLabel } from '@kube-ovn/annotations'
import { ovnEipResource, subnetResource, type OvnEip } from '@kube-ovn/kube-api'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { node, ovnEip, pod, subnet, type OvnEipFields } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { auditAddresses } from '@kube-ovn/domains-control/address-audit'
import { ControlCluster, laggingClient } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1', 'n2')
  const external = subnet({ name: 'external', cidrBlock: '10.5.204.0/24', gateway: '10.5.204.254' })
  await cluster.client.create(subnetResource, external)
  await cluster.client.create(subnetResource, subnet({ name: 'both', cidrBlock: '10.6.0.0/24,fd00:6::/120' }))
})

const merge = 'application/merge-patch+json'
const nothing = { transactions: 0, writes: [] }

async function make(fields: OvnEipFields): Promise<void> {
  await cluster.client.create(ovnEipResource, ovnEip(fields))
}

async function read(name: string): Promise<OvnEip | undefined> {
  return cluster.client.get(ovnEipResource, { name })
}

async function remove(name: string): Promise<void> {
  await cluster.client.remove(ovnEipResource, { name })
}

/** Its status without the generation that it is about. */
function had(object: OvnEip | undefined): OvnEip['status'] {
  const { observedGeneration: _, ...rest } = object?.status ?? {}
  return rest
}

function ready(object: OvnEip | undefined): string {
  const condition = object?.status?.conditions?.find(({ type }) => type === 'Ready')
  return condition === undefined ? '' : `${condition.status}: ${condition.message ?? ''}`
}

async function usingRange(name: string): Promise<string> {
  const status = (await cluster.client.get(subnetResource, { name }))?.status
  return `${status?.v4usingIPrange ?? ''} ${status?.v6usingIPrange ?? ''}`.trim()
}

describe('an OvnEip', () => {
  it('has addresses of its own choice or of ours, counts, and gives them back', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'auto' })
    await control.settle()
    expect(await cluster.costs()).toEqual({
      transactions: 0,
      writes: ['patch ovn-eips', 'patch ovn-eips/status', 'patch subnets/status'],
    })
    const auto = await read('auto')
    const mac = auto?.status?.macAddress
    expect(auto?.spec).toEqual({ v4Ip: '10.5.204.1', macAddress: mac, type: 'nat' })
    expect(had(auto)).toEqual({ v4Ip: '10.5.204.1', macAddress: mac, type: 'nat', ready: true })
    expect(auto?.status?.observedGeneration).toBe(auto?.metadata.generation)
    expect(auto?.metadata.finalizers).toEqual(['kubeovn.io/kube-ovn-controller'])
    expect(auto?.metadata.labels).toEqual({
      'ovn.kubernetes.io/subnet': 'external',
      'ovn.kubernetes.io/ovn_eip_type': 'nat',
      'ovn.kubernetes.io/eip_v4_ip': '10.5.204.1',
    })
    await make({ name: 'fixed', externalSubnet: 'both', v6Ip: 'fd00:6::50', macAddress: '00:00:5E:00:53:50' })
    await control.settle()
    expect(had(await read('fixed'))).toEqual({
      ...{ v4Ip: '10.6.0.2', v6Ip: 'fd00:6::50', macAddress: '00:00:5E:00:53:50' },
      ...{ type: 'nat', ready: true },
    })
    expect((await read('fixed'))?.metadata.labels).toMatchObject({
      'ovn.kubernetes.io/eip_v6_ip': 'fd00-6--50',
    })
    expect(await usingRange('external')).toBe('10.5.204.1')
    expect(await usingRange('both')).toBe('10.6.0.2 fd00:6::50')
    expect(auditAddresses(control.world)).toEqual([])
    for (const name of ['auto', 'fixed']) await remove(name)
    await control.settle()
    expect(await read('auto')).toBeUndefined()
    expect(await usingRange('external')).toBe('')
    expect(control.problems()).toEqual([])
  })

  it('keeps its addresses over a restart, and a crash before it was told them', async () => {
    await using first = await cluster.startSettled()
    await make({ name: 'auto' })
    await make({ name: 'n1', type: 'lsp' })
    await first.settle()
    await first[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    await using second = await cluster.startController()
    await second.settle()
    expect(await cluster.costs()).toEqual(nothing)

    await second[Symbol.asyncDispose]()
    const { v4Ip = '', macAddress } = (await read('n1'))?.status ?? {}
    const untold = { spec: { v4Ip: null, macAddress: null } }
    await cluster.client.patch(ovnEipResource, { name: 'n1' }, merge, untold)
    const status = { status: null }
    await cluster.client.patch(ovnEipResource, { name: 'n1' }, merge, status, { subresource: 'status' })
    await make({ name: 'early', v4Ip })
    await using third = await cluster.startController()
    await third.settle()
    // Its port is there, so that nobody else has its address.
    expect((await read('n1'))?.status).toMatchObject({ v4Ip, macAddress })
    expect(ready(await read('early'))).toContain('eip/n1')
  })

  it.each([
    ['at another address', { externalSubnet: 'both', v4Ip: '10.6.0.77' }, '10.6.0.77'],
    ['of what can not be', { externalSubnet: 'both', v4Ip: '10.99.0.1' }, undefined],
  ])('has nothing of the one before it when it is made anew at once, %s', async (_, fields, v4Ip) => {
    const { client } = await cluster.openFaultyClient()
    // The end of the one is seen with the begin of the other.
    await using control = await cluster.startSettled({ client: laggingClient(client, () => 150) })
    await make({ name: 'n1', type: 'lsp' })
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'external')).toEqual(['external-ovn-cluster', 'n1'])
    await remove('n1')
    await cluster.client.patch(ovnEipResource, { name: 'n1' }, merge, { metadata: { finalizers: [] } })
    await make({ name: 'n1', type: 'lsp', ...fields })
    await control.settle()
    expect((await read('n1'))?.status?.v4Ip).toBe(v4Ip)
    expect(control.portsOf('Logical_Switch', 'external')).toEqual(['external-ovn-cluster'])
    expect(await usingRange('external')).toBe('')
    expect(auditAddresses(control.world)).toEqual([])
  })

  it('heals what somebody wrote over its status', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'auto' })
    await control.settle()
    const before = await read('auto')
    await cluster.client.patch(ovnEipResource, { name: 'auto' }, merge, {
      metadata: { labels: null, finalizers: [] },
    })
    const status = { status: { v4Ip: '10.5.204.99', macAddress: null, ready: false } }
    await cluster.client.patch(ovnEipResource, { name: 'auto' }, merge, status, { subresource: 'status' })
    await control.settle()
    const after = await read('auto')
    expect(had(after)).toEqual(had(before))
    expect(after?.metadata.labels).toEqual(before?.metadata.labels)
    expect(after?.metadata.finalizers).toEqual(before?.metadata.finalizers)
  })

  it('keeps a subnet that is deleted', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'held' })
    await control.settle()
    await cluster.client.remove(subnetResource, { name: 'external' })
    await control.settle()
    const { status } = (await cluster.client.get(subnetResource, { name: 'external' })) ?? {}
    expect(JSON.stringify(status?.conditions)).toContain('eip/held')
    await remove('held')
    await control.settle()
    expect(await cluster.client.get(subnetResource, { name: 'external' })).toBeUndefined()
  })
})

describe('an OvnEip for a node', () => {
  const port = { name: 'n1', external_ids: { ls: 'external', vendor: 'kube-ovn' } }

  it('has a port that comes and goes with it, comes back as it was, and leaves those of strangers alone', async () => {
    await using control = await cluster.startSettled()
    const { northbound } = cluster
    await northbound.nbctl('lsp-add', 'external', 'stranger')
    await make({ name: 'n1', type: 'lsp', v4Ip: '10.5.204.50', macAddress: '00:00:00:00:50:50' })
    await control.settle()
    const addresses = ['00:00:00:00:50:50 10.5.204.50']
    expect(control.named('Logical_Switch_Port', 'n1')).toMatchObject({ ...port, addresses })
    expect(control.portsOf('Logical_Switch', 'external')).toEqual(['external-ovn-cluster', 'n1', 'stranger'])
    // Ready once the node has the interface.
    expect((await read('n1'))?.status).toMatchObject({ ready: false, type: 'lsp' })
    await northbound.nbctl('set', 'Logical_Switch_Port', 'n1', 'addresses=unknown')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'n1')?.addresses).toEqual(addresses)
    await northbound.nbctl('lsp-del', 'n1')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'n1')).toMatchObject({ ...port, addresses })
    const said = { status: { ready: true } }
    await cluster.client.patch(ovnEipResource, { name: 'n1' }, merge, said, { subresource: 'status' })
    await control.settle()
    expect((await read('n1'))?.status?.ready).toBe(true)
    // What the node says by its label goes before that.
    for (const forwards of ['false', 'true', 'false']) {
      const labels = { [sharedGatewayLabel]: forwards }
      await cluster.client.patch(nodes, { name: 'n1' }, merge, { metadata: { labels } })
      await control.settle()
      expect((await read('n1'))?.status?.ready).toBe(forwards === 'true')
    }
    await remove('n1')
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'external')).toEqual(['external-ovn-cluster', 'stranger'])
    expect(control.problems()).toEqual([])
  })

  it('is adopted where upstream has made the port', async () => {
    const { northbound } = cluster
    await using first = await cluster.startSettled()
    await first[Symbol.asyncDispose]()
    await northbound.nbctl(
      ...['lsp-add', 'external', 'n1', '--', 'set', 'Logical_Switch_Port', 'n1'],
      ...['addresses="00:00:00:aa:bb:cc 10.5.204.77"', 'external_ids={ls=external,vendor=kube-ovn}'],
    )
    const before = await northbound.nbctl(
      '--bare',
      '--columns=_uuid',
      'find',
      'Logical_Switch_Port',
      'name=n1',
    )
    await make({ name: 'n1', type: 'lsp' })
    await using control = await cluster.startController()
    await control.settle()
    const adopted = control.named('Logical_Switch_Port', 'n1')
    expect(adopted?.addresses).toEqual(['00:00:00:aa:bb:cc 10.5.204.77'])
    expect(adopted?._uuid).toBe(before.trim())
    expect((await read('n1'))?.status).toMatchObject({ v4Ip: '10.5.204.77', macAddress: '00:00:00:aa:bb:cc' })
  })

  it('makes way for a port of that name, and has it again', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'web.default', type: 'lsp' })
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'external')).toContain('web.default')
    await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'external')).not.toContain('web.default')
    expect(control.portsOf('Logical_Switch', 'ovn-default')).toContain('web.default')
    expect(ready(await read('web.default'))).toContain('a port of pod default/web')
    await cluster.removePod('web')
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'external')).toContain('web.default')
    expect(ready(await read('web.default'))).toBe('')

    await make({ name: 'node-n3', type: 'lsp' })
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'external')).toContain('node-n3')
    await cluster.client.create(nodes, node({ name: 'n3', addresses: ['172.18.0.13'] }))
    await control.settle()
    expect(control.portsOf('Logical_Switch', 'join')).toContain('node-n3')
    expect(ready(await read('node-n3'))).toContain('a port of node n3')
  })
})

describe('an OvnEip that can not have what it asks for', () => {
  it.each([
    [{ externalSubnet: 'nowhere' }, 'spec.externalSubnet', 'create the Subnet'],
    [{ v4Ip: '10.99.0.1' }, 'AddressOutOfRange', 'choose an address of 10.5.204.0/24'],
    [{ v4Ip: '10.5.204.254' }, 'gateway', 'other than the gateway'],
    [{ v6Ip: 'fd00:6::9' }, 'InvalidIPFamily', 'ask for IPv4'],
    [{ v4Ip: '10.5.204.50' }, 'eip/first', 'choose another address'],
    [{ macAddress: '00:00:5e:00:53:50' }, 'eip/first', 'choose another MAC address'],
  ] as const)('is told so: %j', async (fields, what, cure) => {
    await using control = await cluster.startSettled()
    await make({ name: 'first', v4Ip: '10.5.204.50', macAddress: '00:00:5e:00:53:50' })
    await control.settle()
    await make({ name: 'bad', ...fields })
    await make({ name: 'good' })
    await control.settle()
    expect(ready(await read('bad'))).toContain('False')
    expect(ready(await read('bad'))).toContain(what)
    expect(ready(await read('bad'))).toContain(cure)
    expect(await cluster.user.told('bad')).toHaveLength(1)
    expect((await read('good'))?.status?.v4Ip).toBe('10.5.204.1')
    await remove('bad')
    await control.settle()
    expect(await read('bad')).toBeUndefined()
  })

  it('has it as soon as it can', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'early', externalSubnet: 'later' })
    await make({ name: 'first', v4Ip: '10.5.204.50' })
    await control.settle()
    await make({ name: 'second', v4Ip: '10.5.204.50' })
    await control.settle()
    expect(ready(await read('early'))).toContain('False')
    await cluster.client.create(subnetResource, subnet({ name: 'later', cidrBlock: '10.19.0.0/30' }))
    await remove('first')
    await control.settle()
    expect((await read('early'))?.status?.v4Ip).toBe('10.19.0.2')
    expect(ready(await read('early'))).toBe('')
    expect((await read('second'))?.status?.v4Ip).toBe('10.5.204.50')
  })

  it('keeps what it has when its specification is changed', async () => {
    await using control = await cluster.startSettled()
    await make({ name: 'n1', type: 'lsp', externalSubnet: 'external' })
    await control.settle()
    const before = await read('n1')
    for (const change of [
      { v4Ip: '10.5.204.201' },
      { externalSubnet: 'both' },
      { type: 'nat' },
      { macAddress: '00:00:5e:00:53:99' },
    ]) {
      await cluster.user.edit(ovnEipResource, 'n1', change)
      await control.settle()
      const changed = await read('n1')
      expect(ready(changed)).toContain('does not support change')
      expect({ ...had(changed), conditions: undefined }).toEqual({ ...had(before), conditions: undefined })
      expect(changed?.spec).toMatchObject(change)
      expect(control.portsOf('Logical_Switch', 'external')).toContain('n1')
      await cluster.user.edit(ovnEipResource, 'n1', { ...before?.spec })
      await control.settle()
      expect(ready(await read('n1'))).toBe('')
    }
  })
})
