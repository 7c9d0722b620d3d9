import { isIpv4, parseIp, type Ip } from '@kube-ovn/ip'
import type { Owner } from '@kube-ovn/ipam'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostileSize, keptBytes } from '../testing/cost.ts'
import { anyOpening, placeOfMac, Waiters, type Given } from './waiters.ts'

type Family = 'v4' | 'v6'

interface Wish {
  readonly places: readonly string[]
  readonly families: readonly Family[]
  /** No address but the one of this number. */
  readonly fixed?: number | undefined
  readonly mac?: string | undefined
  /** Takes its MAC address whoever has it. */
  readonly shares?: boolean
  /** What a further NIC asks for, which needs no address. */
  readonly second?: string | undefined
}

interface Holding {
  readonly subnet: string
  readonly addresses: readonly Ip[]
  readonly mac: string | undefined
  /** Of the further NIC. */
  readonly second?: string | undefined
}

const address = (family: Family, number: number): Ip =>
  parseIp(family === 'v4' ? `10.0.0.${number}` : `fd00::${number}`)

const given = (addresses: readonly Ip[], mac?: string): Given => ({
  ...{ v4: addresses.find((one) => isIpv4(one)), v6: addresses.find((one) => !isIpv4(one)), mac },
})

/** Subnets with few addresses, and who asks for them. Keys that are called are looked at later, as the kernel does. */
class Room {
  readonly wishes = new Map<string, Wish>()
  readonly held = new Map<string, Holding>()
  readonly queue = new Set<string>()
  readonly waiters = new Waiters(
    (key) => this.queue.add(key),
    (subnet, one) => {
      if (typeof one !== 'string') return this.#freeIn(subnet).has(one) ? 'anybody' : 'nobody'
      const [first, ...others] = this.#macHolders(subnet, one)
      if (first === undefined) return 'anybody'
      return others.length === 0 ? (first as Owner) : 'nobody'
    },
  )
  looks: string[] = []
  /** Of the subnets that are open. */
  readonly #free = new Map<string, Set<Ip>>()
  readonly #made = new Map<string, number>()

  ask(key: string, wish: Wish | undefined): void {
    if (wish === undefined) this.wishes.delete(key)
    else this.wishes.set(key, wish)
    this.queue.add(key)
  }

