import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hostileSize, keptBytes } from '../testing/cost.ts'
import { anywhere, Waiters } from './waiters.ts'

type Family = 'v4' | 'v6'

interface Wish {
  readonly places: readonly string[]
  readonly families: readonly Family[]
}

interface Holding {
  readonly subnet: string
  readonly families: readonly Family[]
}

/** Subnets with few addresses, and who asks for them. Keys that are called are looked at later, as the kernel does. */
class Room {
  readonly wishes = new Map<string, Wish>()
  readonly held = new Map<string, Holding>()
  readonly queue = new Set<string>()
  readonly waiters = new Waiters((key) => this.queue.add(key))
  looks: string[] = []
  readonly #free = new Map<string, number>()

  ask(key: string, wish: Wish | undefined): void {
    if (wish === undefined) this.wishes.delete(key)
    else this.wishes.set(key, wish)
    this.queue.add(key)
  }

  add(subnet: string, family: Family): void {
    this.#free.set(`${subnet} ${family}`, this.#freeIn(subnet, family) + 1)
  }

  /** Looks at so many keys of the queue, or at all. */
  work(limit = Number.POSITIVE_INFINITY): void {
    for (let count = 0; count < limit && this.queue.size > 0; count++) {
      if (count > 10_000) throw new Error('turns go round in circles')
      const [key = ''] = this.queue
      this.queue.delete(key)
      this.looks.push(key)
      const before = this.held.get(key)
      this.waiters.look(
        key,
        () => this.#look(key),
        () => (subnet) => {
          const now = this.held.get(key)
          return now !== before && now?.subnet === subnet && now.families.length === 2
        },
      )
    }
  }

  subnetFor({ places, families }: Wish): string | undefined {
    const subnets = places.includes(anywhere) ? ['red', 'blue'] : places
    return subnets.find((subnet) => families.every((family) => this.#freeIn(subnet, family) > 0))
  }

  #look(key: string): void {
    const wish = this.wishes.get(key)
    const held = this.held.get(key)
    if (wish === undefined) {
      this.waiters.end(key)
      if (held === undefined) return
      this.held.delete(key)
      for (const family of held.families) this.add(held.subnet, family)
      this.waiters.freed(held.subnet)
      return
    }
    if (held !== undefined) return
    const subnet = this.subnetFor(wish)
    if (subnet === undefined) {
      this.waiters.wait(key, wish.places)
      return
    }
    for (const family of wish.families)
      this.#free.set(`${subnet} ${family}`, this.#freeIn(subnet, family) - 1)
    this.held.set(key, { subnet, families: wish.families })
    this.waiters.end(key)
  }

  #freeIn(subnet: string, family: Family): number {
    return this.#free.get(`${subnet} ${family}`) ?? 0
  }
}

const both: readonly Family[] = ['v4', 'v6']
const wish = fc.record({
  places: fc.constantFrom(['red'], ['blue'], ['red', 'blue'], [anywhere]),
  families: fc.constantFrom<readonly Family[]>(both, ['v4'], ['v6']),
})
const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('ask' as const), key, wish }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('go' as const), key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('work' as const), limit: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('open' as const), subnet: fc.constantFrom('red', 'blue') }),
  },
)

function crowded(count: number): Room {
  const room = new Room()
  for (const family of both) room.add('red', family)
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
            // What is asked for is not edited: who is there stays as it is.
            if (!room.wishes.has(one.key) && !room.held.has(one.key)) room.ask(one.key, one.wish)
          } else {
            for (const family of both) room.add(one.subnet, family)
            room.waiters.opened(one.subnet)
          }
        }
        room.work()
        const waiting = [...room.wishes].filter(([name]) => !room.held.has(name))
        expect(waiting.filter(([, wanted]) => room.subnetFor(wanted) !== undefined)).toEqual([])
        expect([...room.waiters.keys()].sort()).toEqual(waiting.map(([name]) => name).sort())
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

  it('pass a turn on when who has it goes', () => {
    const room = crowded(3)
    room.ask('k0', undefined)
    room.work(1)
    expect([...room.queue]).toEqual(['k1'])
    room.ask('k1', undefined)
    room.work()
    expect([...room.held.keys()]).toEqual(['k2'])
  })

  it('try nobody twice for one address, whoever fails', () => {
    const room = crowded(4)
    const fails = () => {
      throw new Error('broken')
    }
    room.waiters.freed('red')
    for (const name of ['k1', 'k2', 'k3']) {
      expect([...room.queue]).toEqual([name])
      room.queue.clear()
      expect(() => room.waiters.look(name, fails, () => () => false)).toThrow('broken')
    }
    expect([...room.queue]).toEqual([])
  })

  it('are left alone by what is tried in a copy', () => {
    const room = crowded(3)
    const called: string[] = []
    const fork = room.waiters.fork((name) => called.push(name))
    fork.freed('red')
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
