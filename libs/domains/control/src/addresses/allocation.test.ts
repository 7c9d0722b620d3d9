import { parseCidrList, parseIpList } from '@kube-ovn/ip'
import { Ipam, type Lease } from '@kube-ovn/ipam'
import { expect, it } from 'vitest'
import { stillWorld } from '../testing/still-world.ts'
import type { AllocatingWorld } from '../world.ts'
import { allocating } from './allocation.ts'
import type { AddressClaim } from './placement.ts'
import { Waiters } from './waiters.ts'

const claim = (nic: string): AddressClaim => ({
  nic,
  owner: `pod/shop/${nic}`,
  choices: [{ subnet: 's', drawsUnseen: true }],
  tells: 'most',
})

/** A world with a subnet of three addresses, of which `old` has one, and who is woken in it. */
function scene(): { world: AllocatingWorld; woken: string[]; leases: () => readonly Lease[] } {
  const woken: string[] = []
  const ipam = new Ipam((count) => new Uint8Array(count).map((_, index) => index * 7))
  const [cidrs, gateways] = [parseCidrList('10.1.0.0/29'), parseIpList('10.1.0.1')]
  ipam.setSubnet({ name: 's', cidrs, gateways, excludeIps: ['10.1.0.5..10.1.0.6'] })
  ipam.allocate({ subnet: 's', nic: 'old', owner: 'pod/shop/old' })
  const waiters = new Waiters((key) => woken.push(key))
  const world: AllocatingWorld = { ...stillWorld({}, {}), ipam, waiters, raise: () => undefined }
  return { world, woken, leases: () => [...ipam.leases('s')].sort((a, b) => a.nic.localeCompare(b.nic)) }
}

it('takes one address after the other, and tells the problem of what can not be had', () => {
  const { world } = scene()
  const { snapshot } = allocating(world, (allocation) => {
    const taken = ['a', 'b'].map((nic) => allocation.take(claim(nic)).v4)
    expect(() => allocation.take(claim('c'))).toThrow('NoAvailableAddress')
    return taken
  })
  expect([snapshot, world.ipam.size]).toEqual([[...parsed('10.1.0.3', '10.1.0.4')], 3])
})

const parsed = (...texts: readonly string[]) => texts.map((text) => parseIpList(text).v4)

it('gives all back, and what was given back again, when nothing comes of it, and wakes who waits', () => {
  const { world, woken, leases } = scene()
  const before = leases()
  world.waiters.wait('shop/waiting', ['s'])
  const { undo } = allocating(world, (allocation) => {
    allocation.take(claim('a'))
    allocation.release('old', 'pod/shop/old')
    allocation.take(claim('b'))
  })
  expect(leases().map(({ nic }) => nic)).toEqual(['a', 'b'])
  undo()
  expect(leases()).toEqual(before)
  expect(woken).toEqual(['shop/waiting'])
  expect(world.ipam.verify()).toEqual([])
})

it('gives all back when it fails halfway', () => {
  const { world, leases } = scene()
  const before = leases()
  const failing = () =>
    allocating(world, (allocation) => {
      allocation.take(claim('a'))
      throw new RangeError('halfway')
    })
  expect(failing).toThrow('halfway')
  expect(leases()).toEqual(before)
})

it('wakes nobody for what a NIC has already', () => {
  const { world, woken } = scene()
  world.waiters.wait('shop/waiting', ['s'])
  allocating(world, (allocation) => allocation.take(claim('old')))
  expect(woken).toEqual([])
})
