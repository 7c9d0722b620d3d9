import { speakerApp } from '@kube-ovn/annotations'
import type { BgpPeer, Subnet } from '@kube-ovn/kube-api'
import type { Node, Pod, Service } from '@kube-ovn/kube-api/core'
import { describe, expect, it } from 'vitest'
import { desiredPrefixes, desiredRoutes, prefixesOf, prefixesOfNobody } from './desired.ts'
import { bgpPeer } from './objects-fixture.ts'

const key = 'ovn.kubernetes.io/bgp'

function subnet(name: string, cidrBlock: string, bgp?: string): Subnet {
  return {
    metadata: { name, ...(bgp === undefined ? {} : { annotations: { [key]: bgp } }) },
    spec: { cidrBlock },
    status: { inEffect: { cidrBlock } },
  }
}

/** With addresses by provider, each in the Subnet that is named with them. */
function pod(
  name: string,
  nodeName: string,
  nics: Readonly<Record<string, readonly [addresses: string, subnet: string]>>,
  bgp?: string,
): Pod {
  const annotations = Object.entries(nics).map(([provider, [addresses, logicalSwitch]]) => ({
    [`${provider}.kubernetes.io/allocated`]: 'true',
    [`${provider}.kubernetes.io/ip_address`]: addresses,
    [`${provider}.kubernetes.io/mac_address`]: '00:00:00:5e:00:01',
    [`${provider}.kubernetes.io/logical_switch`]: logicalSwitch,
  }))
  return {
    metadata: {
      ...{ name, namespace: 'shop' },
      annotations: Object.assign({}, ...annotations, bgp === undefined ? {} : { [key]: bgp }),
    },
    spec: { nodeName, containers: [] },
  }
}

function service(name: string, clusterIPs: readonly string[], bgp?: string, type = 'ClusterIP'): Service {
  return {
    metadata: { name, namespace: 'shop', ...(bgp === undefined ? {} : { annotations: { [key]: bgp } }) },
    spec: { type, clusterIPs, clusterIP: clusterIPs[0] ?? '' },
  } as Service
}

function node(name: string, unschedulable = false): Node {
  return { metadata: { name }, spec: { unschedulable } }
}

function speakerOn(nodeName: string, ready = 'True'): Pod {
  return {
    metadata: { name: `speaker-${nodeName}`, namespace: 'kube-system', labels: { app: speakerApp } },
    spec: { nodeName, hostNetwork: true, containers: [] },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  } as Pod
}

const nothing = {
  subnets: [],
  pods: [],
  services: [],
  vips: [],
  nodes: [node('node-1')],
  bgpPeers: [],
  aggregates: false,
}

interface Given {
  readonly nodes?: readonly Node[]
  readonly bgpPeers?: readonly BgpPeer[] | undefined
  readonly aggregates?: boolean
  readonly subnets?: readonly Subnet[]
  readonly pods?: readonly Pod[]
  readonly services?: readonly Service[]
}

function announced(given: Given, nodeName = 'node-1'): readonly string[] {
  const { prefixes, problems } = desiredPrefixes({ ...nothing, nodeName, ...given })
  expect(problems).toEqual([])
  return [...prefixes].toSorted()
}

const drained = {
  nodes: [node('node-1', true), node('node-2')],
  subnets: [subnet('blue', '10.17.0.0/16', 'true')],
  pods: [speakerOn('node-2')],
}

const both = '10.16.0.0/16,fd00:10:16::/112'
const here = pod('web', 'node-1', { ovn: ['10.16.0.5,fd00:10:16::5', 'red'] })
const there = pod('db', 'node-2', { ovn: ['10.16.0.6', 'red'] })

