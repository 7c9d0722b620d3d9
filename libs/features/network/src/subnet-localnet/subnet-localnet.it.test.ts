import { podAnnotations } from '@kube-ovn/annotations'
import { providerNetworkResource, subnetResource, vlanResource, type SubnetSpec } from '@kube-ovn/kube-api'
import { pods } from '@kube-ovn/kube-api/core'
import { pod, providerNetwork, subnet, vlan } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
  await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
})

const prefixes = '172.19.0.0/24,fd00:172:19::/112'
const inYard = { [podAnnotations().logicalSwitch.key]: 'yard' }

async function make(spec: SubnetSpec = {}): Promise<void> {
  const fields = { name: 'yard', cidrBlock: prefixes, vlan: 'v10', ...spec }
  await cluster.client.create(subnetResource, subnet(fields))
}

async function edit(control: Controller, spec: object): Promise<void> {
  await cluster.user.edit(subnetResource, 'yard', spec)
  await control.settle()
}

function localnet(control: Controller) {
  return control.named('Logical_Switch_Port', 'localnet.yard')
}

function portsOf(control: Controller): readonly string[] {
  return control
    .rows('Logical_Switch_Port', 'name', 'external_ids')
    .filter(({ external_ids }) => external_ids['ls'] === 'yard')
    .map(({ name }) => name)
    .sort()
}

async function vlanStatus(name: string) {
  return (await cluster.client.get(vlanResource, { name }))?.status
}

async function networkStatus(name: string) {
  return (await cluster.client.get(providerNetworkResource, { name }))?.status
}

async function messageOf(): Promise<string | undefined> {
  const { status } = (await cluster.client.get(subnetResource, { name: 'yard' })) ?? {}
  return status?.conditions?.find(({ type, status: is }) => type === 'Validated' && is === 'False')?.message
}

describe('a subnet on a VLAN', () => {
  it('is connected to the physical network, and to no router', async () => {
    await using control = await cluster.startSettled()
    await make()
    await cluster.user.createPod({ name: 'web', annotations: inYard })
    await control.settle()
    expect(localnet(control)).toMatchObject({
      type: 'localnet',
      tag: 10,
      addresses: ['unknown'],
      options: { network_name: 'quay' },
    })
    expect(portsOf(control)).toEqual(['localnet.yard', 'web.default'])
    expect(control.rows('Logical_Router_Port', 'name')).not.toContainEqual({ name: 'ovn-cluster-yard' })
    const policies = control.rows('Logical_Router_Policy', 'match').map(({ match }) => match)
    expect(policies.filter((match) => match.includes('172.19.') || match.includes('yard'))).toEqual([])
    const { annotations = {} } =
      (await cluster.client.get(pods, { namespace: 'default', name: 'web' }))?.metadata ?? {}
    expect(annotations).toMatchObject({
      'ovn.kubernetes.io/vlan_id': '10',
      'ovn.kubernetes.io/provider_network': 'quay',
      'ovn.kubernetes.io/gateway': '172.19.0.1,fd00:172:19::1',
    })
    expect(annotations).not.toHaveProperty(['ovn.kubernetes.io/logical_router'])
    expect(await vlanStatus('v10')).toMatchObject({ subnets: ['yard'] })
    expect(await networkStatus('quay')).toMatchObject({ vlans: ['v10'] })

    await cluster.client.remove(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await cluster.client.remove(subnetResource, { name: 'yard' })
    await control.settle()
    expect(portsOf(control)).toEqual([])
    expect(await vlanStatus('v10')).toMatchObject({ subnets: [] })
    expect(control.problems()).toEqual([])
  })

  it('is routed by OVN if its gateway is one of OVN', async () => {
    await using control = await cluster.startSettled()
    await make({ logicalGateway: true })
    await control.settle()
    expect(portsOf(control)).toEqual(['localnet.yard', 'yard-ovn-cluster'])
    expect(control.named('Logical_Router_Port', 'ovn-cluster-yard')?.networks.toSorted()).toEqual([
      '172.19.0.1/24',
      'fd00:172:19::1/112',
    ])
    await edit(control, { logicalGateway: false })
    expect(portsOf(control)).toEqual(['localnet.yard'])
    expect(control.named('Logical_Router_Port', 'ovn-cluster-yard')).toBeUndefined()
    await edit(control, { vlan: '' })
    expect(portsOf(control)).toEqual(['yard-ovn-cluster'])
  })

  it('follows its Vlan, in the row that there is', async () => {
    await using control = await cluster.startSettled()
    await make()
    await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'pier' }))
    await control.settle()
    const before = localnet(control)
    await cluster.user.edit(vlanResource, 'v10', { id: 0 })
    await control.settle()
    expect(localnet(control)).toEqual({ ...before, tag: undefined })
    await cluster.user.edit(vlanResource, 'v10', { id: 20, provider: 'pier' })
    await control.settle()
    expect(localnet(control)).toEqual({ ...before, tag: 20, options: { network_name: 'pier' } })
    expect(await networkStatus('quay')).toMatchObject({ vlans: [] })
    expect(await networkStatus('pier')).toMatchObject({ vlans: ['v10'] })
  })

  it('writes nothing after a restart, and is put right when somebody breaks it', async () => {
    {
      await using control = await cluster.startSettled()
      await make()
      await control.settle()
      await cluster.forgetCosts()
    }
    {
      await using control = await cluster.startController()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      const before = localnet(control)
      await cluster.northbound.nbctl(
        'set',
        'Logical_Switch_Port',
        'localnet.yard',
        'tag=7',
        'options:network_name=x',
      )
      await control.settle()
      expect(localnet(control)).toEqual(before)
    }
  })

  it('may have addresses that another VLAN, or a router that it is not on, has as well', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(vlanResource, vlan({ name: 'v11', id: 11 }))
    await make()
    const spec = { cidrBlock: prefixes }
    await cluster.client.create(subnetResource, subnet({ name: 'other', vlan: 'v11', ...spec }))
    await cluster.client.create(subnetResource, subnet({ name: 'same', vlan: 'v10', ...spec }))
    await cluster.client.create(subnetResource, subnet({ name: 'over', ...spec }))
    await control.settle()
    const ready = await Promise.all(
      ['yard', 'other', 'same', 'over'].map(async (name) => {
        const { status } = (await cluster.client.get(subnetResource, { name })) ?? {}
        return status?.inEffect !== undefined
      }),
    )
    expect(ready).toEqual([true, true, false, true])
  })
})