  /** Gives a subnet one more address of each family. */
  add(subnet: string): void {
    const number = (this.#made.get(subnet) ?? 0) + 1
    this.#made.set(subnet, number)
    const free = new Set(this.#freeIn(subnet))
    for (const family of both) free.add(address(family, number))
    this.#free.set(subnet, free)
  }

  /** Looks at so many keys of the queue, or at all. */
  work(limit = Number.POSITIVE_INFINITY): void {
    for (let count = 0; count < limit && this.queue.size > 0; count++) {
      if (count > 10_000) throw new Error('turns go round in circles')
      const [key = ''] = this.queue
      this.queue.delete(key)
      this.looks.push(key)
      this.waiters.look(key, () => this.#look(key))
    }
  }

  /** Whether a key has all that it wishes. */
  isServed(key: string): boolean {
    const [wish, held] = [this.wishes.get(key), this.held.get(key)]
    if (wish === undefined) return true
    return held !== undefined && (wish.mac ?? held.mac) === held.mac && wish.second === held.second
  }

  /** Whether what a key lacks is to be had. */
  couldServe(key: string): boolean {
    const [wish, held] = [this.wishes.get(key), this.held.get(key)]
    if (wish === undefined) return false
    if (held === undefined) return 'subnet' in this.#find(key, wish)
    const { mac = held.mac, second } = wish
    return (
      (mac !== held.mac && this.#mayHave(key, held.subnet, mac, wish)) ||
      (second !== held.second && this.#mayHave(key, held.subnet, second))
    )
  }

  /** What is to be had for a wish, or where to wait. */
  #find(key: string, wish: Wish): Holding | { readonly lacks: readonly string[] } {
    const { places, families, fixed, mac } = wish
    const lacks: string[] = []
    for (const subnet of places) {
      const free = this.#freeIn(subnet)
      const addresses = families.flatMap((family) => {
        const numbers = fixed === undefined ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [fixed]
        return numbers.map((number) => address(family, number)).find((one) => free.has(one)) ?? []
      })
      if (!this.#free.has(subnet)) lacks.push(anyOpening)
      else if (addresses.length < families.length) lacks.push(subnet)
      else if (mac !== undefined && !this.#mayHave(key, subnet, mac, wish))
        lacks.push(placeOfMac({ subnet, mac }))
      else return { subnet, addresses, mac }
    }
    return { lacks }
  }

  #look(key: string): void {
    const wish = this.wishes.get(key)
    const held = this.held.get(key)
    if (wish === undefined) {
      this.waiters.end(key)
      if (held === undefined) return
      this.held.delete(key)
      for (const one of held.addresses) this.#freeIn(held.subnet).add(one)
      this.waiters.freed(held.subnet, given(held.addresses, held.mac))
      this.waiters.freed(held.subnet, given([], held.second))
      return
    }
    if (held === undefined) {
      const found = this.#find(key, wish)
      if ('lacks' in found) {
        this.waiters.wait(key, found.lacks)
        return
      }
      for (const one of found.addresses) this.#freeIn(found.subnet).delete(one)
      this.held.set(key, found)
    }
    const lacks = (['mac', 'second'] as const).flatMap((which) => this.#changeMac(key, wish, which))
    if (lacks.length > 0) this.waiters.wait(key, lacks)
    else this.waiters.end(key)
  }

  /** Who has addresses keeps them while it waits for another MAC address. Answers where it has to wait. */
  #changeMac(key: string, wish: Wish, which: 'mac' | 'second'): readonly string[] {
    const held = this.held.get(key)
    const mac = wish[which] ?? held?.[which]
    if (held === undefined || mac === undefined || mac === held[which]) return []
    const { subnet } = held
    if (!this.#mayHave(key, subnet, mac, which === 'mac' ? wish : {})) return [placeOfMac({ subnet, mac })]
    this.held.set(key, { ...held, [which]: mac })
    this.waiters.freed(subnet, given([], held[which]))
    return []
  }

  /** What it has itself stands in nobody's way but that of others. */
  #mayHave(
    key: string,
    subnet: string,
    mac: string | undefined,
    { shares }: Pick<Wish, 'shares'> = {},
  ): boolean {
    return (
      mac === undefined || shares === true || this.#macHolders(subnet, mac).every((holder) => holder === key)
    )
  }

  #macHolders(subnet: string, mac: string): readonly string[] {
    const holders = [...this.held].filter(
      ([, one]) => one.subnet === subnet && [one.mac, one.second].includes(mac),
    )
    return holders.map(([key]) => key)
  }

  #freeIn(subnet: string): Set<Ip> {
    return this.#free.get(subnet) ?? new Set()
  }
}

const both: readonly Family[] = ['v4', 'v6']
const mac = fc.constantFrom(undefined, '02:00:00:00:00:01', '02:00:00:00:00:02')
const wish = fc.record({
  places: fc.constantFrom(['red'], ['blue'], ['red', 'blue']),
  families: fc.constantFrom<readonly Family[]>(both, ['v4'], ['v6']),
  fixed: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  mac,
  shares: fc.constantFrom(false, false, true),
  second: fc.constantFrom(undefined, undefined, '02:00:00:00:00:01'),
})
const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), key, wish }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('change' as const), key, mac }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('go' as const), key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('work' as const), limit: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('open' as const), subnet: fc.constantFrom('red', 'blue') }),
  },
)

function crowded(count: number): Room {
  const room = new Room()
  room.add('red')
  for (let index = 0; index < count; index++) room.ask(`k${index}`, { places: ['red'], families: both })
  room.ask('other', { places: ['blue'], families: both })
  room.work()
  room.looks = []
  return room
}