describe('prefixes', () => {
  it.each<[string, Given, readonly string[]]>([
    ['nothing without annotations', { subnets: [subnet('red', both)], pods: [here, there] }, []],
    [
      'a Subnet and all of its Pods, from every node',
      { subnets: [subnet('red', both, 'true')], pods: [here, there] },
      ['10.16.0.0/16', '10.16.0.5/32', '10.16.0.6/32', 'fd00:10:16::/112', 'fd00:10:16::5/128'],
    ],
    [
      'Pods of the own node alone of a Subnet that is local',
      { subnets: [subnet('red', both, 'local')], pods: [here, there] },
      ['10.16.0.5/32', 'fd00:10:16::5/128'],
    ],
    [
      'a Pod by its own annotation, whatever its Subnet says',
      {
        subnets: [subnet('red', both, 'cluster')],
        pods: [pod('a', 'node-2', { ovn: ['10.16.0.7', 'red'] }, 'local')],
      },
      ['10.16.0.0/16', 'fd00:10:16::/112'],
    ],
    [
      'a Pod of a Subnet that has no annotation',
      { subnets: [subnet('red', both)], pods: [pod('a', 'node-2', { ovn: ['10.16.0.7', 'red'] }, 'true')] },
      ['10.16.0.7/32'],
    ],
    [
      'every NIC by its own Subnet',
      {
        subnets: [subnet('red', both), subnet('blue', '10.17.0.0/16', 'local')],
        pods: [pod('a', 'node-1', { ovn: ['10.16.0.7', 'red'], 'net.shop.ovn': ['10.17.0.7', 'blue'] })],
      },
      ['10.17.0.7/32'],
    ],
    [
      'no Pod that has ended, is of the host, or of a Subnet that is not there',
      {
        subnets: [subnet('red', both, 'local')],
        pods: [
          { ...here, spec: { ...here.spec, restartPolicy: 'Never' }, status: { phase: 'Succeeded' } },
          { ...here, spec: { ...here.spec, hostNetwork: true } },
          pod('a', 'node-1', { ovn: ['10.18.0.7', 'gone'] }, 'true'),
        ],
      },
      [],
    ],
    [
      'addresses of Services that ask for it',
      {
        services: [
          service('web', ['10.96.0.7', 'fd00:10:96::7'], 'true'),
          service('db', ['10.96.0.8']),
          service('headless', ['None'], 'true'),
        ],
      },
      ['10.96.0.7/32', 'fd00:10:96::7/128'],
    ],
    [
      'nothing once its Node is gone',
      { nodes: [node('node-2')], subnets: [subnet('red', both, 'true')], pods: [here] },
      [],
    ],
    [
      'on a node that is drained only what no other speaker can announce',
      {
        nodes: [node('node-1', true), node('node-2')],
        subnets: [subnet('red', both, 'local'), subnet('blue', '10.17.0.0/16', 'true')],
        pods: [here, there, speakerOn('node-2')],
        services: [service('web', ['10.96.0.7'], 'true')],
      },
      ['10.16.0.5/32', 'fd00:10:16::5/128'],
    ],
    [
      'all of it on a node that is drained while no other speaker is there',
      {
        nodes: [node('node-1', true), node('node-2'), node('node-3', true)],
        subnets: [subnet('blue', '10.17.0.0/16', 'true')],
        pods: [speakerOn('node-1'), speakerOn('node-2', 'False'), speakerOn('node-3')],
      },
      ['10.17.0.0/16'],
    ],
    [
      'all of it on a node that is drained while no router listens to another speaker',
      { ...drained, bgpPeers: [bgpPeer('node-1', true), bgpPeer('node-2', false)] },
      ['10.17.0.0/16'],
    ],
    [
      'nothing of it on a node that is drained while a router listens to another speaker',
      { ...drained, bgpPeers: [bgpPeer('node-2', false), bgpPeer('node-2', true)] },
      [],
    ],
    [
      'all of it on a node that is drained as long as nobody knows of sessions',
      { ...drained, bgpPeers: undefined },
      ['10.17.0.0/16'],
    ],
    [
      'a Subnet in the place of its Pods while all of them are here',
      { aggregates: true, subnets: [subnet('red', both, 'local')], pods: [here] },
      ['10.16.0.0/16', 'fd00:10:16::/112'],
    ],
    [
      'of a Subnet the families alone that its Pods have',
      {
        aggregates: true,
        subnets: [subnet('red', both, 'local')],
        pods: [pod('a', 'node-1', { ovn: ['10.16.0.7', 'red'] })],
      },
      ['10.16.0.0/16'],
    ],
    [
      'no Subnet a Pod of which is elsewhere',
      { aggregates: true, subnets: [subnet('red', both, 'local')], pods: [here, there] },
      ['10.16.0.5/32', 'fd00:10:16::5/128'],
    ],
  ])('are %s', (_what, given, expected) => {
    expect(announced(given)).toEqual(expected)
  })

  it('are those of Pods while one of them elsewhere says what nobody can make sense of', () => {
    const bad = pod('bad', 'node-2', { ovn: ['10.16.0.7', 'red'] }, 'yes')
    const given = { subnets: [subnet('red', both, 'local')], pods: [here, bad] }
    const { prefixes } = desiredPrefixes({ ...nothing, nodeName: 'node-1', aggregates: true, ...given })
    expect([...prefixes].toSorted()).toEqual(['10.16.0.5/32', 'fd00:10:16::5/128'])
  })

  it('are those in effect, whatever a Subnet was edited to', () => {
    const edited = { ...subnet('red', '10.16.0.0/16', 'true'), spec: { cidrBlock: '10.99.0.0/33' } } as Subnet
    expect(announced({ subnets: [edited] })).toEqual(['10.16.0.0/16'])
    const fresh = { ...edited, status: {} } as Subnet
    expect(announced({ subnets: [fresh] })).toEqual([])
  })

  it('lack what nobody can make sense of, of which is told', () => {
    const bad = pod('bad', 'node-1', { ovn: ['10.16.0.5', 'red'] }, 'yes')
    const worse = pod('worse', 'node-1', { ovn: ['10.16.0.300', 'red'] })
    const { prefixes, problems } = desiredPrefixes({
      ...nothing,
      subnets: [subnet('red', both, 'local'), subnet('blue', '10.17.0.0/16', 'everywhere')],
      pods: [bad, worse, here],
      services: [
        service('web', ['10.96.0.7'], 'local'),
        service('lb', ['10.96.0.8'], 'true', 'LoadBalancer'),
      ],
      nodeName: 'node-1',
    })
    expect([...prefixes]).toEqual(['10.16.0.5/32', 'fd00:10:16::5/128'])
    expect(problems).toMatchObject([
      { object: 'Subnet/blue', field: key, value: 'everywhere' },
      {
        object: 'Pod/shop/bad',
        field: key,
        value: 'yes',
        cure: 'write true, cluster or local, or remove it',
      },
      { object: 'Pod/shop/worse', field: 'ovn.kubernetes.io/ip_address' },
      { object: 'Service/shop/web', field: key, value: 'local' },
      { object: 'Service/shop/lb', field: key },
    ])
  })
})

