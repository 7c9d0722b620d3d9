import { formatIpList } from '@kube-ovn/ip'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import { ip, ovnEip, subnet, vip } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { placeOfMac } from '../addresses/waiters.ts'
import { network } from '../testing/networks.ts'
import { changingWorld, type StillObjects } from '../testing/still-world.ts'
import { acceptances } from '../topology/acceptance.ts'
import { keptRouterMacs } from '../topology/attachments.ts'

const mac = '00:00:5e:00:53:01'
const other = '00:00:5e:00:53:02'
const cidrBlock = '10.18.0.0/24'
const byOvn: SubnetSpec = { vlan: 'v10', logicalGateway: true }
const leased: SubnetSpec = { vlan: 'v10', u2oInterconnection: true }
/** Of a router port that is leased, by what the Subnet says. */
const status = {
  u2oInterconnectionIP: '10.18.0.1',
  u2oInterconnectionMAC: mac,
  u2oInterconnectionVPC: 'ovn-cluster',
}

/** A subnet, and who has a turn since. */
function scene(objects: StillObjects = {}, written = cidrBlock) {
  const object = { ...subnet({ name: 'yard', cidrBlock: written }), status }
  const { world, derived, signals, start } = changingWorld({ ...objects, subnets: [object] }, {})
  start()
  const woken: string[] = []
  signals.onRaise((signal, subject) => void (signal === 'turn' && woken.push(subject)))
  const accept = (spec: SubnetSpec, kept?: string) => {
    const inEffect = network('yard', spec.cidrBlock ?? cidrBlock, spec)
    derived.put(acceptances, 'yard', { uid: undefined, inEffect, accepted: inEffect, declined: undefined })
    derived.put(keptRouterMacs, 'yard', kept)
    derived.settle()
  }
  return { world, derived, woken, accept }
}

it.each<[name: string, spec: SubnetSpec, kept: string | undefined, gateway: string | undefined]>([
  ['has another one', byOvn, other, other],
  ['is none of the subnet any more', { vlan: 'v10' }, undefined, undefined],
  ['is leased like those of pods, which need not be for the router', leased, undefined, undefined],
])('gives a turn to who waits for the MAC address of a router port that %s', (_, spec, kept, gateway) => {
  const { world, woken, accept } = scene()
  accept(byOvn, mac)
  expect(world.ipam.gatewayMac('yard')).toBe(mac)
  world.waiters.wait('pod/shop/late', [placeOfMac({ subnet: 'yard', mac })])
  world.waiters.wait('pod/shop/too', [placeOfMac({ subnet: 'yard', mac: other })])
  accept(spec, kept)
  expect([world.ipam.gatewayMac('yard'), woken]).toEqual([gateway, ['pod/shop/late']])
})

it('gives nobody a turn for what the router port keeps, and none for a subnet that is gone', () => {
  const { world, derived, woken, accept } = scene()
  accept(byOvn, mac)
  world.waiters.wait('pod/shop/late', [placeOfMac({ subnet: 'yard', mac })])
  accept({ ...byOvn, enableDHCP: true }, mac)
  derived.put(acceptances, 'yard', {
    uid: undefined,
    ...{ inEffect: undefined, accepted: undefined, declined: undefined },
  })
  derived.settle()
  expect([world.ipam.hasSubnet('yard'), woken]).toEqual([false, []])
})

const eip = ovnEip({ name: 'out', externalSubnet: 'yard', type: 'nat' })
const held: readonly (readonly [nic: string, objects: StillObjects])[] = [
  [
    'web.shop',
    {
      ips: [
        ip({
          ...{ name: 'web.shop', podName: 'web', namespace: 'shop', subnet: 'yard' },
          ...{
            v4IpAddress: '10.18.0.2',
            macAddress: mac,
            labels: { 'ovn.kubernetes.io/ip_reserved': 'false' },
          },
        }),
      ],
    },
  ],
  [
    'vip/front',
    {
      vips: [
        vip({
          ...{ name: 'front', subnet: 'yard', status: { v4ip: '10.18.0.2', mac } },
          labels: { 'ovn.kubernetes.io/subnet': 'yard' },
        }),
      ],
    },
  ],
  ['eip/out', { ovnEips: [{ ...eip, status: { v4Ip: '10.18.0.2', macAddress: mac } }] }],
]

it.each(held)(
  'has %s keep what is recorded when its subnet comes into effect, before anybody draws',
  (nic, objects) => {
    const { world, accept } = scene(objects, '10.18.0.0/33')
    expect(world.ipam.hasSubnet('yard')).toBe(false)
    accept({})
    expect(formatIpList(world.ipam.lease(nic) ?? {})).toBe('10.18.0.2')
  },
)

it.each(held)(
  'has %s keep what an edit took and the next one gives back, before anybody draws',
  (nic, objects) => {
    const { world, accept } = scene(objects)
    accept({})
    accept({ cidrBlock: '10.19.0.0/24' })
    expect(world.ipam.lease(nic)).toBeUndefined()
    accept({})
    expect(formatIpList(world.ipam.lease(nic) ?? {})).toBe('10.18.0.2')
  },
)

it('gives back one family, too', () => {
  const both = '10.18.0.0/24,fd00:18::/120'
  const [[, { ips = [] }] = ['', {}]] = held
  const dual = ips.map((one) => ({ ...one, spec: { ...one.spec, v6IpAddress: 'fd00:18::2' } }))
  const { world, accept } = scene({ ips: dual })
  const lease = () => formatIpList(world.ipam.lease('web.shop') ?? {})
  accept({ cidrBlock: both })
  expect(lease()).toBe('10.18.0.2,fd00:18::2')
  accept({ cidrBlock: '10.18.0.0/24,fd00:19::/120' })
  expect(lease()).toBe('10.18.0.2')
  accept({ cidrBlock: both })
  expect(lease()).toBe('10.18.0.2,fd00:18::2')
})

it('keeps from NICs what a port was leased and goes on with by itself', () => {
  const { world, accept } = scene()
  accept(leased, undefined)
  expect([world.routerMacs.get('yard'), world.ipam.gatewayMac('yard')]).toEqual([mac, undefined])
  accept(byOvn, mac)
  expect([world.routerMacs.get('yard'), world.ipam.gatewayMac('yard')]).toEqual([mac, mac])
})
