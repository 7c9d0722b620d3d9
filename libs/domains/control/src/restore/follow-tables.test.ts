import type { SubnetSpec } from '@kube-ovn/kube-api'
import { subnet } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { placeOfMac } from '../addresses/waiters.ts'
import { network } from '../testing/networks.ts'
import { changingWorld } from '../testing/still-world.ts'
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
function scene() {
  const object = { ...subnet({ name: 'yard', cidrBlock }), status }
  const { world, derived, signals, start } = changingWorld({ subnets: [object] }, {})
  start()
  const woken: string[] = []
  signals.onRaise((signal, subject) => void (signal === 'turn' && woken.push(subject)))
  const accept = (spec: SubnetSpec, kept: string | undefined) => {
    const inEffect = network('yard', cidrBlock, spec)
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

it('keeps from NICs what a port was leased and goes on with by itself', () => {
  const { world, accept } = scene()
  accept(leased, undefined)
  expect([world.routerMacs.get('yard'), world.ipam.gatewayMac('yard')]).toEqual([mac, undefined])
  accept(byOvn, mac)
  expect([world.routerMacs.get('yard'), world.ipam.gatewayMac('yard')]).toEqual([mac, mac])
})