describe('Waiters', () => {
  it('leave nobody waiting for what is free', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => {
        const room = new Room()
        for (const one of steps) {
          if (one.do === 'work') room.work(one.limit)
          else if (one.do === 'go') room.ask(one.key, undefined)
          else if (one.do === 'ask') {
            // Who has addresses keeps them, whatever it is edited to.
            if (!room.held.has(one.key)) room.ask(one.key, one.wish)
          } else if (one.do === 'change') {
            const asked = room.wishes.get(one.key)
            if (asked !== undefined) room.ask(one.key, { ...asked, mac: one.mac })
          } else {
            room.add(one.subnet)
            room.waiters.opened(one.subnet)
          }
        }
        room.work()
        const waiting = [...room.wishes.keys()].filter((name) => !room.isServed(name))
        expect(waiting.filter((name) => room.couldServe(name))).toEqual([])
        expect([...room.waiters.keys()].sort()).toEqual(waiting.sort())
      }),
      { numRuns: 3000 },
    )
  })

  it('have as many looked at as addresses came free, in turn', () => {
    const room = crowded(100)
    for (const [gone, next] of [
      ['k0', 'k1'],
      ['k1', 'k2'],
    ] as const) {
      room.ask(gone, undefined)
      room.work()
      expect(room.looks.splice(0)).toEqual([gone, next])
    }
  })

  it('have one looked at for a MAC address that comes free, and nobody who waits for another one', () => {
    const room = new Room()
    for (let count = 0; count < 9; count++) room.add('red')
    const [first, second] = ['02:00:00:00:00:01', '02:00:00:00:00:02']
    for (const [name, mac] of [
      ...([
        ['a', first],
        ['b', second],
      ] as const),
      ...([
        ['a1', first],
        ['b1', second],
        ['a2', first],
        ['b2', second],
      ] as const),
    ])
      room.ask(name, { places: ['red'], families: both, mac })
    room.work()
    room.looks = []
    room.ask('a', undefined)
    room.work()
    expect(room.looks.splice(0)).toEqual(['a', 'a1'])
    // The MAC address alone comes free.
    room.ask('b', { places: ['red'], families: both, mac: '02:00:00:00:00:03' })
    room.work()
    expect(room.looks).toEqual(['b', 'b1'])
  })

  it('have nobody looked at for what comes free whom no address can help, and all when a subnet opens', () => {
    const room = crowded(2)
    for (const name of ['lost1', 'lost2']) room.ask(name, { places: ['blue'], families: both })
    room.work()
    room.looks = []
    room.ask('k0', undefined)
    room.work()
    expect(room.looks.splice(0)).toEqual(['k0', 'k1'])
    room.add('blue')
    room.waiters.opened('blue')
    room.work()
    expect(room.looks).toEqual(['other', 'lost1', 'lost2'])
  })

  it('pass a turn on when who has it goes', () => {
    const room = crowded(3)
    room.ask('k0', undefined)
    room.work(1)
    expect([...room.queue]).toEqual(['k1'])
    room.ask('k1', undefined)
    room.work()
    expect([...room.held.keys()]).toEqual(['k2'])
  })

  it.each([
    { name: 'another subnet', to: { places: ['blue'], families: both } },
    {
      name: 'an address that is free, beside the one that came free',
      to: { places: ['red'], families: both, fixed: 3 },
    },
  ])('pass a turn on when who has it asks for something else by then: $name', ({ to }) => {
    const room = crowded(0)
    for (const name of ['has', 'fixed', 'next']) {
      if (name === 'has') room.ask(name, { places: ['red'], families: both })
      else room.ask(name, { places: ['red'], families: both, fixed: 1 })
      room.work()
    }
    room.ask('has', undefined)
    room.work(1)
    expect([...room.queue]).toEqual(['fixed'])
    for (let count = 0; count < 2; count++) room.add('red')
    room.ask('fixed', to)
    room.work()
    expect(room.held.get('next')?.addresses).toEqual([address('v4', 1), address('v6', 1)])
  })

  it('call nobody for what somebody else has taken by then', () => {
    const room = crowded(3)
    room.ask('k0', undefined)
    room.work(1)
    room.queue.clear()
    room.ask('new', { places: ['red'], families: both })
    room.work()
    room.looks = []
    room.queue.add('k1')
    room.work()
    expect([room.looks, [...room.held.keys()]]).toEqual([['k1'], ['new']])
  })

  it('try nobody twice for one address, whoever fails', () => {
    const room = crowded(4)
    const fails = () => {
      throw new Error('broken')
    }
    room.add('red')
    room.waiters.freed('red', given([address('v4', 2), address('v6', 2)]))
    for (const name of ['k1', 'k2', 'k3']) {
      expect([...room.queue]).toEqual([name])
      room.queue.clear()
      expect(() => room.waiters.look(name, fails)).toThrow('broken')
    }
    expect([...room.queue]).toEqual([])
  })

  it('are left alone by what is tried in a copy', () => {
    const room = crowded(3)
    const called: string[] = []
    const fork = room.waiters.fork(
      (name) => called.push(name),
      () => 'anybody',
    )
    fork.freed('red', given([address('v4', 1)]))
    fork.end('k2')
    expect(called).toEqual(['k1'])
    expect([...room.queue]).toEqual([])
    expect([...room.waiters.keys()].sort()).toEqual(['k1', 'k2', 'other'])
  })

  it('remember no subnet in which nobody waits any more', () => {
    const room = new Room()
    let made = 0
    const grown = keptBytes(() => {
      for (let times = 0; times < 20; times++) {
        const subnet = `${'s'.repeat(hostileSize)}${made++}`
        room.ask('a', { places: [subnet], families: both })
        room.work()
        room.ask('a', undefined)
        room.work()
      }
    }, hostileSize)
    room.looks = []
    expect(grown).toBeLessThanOrEqual(hostileSize)
  })
})
