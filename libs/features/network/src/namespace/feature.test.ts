import { describe, expect, it } from 'vitest'
import { network } from '@kube-ovn/domains-control/testing/networks'
import { shownPatches } from '@kube-ovn/domains-control/testing/shown'
import { desiredNamespace } from './feature.ts'

const blue = { ...network('blue', '10.1.0.0/16,fd00:1::/112', { excludeIps: ['10.1.0.9'] }), uid: 'blue-uid' }
const red = { ...network('red', '10.2.0.0/24'), uid: 'red-uid' }

const shop = { name: 'shop', uid: 'u1' }

describe('desiredNamespace', () => {
  it('names subnets, prefixes and excluded addresses, in the same order', () => {
    expect(shownPatches(desiredNamespace({ ...shop, subnets: [blue, red], pools: ['a', 'b'] }))).toEqual([
      {
        object: 'namespaces/shop',
        metadata: {
          annotations: {
            'ovn.kubernetes.io/logical_switch': 'blue,red',
            'ovn.kubernetes.io/cidr': '10.1.0.0/16,fd00:1::/112;10.2.0.0/24',
            'ovn.kubernetes.io/exclude_ips': '10.1.0.1,10.1.0.9,fd00:1::1;10.2.0.1',
            'ovn.kubernetes.io/ip_pool': 'a,b',
          },
        },
      },
    ])
  })

  it('names no pools when there are none', () => {
    const [patch] = shownPatches(desiredNamespace({ ...shop, subnets: [red], pools: [] }))
    expect(patch).toMatchObject({ metadata: { annotations: { 'ovn.kubernetes.io/ip_pool': null } } })
  })

  it('leaves annotations alone while no subnet of it is in effect', () => {
    expect(shownPatches(desiredNamespace({ ...shop, subnets: [], pools: ['a'] }))).toEqual([])
  })

  it('tells of several subnets, there and on each of them, in case that one was meant', () => {
    expect(desiredNamespace({ ...shop, subnets: [red], pools: [] }).events).toEqual([])
    const { events } = desiredNamespace({ ...shop, subnets: [blue, red], pools: [] })
    expect(events.map(({ regarding: { resource, name, uid } }) => [resource.kind, name, uid])).toEqual([
      ['Namespace', 'shop', 'u1'],
      ['Subnet', 'blue', 'blue-uid'],
      ['Subnet', 'red', 'red-uid'],
    ])
    const said = new Set(events.map(({ type, reason, message }) => [type, reason, message].join(' ')))
    expect([...said]).toEqual([
      expect.stringMatching(
        /^Warning NamespaceBoundTwice pods of namespace shop take addresses from the subnets blue, red, tried in this order: if one is meant, leave/,
      ),
    ])
  })
})
