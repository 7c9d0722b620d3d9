import { parseCidrList, parseIpList, parseMac } from '@kube-ovn/ip'
import { Ipam, type Lease } from '@kube-ovn/ipam'
import { describe, expect, it } from 'vitest'
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
  const waiters = new Waiters(
    (waiter) => woken.push(waiter),
    (subnet, ip) => ipam.holders(subnet, ip).length === 0,
  )
  const world: AllocatingWorld = { ...stillWorld({}, {}), ipam, waiters, raise: () => undefined }
  return { world, woken, leases: () => [...ipam.leases('s')].sort((a, b) => a.nic.localeCompare(b.nic)) }
}

it('takes one address after the other, and tells the problem of what can not be had', () => {
  const { world } = scene()
  const { snapshot } = allocating(world, 'pod/shop/a', (allocation) => {
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
  world.waiters.wait('pod/shop/waiting', ['s'])
  const { undo } = allocating(world, 'pod/shop/a', (allocation) => {
    allocation.take(claim('a'))
    allocation.release('old', 'pod/shop/old')
    allocation.take(claim('b'))
  })
  expect(leases().map(({ nic }) => nic)).toEqual(['a', 'b'])
  undo()
  expect(leases()).toEqual(before)
  expect(woken).toEqual(['pod/shop/waiting'])
  expect(world.ipam.verify()).toEqual([])
})

it('gives all back when it fails halfway', () => {
  const { world, leases } = scene()
  const before = leases()
  const failing = () =>
    allocating(world, 'pod/shop/a', (allocation) => {
      allocation.take(claim('a'))
      throw new RangeError('halfway')
    })
  expect(failing).toThrow('halfway')
  expect(leases()).toEqual(before)
})

it('wakes nobody for what a NIC has already', () => {
  const { world, woken } = scene()
  world.waiters.wait('pod/shop/waiting', ['s'])
  allocating(world, 'pod/shop/a', (allocation) => allocation.take(claim('old')))
  expect(woken).toEqual([])
})

describe('who can not be given what is asked for', () => {
  const fill = (world: AllocatingWorld) =>
    allocating(world, 'pod/shop/a', (allocation) => ['a', 'b'].map((nic) => allocation.take(claim(nic))))
  const ask = (world: AllocatingWorld, asked: AddressClaim) =>
    allocating(world, asked.owner, (allocation) => {
      try {
        return allocation.take(asked)
      } catch {
        return undefined
      }
    })

  it('waits where it was asked for, and has a turn until it is served', () => {
    const { world, woken } = scene()
    fill(world)
    const late: AddressClaim = { ...claim('late'), owner: 'vip/late' }
    expect(ask(world, late).snapshot).toBeUndefined()
    expect([...world.waiters.keys()]).toEqual(['vip/late'])
    allocating(world, 'pod/shop/old', (allocation) => allocation.release('old', 'pod/shop/old'))
    expect(woken).toEqual(['vip/late'])
    expect(ask(world, late).snapshot?.v4).toEqual(parsed('10.1.0.2')[0])
    expect([...world.waiters.keys()]).toEqual([])
  })

  it('waits for a MAC address that comes free, whoever takes the addresses', () => {
    const { world, woken } = scene()
    const mac = parseMac('00:00:5e:00:53:09')
    const inUse: AddressClaim = { ...claim('has'), choices: [{ subnet: 's', mac }] }
    ask(world, { ...inUse, owner: 'pod/shop/has' })
    ask(world, { ...inUse, nic: 'wants', owner: 'vip/wants' })
    allocating(world, 'pod/shop/has', (allocation) => {
      allocation.release('has', 'pod/shop/has')
      allocation.take({ ...claim('other'), choices: [{ subnet: 's', static: parseIpList('10.1.0.3') }] })
    })
    expect(woken).toContain('vip/wants')
  })
})
