import { podAnnotations } from '@kube-ovn/annotations'
import { providerNetworkResource, subnetResource, vlanResource } from '@kube-ovn/kube-api'
import { namespaces, pods } from '@kube-ovn/kube-api/core'
import { namespace, pod, providerNetwork, subnet, vlan } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()

describe('pods that wait start by themselves', () => {
  const small = subnet({ name: 'small', cidrBlock: '10.18.0.0/30' })
  const inSmall = { [keys.logicalSwitch.key]: 'small' }

  it('when their subnet comes', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(pods, pod({ name: 'early', node: 'n1', annotations: inSmall }))
    await control.settle()
    await cluster.client.create(subnetResource, small)
    await control.settle()
    expect(await cluster.user.addressOf('early')).toBe('10.18.0.2')
  })

  it('when an address becomes free', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(subnetResource, small)
    await control.settle()
    await cluster.client.create(pods, pod({ name: 'one', node: 'n1', annotations: inSmall }))
    await control.settle()
    await cluster.client.create(pods, pod({ name: 'two', node: 'n1', annotations: inSmall }))
    await control.settle()
    expect(await cluster.user.told('two')).toContainEqual(expect.stringContaining('NoAvailableAddress'))
    await cluster.removePod('one')
    await control.settle()
    expect(await cluster.user.addressOf('two')).toBe('10.18.0.2')
  })

  it.each([
    ['goes', {}],
    ['is leased', { u2oInterconnection: true }],
  ])('when the router port whose MAC address they ask for %s', async (_, spec) => {
    await using control = await cluster.startSettled()
    await cluster.client.create(providerNetworkResource, providerNetwork({ name: 'quay' }))
    await cluster.client.create(vlanResource, vlan({ name: 'v10', id: 10 }))
    const fields = { name: 'small', cidrBlock: '10.18.0.0/29', vlan: 'v10', logicalGateway: true }
    await cluster.client.create(subnetResource, subnet(fields))
    await control.settle()
    const mac = control.named('Logical_Router_Port', 'ovn-cluster-small')?.mac ?? ''
    const annotations = { ...inSmall, [keys.macAddress.key]: mac }
    await cluster.user.createPod({ name: 'late', annotations })
    await control.settle()
    expect(await cluster.user.addressOf('late')).toBe('')
    expect(await cluster.user.told('late')).toContainEqual(
      expect.stringContaining('the MAC address is in use'),
    )
    await cluster.user.edit(subnetResource, 'small', { logicalGateway: false, ...spec })
    await control.settle()
    expect(await cluster.user.annotationsOf({ name: 'late' })).toMatchObject({
      [keys.ipAddress.key]: expect.stringMatching(/^10\.18\.0\./),
      [keys.macAddress.key]: mac,
    })
  })

  it('when their namespace is bound to a subnet with room', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(namespaces, namespace({ name: 'shop', labels: { team: 'red' } }))
    await cluster.client.create(subnetResource, { ...small, spec: { ...small.spec, namespaces: ['shop'] } })
    await cluster.client.create(subnetResource, subnet({ name: 'large', cidrBlock: '10.19.0.0/24' }))
    await control.settle()
    for (const name of ['one', 'two', 'three']) {
      await cluster.client.create(pods, pod({ name, namespace: 'shop', node: 'n1' }))
      await control.settle()
    }
    const address = async (name: string): Promise<string | undefined> =>
      (await cluster.client.get(pods, { namespace: 'shop', name }))?.metadata.annotations?.[
        keys.ipAddress.key
      ]
    expect(await Promise.all(['one', 'two', 'three'].map(address))).toEqual([
      '10.18.0.2',
      undefined,
      undefined,
    ])
    const spec = { namespaceSelectors: [{ matchLabels: { team: 'blue' } }] }
    await cluster.client.patch(subnetResource, { name: 'large' }, 'application/merge-patch+json', { spec })
    await control.settle()
    expect(await address('two')).toBeUndefined()
    await cluster.client.patch(namespaces, { name: 'shop' }, 'application/merge-patch+json', {
      metadata: { labels: { team: 'blue' } },
    })
    await control.settle()
    expect(new Set(await Promise.all(['two', 'three'].map(address)))).toEqual(
      new Set(['10.19.0.2', '10.19.0.3']),
    )
  })
})
