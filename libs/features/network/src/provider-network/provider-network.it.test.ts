import { controllerFinalizer, providerNetworkKeysOf } from '@kube-ovn/annotations'
import { providerNetworkResource, subnetResource, vlanResource } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import { providerNetwork, subnet, vlan } from '@kube-ovn/testing-builders'
import { ControlCluster } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
})

async function networkStatus(name: string) {
  return (await cluster.client.get(providerNetworkResource, { name }))?.status
}

it('lists its Vlans as they come and go, and writes nothing after a restart', async () => {
  {
    await using control = await cluster.startSettled()
    await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
    await cluster.client.create(vlanResource, vlan({ name: 'v11', id: 11 }))
    await control.settle()
    expect(await networkStatus('quay')).toMatchObject({ vlans: ['v10', 'v11'] })
    await cluster.client.remove(vlanResource, { name: 'v10' })
    await control.settle()
    expect(await networkStatus('quay')).toMatchObject({ vlans: ['v11'] })
  }
  {
    await using control = await cluster.startController()
    await cluster.forgetCosts()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    await cluster.client.remove(vlanResource, { name: 'v11' })
    await cluster.client.remove(providerNetworkResource, { name: 'quay' })
    await control.settle()
    expect(await networkStatus('quay')).toBeUndefined()
    expect(control.problems()).toEqual([])
  }
})

it('says on which nodes a network is ready, and follows their labels and its selector', async () => {
  await using control = await cluster.startSettled()
  await cluster.user.createNodes('n2', 'n3')
  await control.settle()
  const status = async () => {
    const { ready, readyNodes, notReadyNodes } = (await networkStatus('quay')) ?? {}
    return { ready, readyNodes, notReadyNodes }
  }
  const keys = providerNetworkKeysOf('quay')
  const mark = async (name: string, metadata: object): Promise<void> => {
    await cluster.client.patch(nodes, { name }, 'application/merge-patch+json', { metadata })
  }
  expect(await status()).toEqual({ ready: false, readyNodes: undefined, notReadyNodes: ['n1', 'n2', 'n3'] })
  await mark('n1', { labels: { [keys.ready]: 'true' } })
  await mark('n2', { annotations: { [keys.problem]: 'no link eth1' } })
  await control.settle()
  expect(await status()).toEqual({ ready: false, readyNodes: ['n1'], notReadyNodes: ['n2', 'n3'] })
  const { conditions } = (await networkStatus('quay')) ?? {}
  expect(conditions?.[1]).toMatchObject({ node: 'n2', status: 'False', message: 'no link eth1' })
  await cluster.user.edit(providerNetworkResource, 'quay', { excludeNodes: ['n2', 'n3'] })
  await control.settle()
  expect(await status()).toEqual({ ready: true, readyNodes: ['n1'], notReadyNodes: [] })
  await mark('n1', { annotations: { [keys.exclude]: 'true' } })
  await control.settle()
  expect(await status()).toEqual({ ready: true, readyNodes: [], notReadyNodes: [] })
  await cluster.user.edit(providerNetworkResource, 'quay', {
    nodeSelector: { matchLabels: { rack: 'a' } },
  })
  await mark('n3', { labels: { rack: 'a' }, annotations: { [keys.exclude]: 'true' } })
  await control.settle()
  // A selector stands in the place of annotations, too.
  expect(await status()).toEqual({ ready: false, readyNodes: [], notReadyNodes: ['n3'] })
})

describe('one that is deleted', () => {
  async function read() {
    return cluster.client.get(providerNetworkResource, { name: 'quay' })
  }

  async function inUse(): Promise<string | undefined> {
    const { conditions = [] } = (await networkStatus('quay')) ?? {}
    return conditions.find(({ type, status }) => type === 'Error' && status === 'True')?.message
  }

  async function isReady(name: string): Promise<boolean> {
    const { status } = (await cluster.client.get(subnetResource, { name })) ?? {}
    return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  }

  it('goes at once while nobody is on it, also when somebody was', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
    await control.settle()
    expect((await read())?.metadata.finalizers).toEqual([controllerFinalizer])
    await cluster.client.remove(vlanResource, { name: 'v10' })
    await control.settle()
    expect((await read())?.metadata.finalizers ?? []).toEqual([])
    await cluster.client.remove(providerNetworkResource, { name: 'quay' })
    expect(await read()).toBeUndefined()
    await control.settle()
    expect(control.problems()).toEqual([])
  })

  it('stays while Vlans and subnets are on it, says which, over a restart, and goes by itself', async () => {
    {
      await using control = await cluster.startSettled()
      await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
      await cluster.client.create(
        subnetResource,
        subnet({ name: 'yard', cidrBlock: '172.19.0.0/24', vlan: 'v10' }),
      )
      await control.settle()
      const before = control.named('Logical_Switch_Port', 'localnet.yard')
      expect(before).toMatchObject({ options: { network_name: 'quay' } })
      await cluster.client.remove(providerNetworkResource, { name: 'quay' })
      await control.settle()
      const message =
        'the network has the Vlans v10 and the Subnets yard: delete them, or put them on another network, first'
      expect(await inUse()).toBe(message)
      expect(await cluster.user.told('quay')).toEqual([`ProviderNetworkInUse: ${message}`])
      expect(control.named('Logical_Switch_Port', 'localnet.yard')).toEqual(before)
      expect(await isReady('yard')).toBe(true)
      expect(await cluster.user.told('yard')).toEqual([])
      expect(await networkStatus('quay')).toMatchObject({ vlans: ['v10'], notReadyNodes: ['n1'] })
    }
    {
      await using control = await cluster.startController()
      await cluster.forgetCosts()
      await control.settle()
      expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
      // What is on a Vlan that is gone is there as before.
      await cluster.client.remove(vlanResource, { name: 'v10' })
      await control.settle()
      expect(await inUse()).toContain('the network has the Subnets yard:')
      await cluster.client.remove(subnetResource, { name: 'yard' })
      await control.settle()
      expect(await read()).toBeUndefined()
      expect(control.problems()).toEqual([])
    }
  })
})
