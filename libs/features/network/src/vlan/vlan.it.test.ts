import { providerNetworkResource, subnetResource, vlanResource, type Vlan } from '@kube-ovn/kube-api'
import { providerNetwork, subnet, vlan } from '@kube-ovn/testing-builders'
import { ControlCluster } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
})

async function read(name: string): Promise<Vlan | undefined> {
  return cluster.client.get(vlanResource, { name })
}

async function put(name: string, on: string, third: number): Promise<void> {
  await cluster.client.create(subnetResource, subnet({ name, cidrBlock: `172.19.${third}.0/24`, vlan: on }))
}

describe('a Vlan', () => {
  it('says who is on it, at one write for each that comes or goes, and nothing after a restart', async () => {
    {
      await using control = await cluster.startSettled()
      await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
      await put('yard', 'v10', 0)
      await control.settle()
      expect((await read('v10'))?.status).toMatchObject({ subnets: ['yard'] })
      await put('dock', 'v10', 1)
      await control.settle()
      expect((await read('v10'))?.status).toMatchObject({ subnets: ['dock', 'yard'] })
      await cluster.forgetCosts()
      await cluster.client.remove(subnetResource, { name: 'yard' })
      await control.settle()
      expect((await read('v10'))?.status).toMatchObject({ subnets: ['dock'] })
      const { writes } = await cluster.costs()
      expect(writes.filter((write) => JSON.stringify(write).includes('vlans'))).toHaveLength(1)
    }
    {
      await using control = await cluster.startController()
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      expect(control.problems()).toEqual([])
    }
  })

  it('says what is wrong with it, once, until it is not', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(vlanResource, vlan({ name: 'lost', id: 30, provider: 'none' }))
    await control.settle()
    expect(await cluster.user.told('lost')).toEqual([
      expect.stringContaining('create a ProviderNetwork of this name'),
    ])
    expect((await read('lost'))?.status?.conditions).toEqual([
      expect.objectContaining({ type: 'Validated', status: 'False' }),
    ])
    await cluster.user.edit(vlanResource, 'lost', { provider: 'quay' })
    await control.settle()
    expect((await read('lost'))?.status?.conditions).toEqual([])
    expect(await cluster.user.told('lost')).toHaveLength(1)
  })
})

describe('of an underlay as the default subnet', () => {
  const defaultUnderlay = {
    ...{ interface: 'eth1', exchangesLinkName: true, vlan: 'wharf', vlanId: 100 },
    ...{ hasLogicalGateway: false, isInterconnected: true },
  }
  const settings = { defaultUnderlay, defaultProvider: 'harbour' }

  it('is made with its network, once; nobody is told of what was on its way', async () => {
    {
      await using control = await cluster.startSettled({ settings })
      const network = await cluster.client.get(providerNetworkResource, { name: 'harbour' })
      expect(network?.spec).toEqual({ defaultInterface: 'eth1', exchangeLinkName: true })
      expect(await read('wharf')).toMatchObject({
        spec: { id: 100, provider: 'harbour' },
        status: { subnets: ['ovn-default'] },
      })
      const made = await cluster.client.get(subnetResource, { name: 'ovn-default' })
      expect(made?.spec).toMatchObject({ vlan: 'wharf', u2oInterconnection: true, natOutgoing: true })
      expect(made?.spec?.logicalGateway).not.toBe(true)
      expect(made?.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Ready', status: 'True' }),
      )
      expect(control.named('Logical_Switch_Port', 'localnet.ovn-default')).toMatchObject({
        ...{ type: 'localnet', tag: 100, options: { network_name: 'harbour' } },
      })
      expect(await cluster.user.told('ovn-default')).toEqual([])
      expect(await cluster.user.told('wharf')).toEqual([])
      expect(control.problems()).toEqual([])
    }
    {
      await using control = await cluster.startController({ settings })
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      expect(control.problems()).toEqual([])
    }
  })

  it('leaves alone what is there under these names', async () => {
    await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'harbour' }))
    await cluster.client.create(vlanResource, vlan({ name: 'wharf', id: 7, provider: 'quay' }))
    await using control = await cluster.startSettled({ settings })
    expect((await read('wharf'))?.spec).toMatchObject({ id: 7, provider: 'quay' })
    const network = await cluster.client.get(providerNetworkResource, { name: 'harbour' })
    expect(network?.spec).toEqual(providerNetwork({ name: 'harbour' }).spec)
    expect(control.problems()).toEqual([])
  })
})

it('has the default network, where a Vlan names none, and what stands in fields of old', async () => {
  await using control = await cluster.startSettled()
  const old = { name: 'old', provider: '', vlanId: 70, providerInterfaceName: 'quay' }
  await cluster.client.create(vlanResource, vlan(old))
  await cluster.client.create(vlanResource, vlan({ name: 'plain', provider: '', id: 71 }))
  await control.settle()
  const spec = async (name: string) => (await cluster.client.get(vlanResource, { name }))?.spec
  expect(await spec('old')).toMatchObject({ id: 70, provider: 'quay' })
  expect(await spec('plain')).toMatchObject({ id: 71, provider: 'provider' })
})
