import { parseCidrList, parseIpList, parseMac } from '@kube-ovn/ip'
import { Ipam, NoSubnetError, type Lease } from '@kube-ovn/ipam'
import { describe, expect, it } from 'vitest'
import { stillWorld } from '../testing/still-world.ts'
import type { AllocatingWorld } from '../world.ts'
import { allocating, type Allocation } from './allocation.ts'
import { freed } from './free.ts'
import { helpedIn } from './helped.ts'
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
  const waiters = new Waiters((waiter) => woken.push(waiter), helpedIn(ipam))
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

  describe('a MAC address', () => {
    const mac = parseMac('00:00:5e:00:53:09')
    const inUse: AddressClaim = { ...claim('has'), choices: [{ subnet: 's', mac }] }
    const wants: AddressClaim = { ...inUse, nic: 'wants', owner: 'vip/wants' }
    /** Somebody wants the MAC address that another one has. */
    const start = () => {
      const { world, woken } = scene()
      ask(world, { ...inUse, owner: 'pod/shop/has' })
      ask(world, wants)
      return { world, woken }
    }
    const other: AddressClaim = {
      ...claim('has'),
      choices: [{ subnet: 's', mac: parseMac('00:00:5e:00:53:0a') }],
    }

    it.each<[name: string, act: (allocation: Allocation) => void, woken: readonly string[]]>([
      [
        'is released, whoever takes the addresses',
        (allocation) => {
          allocation.release('has', 'pod/shop/has')
          allocation.take({ ...claim('has'), choices: [{ subnet: 's', static: parseIpList('10.1.0.3') }] })
        },
        ['vip/wants'],
      ],
      ['is changed, and the addresses stay', (allocation) => void allocation.take(other), ['vip/wants']],
      ['stays', (allocation) => void allocation.take(inUse), []],
      [
        'stays, and an address comes free',
        (allocation) =>
          void allocation.take({
            ...inUse,
            choices: [{ subnet: 's', mac, family: 4, static: parseIpList('10.1.0.4') }],
          }),
        [],
      ],
    ])('that is waited for %s', (_, act, expected) => {
      const { world, woken } = start()
      allocating(world, 'pod/shop/has', act)
      expect(woken).toEqual(expected)
    })

    it('is no more waited for once it is there', () => {
      const { world } = start()
      allocating(world, 'pod/shop/has', (allocation) => void allocation.take(other))
      ask(world, wants)
      expect([...world.waiters.keys()]).toEqual([])
    })

    describe('that two share, of whom one has a further NIC that asks for it', () => {
      const shared = { subnet: 's', mac, shareOnConflict: true }
      const mine: AddressClaim = { ...wants, nic: 'mine', choices: [{ ...shared, family: 4 }] }
      const start = () => {
        const { world, woken } = scene()
        world.ipam.release('old', 'pod/shop/old')
        ask(world, { ...inUse, owner: 'pod/shop/has' })
        ask(world, mine)
        const first: AddressClaim = { ...inUse, nic: 'first', owner: 'vip/first' }
        for (const claim of [first, wants]) expect(ask(world, claim).snapshot).toBeUndefined()
        return { world, woken, first }
      }

      it('is the turn of that one once nobody else has it, and of the next when it is given up as well', () => {
        const { world, woken, first } = start()
        allocating(world, 'pod/shop/has', (allocation) => allocation.release('has', 'pod/shop/has'))
        expect(woken.splice(0)).toEqual(['vip/wants'])
        expect(ask(world, wants).snapshot?.mac).toBe(mac)
        allocating(world, 'vip/wants', (allocation) => allocation.release('wants', 'vip/wants'))
        expect(woken.splice(0)).toEqual([])
        allocating(world, 'vip/wants', (allocation) => allocation.release('mine', 'vip/wants'))
        expect(woken).toEqual(['vip/first'])
        expect(ask(world, first).snapshot?.mac).toBe(mac)
      })

      it('is no turn of its own NIC as long as the other has it, nor of one that waits no more', () => {
        const { world, woken } = start()
        allocating(world, 'vip/wants', (allocation) => allocation.release('mine', 'vip/wants'))
        expect(woken).toEqual([])
        world.waiters.end('vip/wants')
        allocating(world, 'pod/shop/has', (allocation) => allocation.release('has', 'pod/shop/has'))
        expect(woken).toEqual(['vip/first'])
      })

      it('was that of the router port', () => {
        const { world, woken } = start()
        world.ipam.setGatewayMac('s', mac)
        allocating(world, 'pod/shop/has', (allocation) => allocation.release('has', 'pod/shop/has'))
        expect(woken).toEqual([])
        world.ipam.setGatewayMac('s', undefined)
        freed('s', { mac }, world)
        expect(woken).toEqual(['vip/wants'])
        expect(ask(world, wants).snapshot?.mac).toBe(mac)
      })
    })

    it('comes free when nothing comes of what took it', () => {
      const { world, woken } = scene()
      const { undo } = allocating(world, 'pod/shop/has', (allocation) => void allocation.take(inUse))
      ask(world, wants)
      undo()
      expect(woken).toEqual(['vip/wants'])
    })
  })

  it.each<[name: string, choices: AddressClaim['choices'], woken: readonly string[]]>([
    ['an address that is held', [{ subnet: 's', static: parseIpList('10.1.0.2') }], ['vip/late']],
    ['an address of no subnet', [{ subnet: 's', static: parseIpList('10.9.0.2') }], []],
    ['the address of the gateway', [{ subnet: 's', static: parseIpList('10.1.0.1') }], []],
    ['a family that the subnet has not', [{ subnet: 's', family: 6 }], []],
    ['a subnet that is not there', [{ subnet: 'gone' }], []],
    ['what can not be asked for', [{ refusal: new NoSubnetError({ subnet: 'gone' }) }], []],
  ])(
    'is not woken by an address that does not help, but by a subnet that opens: %s',
    (_, choices, expected) => {
      const { world, woken } = scene()
      fill(world)
      ask(world, { ...claim('late'), owner: 'vip/late', choices })
      allocating(world, 'pod/shop/old', (allocation) => allocation.release('old', 'pod/shop/old'))
      expect(woken.splice(0)).toEqual(expected)
      if (expected.length > 0) return
      world.waiters.opened('s')
      expect(woken).toEqual(['vip/late'])
    },
  )
})