describe('routes', () => {
  const prefixes = ['10.16.0.5/32', 'fd00:10:16::5/128']
  const routes = (address: string, nextHop: string | undefined, extendedNextHop = false): readonly string[] =>
    desiredRoutes(prefixes, { address, nextHop, extendedNextHop }).map(
      ({ prefix, nextHop }) => `${prefix} via ${nextHop}`,
    )

  it('are of the family of the session, and with extended next hops IPv4 ones over IPv6', () => {
    expect(routes('192.0.2.9', '192.0.2.1')).toEqual(['10.16.0.5/32 via 192.0.2.1'])
    expect(routes('2001:db8::9', '2001:db8::1')).toEqual(['fd00:10:16::5/128 via 2001:db8::1'])
    expect(routes('2001:db8::9', '2001:db8::1', true)).toHaveLength(2)
    expect(routes('192.0.2.9', '192.0.2.1', true)).toHaveLength(1)
    expect(routes('2001:db8::9', undefined, true)).toEqual([])
  })

  it('are wanted before there is a next hop', () => {
    expect(prefixesOf(prefixes, { address: '192.0.2.9', extendedNextHop: false })).toEqual(['10.16.0.5/32'])
    expect(prefixesOf(prefixes, { address: '2001:db8::9', extendedNextHop: true })).toEqual(prefixes)
  })

  it.each([
    ['a neighbour of each family', ['192.0.2.9', '2001:db8::9'], false, {}],
    ['one of IPv4 alone', ['192.0.2.9', '192.0.2.8'], false, { ipv6: 1 }],
    ['one of IPv6 alone', ['2001:db8::9'], false, { ipv4: 1 }],
    ['one of IPv6 that takes IPv4 as well', ['2001:db8::9'], true, {}],
    ['none', [], false, { ipv4: 1, ipv6: 1 }],
  ] as const)(
    'of a family are counted that nobody is told, with %s',
    (_what, addresses, isExtended, counts) => {
      const neighbors = addresses.map((address) => ({ address, extendedNextHop: isExtended }))
      expect(Object.fromEntries(prefixesOfNobody(prefixes, neighbors))).toEqual(counts)
    },
  )

  it('carry what is different for the neighbour', () => {
    const attributes = { communities: ['65000:7'], localPreference: 200 }
    const neighbor = { address: '192.0.2.9', nextHop: '192.0.2.1', extendedNextHop: false, attributes }
    expect(desiredRoutes(prefixes, neighbor)).toEqual([
      { prefix: '10.16.0.5/32', nextHop: '192.0.2.1', ...attributes },
    ])
  })
})