describe('what is wrong', () => {
  it.each([
    { name: 'an unknown VLAN', spec: { vlan: 'none' }, cure: 'create a Vlan of this name' },
    {
      name: 'one on an unknown network',
      spec: { vlan: 'lost' },
      cure: 'create a ProviderNetwork of this name',
    },
    { name: 'one whose id another has', spec: { vlan: 'second' }, cure: 'Vlan v10 has this one on quay' },
    {
      name: 'two gateways',
      spec: { logicalGateway: true, u2oInterconnection: true },
      cure: 'u2oInterconnection off',
    },
  ])('is told, and ends by itself: $name', async ({ spec, cure }) => {
    await using control = await cluster.startSettled()
    await cluster.client.create(vlanResource, vlan({ name: 'lost', id: 30, provider: 'none' }))
    await cluster.client.create(vlanResource, vlan({ name: 'second', id: 10 }))
    await make(spec)
    await control.settle()
    expect(await messageOf()).toContain(cure)
    expect(localnet(control)).toBeUndefined()
    expect(await vlanStatus('second')).toMatchObject({ conflict: true })
    await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'none' }))
    await cluster.client.create(vlanResource, vlan({ name: 'none', id: 40 }))
    await cluster.user.edit(vlanResource, 'second', { id: 50 })
    if ('logicalGateway' in spec) await edit(control, { u2oInterconnection: false })
    await control.settle()
    expect(await messageOf()).toBeUndefined()
    expect(localnet(control)).toBeDefined()
    expect(await vlanStatus('second')).toMatchObject({ conflict: false })
  })

  it('leaves running pods as they are: a Vlan that is gone, or comes to contradict another', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(vlanResource, vlan({ name: 'v11', id: 11 }))
    await make()
    await control.settle()
    const before = localnet(control)
    await cluster.user.edit(vlanResource, 'v10', { id: 11 })
    await control.settle()
    expect(localnet(control)).toEqual(before)
    expect(await messageOf()).toContain('Vlan v11 has this one on quay')
    expect(await cluster.user.told('v10')).toEqual([
      expect.stringContaining('ValidateVlanFailed: spec.id "11"'),
    ])
    await cluster.client.remove(vlanResource, { name: 'v10' })
    await cluster.client.remove(providerNetworkResource, { name: 'quay' })
    await control.settle()
    expect(localnet(control)).toEqual(before)
    expect(await messageOf()).toContain('create a Vlan of this name')
  })

  it.each([
    {
      what: 'Vlan',
      take: () => cluster.client.remove(vlanResource, { name: 'v10' }),
      giveBack: () => cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 })),
      cure: 'create a Vlan of this name',
    },
    {
      what: 'ProviderNetwork',
      // Nobody else takes one that is in use.
      take: async () => {
        const ref = { name: 'quay' }
        await cluster.client.remove(providerNetworkResource, ref)
        const metadata = { finalizers: null }
        await cluster.client.patch(providerNetworkResource, ref, 'application/merge-patch+json', { metadata })
      },
      giveBack: () => cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' })),
      cure: 'create a ProviderNetwork of this name',
    },
  ])(
    'tells of a $what that is gone in use, and goes on by itself once there is one again',
    async ({ take, giveBack, cure }) => {
      await using control = await cluster.startSettled()
      await make()
      await cluster.client.create(pods, pod({ name: 'web', node: 'n1', annotations: inYard }))
      await control.settle()
      const before = [localnet(control), portsOf(control)]
      await take()
      await control.settle()
      expect([localnet(control), portsOf(control)]).toEqual(before)
      expect(await messageOf()).toContain(cure)
      expect(await cluster.user.told('yard')).toEqual([expect.stringContaining(cure)])
      await giveBack()
      await control.settle()
      expect([localnet(control), portsOf(control)]).toEqual(before)
      expect(await messageOf()).toBeUndefined()
      expect((await vlanStatus('v10'))?.conditions ?? []).toEqual([])
      expect((await networkStatus('quay'))?.vlans).toEqual(['v10'])
      expect(control.problems()).toEqual([])
    },
  )
})
