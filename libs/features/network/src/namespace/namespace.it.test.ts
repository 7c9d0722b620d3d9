import { namespaceAnnotations } from '@kube-ovn/annotations'
import { subnetResource } from '@kube-ovn/kube-api'
import { namespaces } from '@kube-ovn/kube-api/core'
import { namespace, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

describe('a namespace', () => {
  async function annotationsOf(name: string): Promise<Readonly<Record<string, string>>> {
    return (await cluster.client.get(namespaces, { name }))?.metadata.annotations ?? {}
  }
  const { logicalSwitch, cidr, excludeIps } = namespaceAnnotations

  it('follows the subnets that are bound to it', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    await cluster.client.create(
      namespaces,
      namespace({
        name: 'odd',
        annotations: { [logicalSwitch.key]: 'nowhere', [cidr.key]: ';;;', [excludeIps.key]: '?' },
      }),
    )
    await control.settle()
    const byDefault = {
      [logicalSwitch.key]: 'ovn-default',
      [cidr.key]: '10.16.0.0/16,fd00:10:16::/112',
      [excludeIps.key]: '10.16.0.1,fd00:10:16::1',
    }
    expect(await annotationsOf('shop')).toEqual(byDefault)
    expect(await annotationsOf('odd')).toEqual(byDefault)
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'b', cidrBlock: '10.17.0.0/24', namespaces: ['shop'] }),
    )
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'a', cidrBlock: '10.18.0.0/24', namespaces: ['shop'] }),
    )
    await control.settle()
    expect(await annotationsOf('shop')).toEqual({
      [logicalSwitch.key]: 'a,b',
      [cidr.key]: '10.18.0.0/24;10.17.0.0/24',
      [excludeIps.key]: '10.18.0.1;10.17.0.1',
    })
    expect(await cluster.user.told('shop')).toEqual([
      expect.stringContaining('from the subnets a, b, tried in this order'),
    ])
    for (const name of ['a', 'b'])
      expect(await cluster.user.told(name)).toEqual([
        expect.stringContaining('from the subnets a, b, tried in this order'),
      ])
    await cluster.user.edit(subnetResource, 'b', { namespaces: [] })
    await cluster.client.remove(subnetResource, { name: 'a' })
    await control.settle()
    expect(await annotationsOf('shop')).toEqual(byDefault)

    // All three annotations in one write, and none for what says nothing about subnets.
    await cluster.forgetCosts()
    await cluster.client.create(namespaces, namespace({ name: 'new' }))
    await control.settle()
    expect(await annotationsOf('new')).toEqual(byDefault)
    const metadata = { labels: { team: 'blue' }, annotations: { note: 'x' } }
    await cluster.client.patch(namespaces, { name: 'new' }, 'application/merge-patch+json', { metadata })
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: ['patch namespaces'] })
  })
})

describe('a namespace that a subnet selects by label', () => {
  const selecting = { namespaceSelectors: [{ matchLabels: { team: 'red' } }] }
  async function subnets(): Promise<string | undefined> {
    const { key } = namespaceAnnotations.logicalSwitch
    return (await cluster.client.get(namespaces, { name: 'shop' }))?.metadata.annotations?.[key]
  }
  function label(team: string | null): Promise<unknown> {
    return cluster.client.patch(namespaces, { name: 'shop' }, 'application/merge-patch+json', {
      metadata: { labels: { team } },
    })
  }

  it('is bound while selector and label are there, or it is named', async () => {
    await using control = await cluster.startSettled()
    await cluster.client.create(namespaces, namespace({ name: 'shop' }))
    await cluster.client.create(subnetResource, subnet({ name: 'b', cidrBlock: '10.17.0.0/24' }))
    const steps: readonly (readonly [what: () => Promise<unknown>, want: string])[] = [
      [() => cluster.user.edit(subnetResource, 'b', selecting), 'ovn-default'],
      [() => label('red'), 'b'],
      [() => cluster.user.edit(subnetResource, 'b', { namespaces: ['shop'] }), 'b'],
      [() => cluster.user.edit(subnetResource, 'b', { namespaceSelectors: [] }), 'b'],
      [() => cluster.user.edit(subnetResource, 'b', selecting), 'b'],
      [() => cluster.user.edit(subnetResource, 'b', { namespaces: [] }), 'b'],
      [() => label('blue'), 'ovn-default'],
      [() => label('red'), 'b'],
      [() => label(null), 'ovn-default'],
      [() => cluster.user.edit(subnetResource, 'b', { namespaces: ['shop'] }), 'b'],
      [
        () => cluster.user.edit(subnetResource, 'b', { namespaces: [], namespaceSelectors: [] }),
        'ovn-default',
      ],
    ]
    for (const [act, want] of steps) {
      await act()
      await control.settle()
      expect(await subnets()).toBe(want)
    }
    const { key } = namespaceAnnotations.logicalSwitch
    await cluster.client.patch(namespaces, { name: 'shop' }, 'application/merge-patch+json', {
      metadata: { annotations: { [key]: null } },
    })
    await control.settle()
    expect(await subnets()).toBe('ovn-default')
  })
})
