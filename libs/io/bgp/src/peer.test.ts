import fc from 'fast-check'
import { ManualClock } from '@kube-ovn/time'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Connection } from './connection.ts'
import type { PeerDependencies } from './peer.ts'
import type { GracefulRestartOptions, PeerOptions } from './peer-options.ts'
import type { Peer } from './peer.ts'
import { makePeer, routes, settle } from './peer-fixture.ts'
import { RemoteRouter } from './testing/remote-router.ts'
import type { Route } from './route.ts'
import { updateOf } from './update-message.ts'

let clock: ManualClock
let router: RemoteRouter
let dialled: number

beforeEach(() => {
  clock = new ManualClock()
  router = new RemoteRouter(65_001)
  dialled = 0
})

function peerOf(
  options: Partial<PeerOptions> = {},
  gracefulRestart?: GracefulRestartOptions,
  reach = (): boolean => true,
  changed: PeerDependencies['changed'] = () => undefined,
): Peer {
  return makePeer({ clock, changed, dial }, options, gracefulRestart)

  function dial(): Promise<Connection> {
    dialled++
    return reach() ? Promise.resolve(router.connection()) : Promise.reject(new Error('ECONNREFUSED'))
  }
}

async function established(peer: Peer): Promise<void> {
  peer.start()
  await settle()
  router.establish()
}

/** Second by second, as a dial that is under way has its time-out. */
async function untilDialledAgain(): Promise<void> {
  const before = dialled
  for (let second = 0; second < 300; second++) {
    await settle()
    if (dialled !== before) break
    clock.advance(1_000)
  }
  await settle()
}

describe('a session', () => {
  it('comes about, and tells all routes and that these are all', async () => {
    const peer = peerOf()
    peer.announce(routes)
    await established(peer)
    expect(router.ofType('open')).toMatchObject([{ as: 65_000, holdTimeS: 90, identifier: '192.0.2.1' }])
    expect([...router.table]).toEqual(routes.map(({ prefix, nextHop }) => [prefix, nextHop]))
    expect(router.ended).toEqual(['ipv4', 'ipv6'])
    expect(peer.status).toMatchObject({
      ...{ state: 'established', wanted: 2, advertised: 2, untellable: 0, flaps: 0 },
      sent: { open: 1, update: 4, keepalive: 1, total: 6 },
      received: { open: 1, keepalive: 1, total: 2 },
      agreement: { holdTimeS: 90, identifier: '192.0.2.9', hasFourOctetAs: true },
    })
  })

  it('says 23456 in the place of a number of four bytes, and its own in the capability', async () => {
    const dial = async () => router.connection()
    const peer = makePeer({ clock, dial }, { families: ['ipv4'] }, undefined, 4_200_000_000)
    await established(peer)
    expect(router.ofType('open')).toMatchObject([{ as: 4_200_000_000 }])
    peer.announce(routes)
    expect(router.ofType('update')[0]?.path?.asPath).toEqual([{ kind: 'sequence', numbers: [4_200_000_000] }])
  })

  it('is kept by both ends, and given up after the hold time of silence', async () => {
    const peer = peerOf()
    await established(peer)
    for (let second = 0; second < 300; second += 20) {
      clock.advance(20_000)
      router.say({ type: 'keepalive' })
    }
    expect(peer.status.state).toBe('established')
    // Every 22.5 s for 300 s, and the first one.
    expect(router.ofType('keepalive').length).toBe(14)
    clock.advance(89_999)
    expect(peer.status.state).toBe('established')
    clock.advance(2)
    expect(router.ofType('notification')).toMatchObject([{ errorCode: 4 }])
    expect(peer.status).toMatchObject({
      state: 'idle',
      flaps: 1,
      lastEnd: { by: 'local', reason: 'hold timer expired' },
    })
  })

  it('needs no word of the peer with a hold time of 0', async () => {
    const peer = peerOf()
    peer.start()
    await settle()
    router.open({ holdTimeS: 0 })
    router.say({ type: 'keepalive' })
    clock.advance(3_600_000)
    expect([peer.status.state, clock.pendingTimers]).toEqual(['established', 0])
  })

  it.each([
    [
      ...['another AS', 'bad peer AS', { field: 'neighbor-as', value: '65001' }, 65_002],
      ...([{}, [2, 2]] as const),
    ],
    [
      ...['no identifier', 'bad BGP identifier', { field: 'router-id', value: '0.0.0.0' }, 65_001],
      ...([{ identifier: '0.0.0.0' }, [2, 3]] as const),
    ],
    [
      ...['a hold time of 2 s', 'unacceptable hold time', { field: 'holdtime', value: '2s' }, 65_001],
      ...([{ holdTimeS: 2 }, [2, 6]] as const),
    ],
  ] as const)(
    'is refused to a peer with %s, and tried again',
    async (_what, reason, problem, as, open, [code, subcode]) => {
      router = new RemoteRouter(as)
      const peer = peerOf()
      peer.start()
      await settle()
      router.open(open)
      expect(router.ofType('notification')).toMatchObject([{ errorCode: code, subcode }])
      expect(peer.status.lastEnd?.reason).toContain(reason)
      expect(peer.status.lastEnd?.problem).toMatchObject({ ...problem, cure: expect.any(String) })
      clock.advance(1_000)
      await settle()
      expect([dialled, peer.status.state]).toEqual([2, 'open-sent'])
    },
  )

  it('is refused to a router of the own AS with the own identifier', async () => {
    router = new RemoteRouter(65_000)
    const peer = peerOf({ as: 65_000 })
    peer.start()
    await settle()
    router.open({ identifier: '192.0.2.1' })
    expect(peer.status.lastEnd?.reason).toContain('bad BGP identifier')
    expect(peer.status.lastEnd?.problem).toMatchObject({ field: 'router-id', value: '192.0.2.1' })
  })

  it.each([
    [2, 2, { field: 'cluster-as', value: '65000' }],
    [2, 3, { field: 'router-id', value: '192.0.2.1' }],
    [2, 6, { field: 'holdtime', value: '90s' }],
    [6, 1, { field: 'prefixes', value: '2' }],
    [6, 2, undefined],
  ])('names the setting that a peer complains of by %i/%i', async (errorCode, subcode, problem) => {
    const peer = peerOf()
    peer.announce(routes)
    await established(peer)
    router.say({ type: 'notification', errorCode, subcode, data: Buffer.alloc(0) })
    const { lastEnd } = peer.status
    expect(lastEnd).toMatchObject({ by: 'remote', errorCode, subcode })
    if (problem === undefined) expect(lastEnd?.problem).toBeUndefined()
    else expect(lastEnd?.problem).toMatchObject({ ...problem, cure: expect.any(String) })
  })

  it('has local preference and no way within an AS, and an own way without preference outside', async () => {
    router = new RemoteRouter(65_000)
    const inside = peerOf({ as: 65_000 })
    inside.announce([{ prefix: '10.0.0.0/8', nextHop: '192.0.2.1', communities: ['65000:7'] }])
    await established(inside)
    expect(router.ofType('update')[0]?.path).toMatchObject({
      ...{ asPath: [], localPreference: 100, communities: ['65000:7'] },
    })
    router = new RemoteRouter(65_001)
    const outside = peerOf()
    outside.announce([{ prefix: '10.0.0.0/8', nextHop: '192.0.2.1', localPreference: 7, med: 5 }])
    await established(outside)
    expect(router.ofType('update')[0]?.path).toEqual({
      ...{ origin: 'igp', asPath: [{ kind: 'sequence', numbers: [65_000] }], nextHop: '192.0.2.1', med: 5 },
    })
  })

  it('asks for a hold time of its own, and has a preference of its own within an AS', async () => {
    router = new RemoteRouter(65_000)
    const peer = peerOf({ as: 65_000, holdTimeS: 9 })
    peer.announce([{ prefix: '10.0.0.0/8', nextHop: '192.0.2.1', localPreference: 7 }])
    await established(peer)
    expect(router.ofType('open')).toMatchObject([{ holdTimeS: 9 }])
    expect(peer.status.agreement?.holdTimeS).toBe(9)
    expect(router.ofType('update')[0]?.path?.localPreference).toBe(7)
  })

  it('ends with a word unless the peer is to keep the routes', async () => {
    const graceful = { timeS: 90, deferralS: 360 }
    const capability = { isRestarting: false, timeS: 120, families: new Map() }
    for (const [keepsRoutes, gracefulRestart, expected] of [
      [false, capability, 1],
      [true, capability, 0],
      [true, undefined, 1],
    ] as const) {
      router = new RemoteRouter(65_001, { gracefulRestart })
      const peer = peerOf({}, graceful)
      await established(peer)
      peer.stop({ keepsRoutes })
      expect(router.ofType('notification')).toHaveLength(expected)
      expect([router.isOpen, clock.pendingTimers]).toEqual([false, 0])
    }
  })
})

describe('the status of a peer', () => {
  it('counts what the peer tells in a session, and nothing of it afterwards', async () => {
    const peer = peerOf()
    await established(peer)
    const path = { origin: 'igp', asPath: [] } as const
    router.say(updateOf({ path: { ...path, nextHop: '192.0.2.9' }, announced: ['10.0.0.0/8'] }))
    const reachable = { family: 'ipv6', nextHop: '2001:db8::9', prefixes: ['2001:db8::/32'] } as const
    router.say(updateOf({ path, reachable }))
    expect(peer.status.heard).toEqual({ ipv4: 1, ipv6: 1, isBeyondBound: false })
    router.cut()
    expect(peer.status.heard).toEqual({ ipv4: 0, ipv6: 0, isBeyondBound: false })
  })

  it('keeps the end of the last session over the next one, with its time', async () => {
    const peer = peerOf()
    await established(peer)
    clock.advance(1_500)
    const atMs = clock.now()
    router.cut()
    await untilDialledAgain()
    router.establish()
    const lastEnd = { by: 'transport', errorCode: 0, subcode: 0, reason: 'ECONNRESET', atMs }
    expect(peer.status).toMatchObject({ state: 'established', lastEnd })
  })

  it('is told to be another one when the session is, and when there are other routes', async () => {
    const changes: string[] = []
    const told = (): readonly string[] => changes.splice(0)
    const peer = peerOf(
      {},
      undefined,
      () => true,
      (address, change) => changes.push(`${change} ${address}`),
    )
    await established(peer)
    const session = 'session 192.0.2.9'
    expect(told()).toEqual([session, session, session, session])
    peer.announce(routes)
    router.say(updateOf({}))
    expect(told()).toEqual(['routes 192.0.2.9', 'routes 192.0.2.9'])
    peer.stop({ keepsRoutes: false })
    expect(told()).toEqual([session])
  })
})

describe('what a peer knows', () => {
  it('has a way at any time while a network is told in the place of its hosts, and the other way round', async () => {
    const peer = peerOf()
    await established(peer)
    const network: readonly Route[] = [{ prefix: '10.16.0.0/24', nextHop: '192.0.2.1' }]
    const hosts = routes.slice(0, 1)
    for (const wanted of [hosts, network, hosts]) {
      router.messages = []
      peer.announce(wanted)
      const updates = router
        .ofType('update')
        .filter(({ announced, withdrawn }) => announced.length + withdrawn.length)
      expect(updates[0]?.announced).toEqual(wanted.map(({ prefix }) => prefix))
    }
  })

  it('is withdrawn before others are told, so that a limit of the peer is kept', async () => {
    const peer = peerOf()
    await established(peer)
    peer.announce(routes.slice(0, 1))
    router.messages = []
    peer.announce([{ prefix: '10.16.0.6/32', nextHop: '192.0.2.1' }])
    expect(router.ofType('update').map(({ withdrawn }) => withdrawn)).toEqual([['10.16.0.5/32'], []])
  })

  it('is nothing once BFD has given the session up, and everything when there is another', async () => {
    const peer = peerOf()
    peer.announce(routes)
    await established(peer)
    peer.lose()
    expect(router.ofType('notification')).toMatchObject([{ errorCode: 6, subcode: 10 }])
    expect(peer.status).toMatchObject({ flaps: 1, lastEnd: { reason: 'cease: BFD down' } })
    await untilDialledAgain()
    router.establish()
    expect(router.table.size).toBe(2)
  })

  it('is what is wanted after any events', async () => {
    const prefix = fc.constantFrom(
      ...Array.from({ length: 6 }, (_, n) => (n < 3 ? `10.0.0.${n}/32` : `fd00::${n}/128`)),
    )
    const said = fc.record(
      {
        communities: fc.constantFrom(['65000:7'], ['65000:7', '65000:8']),
        largeCommunities: fc.constant(['65000:1:2']),
        med: fc.constantFrom(0, 7),
      },
      { requiredKeys: [] },
    )
    const wanted = fc.uniqueArray(
      fc.record({ prefix, hop: fc.constantFrom(1, 2), said }).map(({ prefix, hop, said }): Route => ({
        prefix,
        nextHop: prefix.includes(':') ? `2001:db8::${hop}` : `192.0.2.${hop}`,
        ...said,
      })),
      { selector: ({ prefix }) => prefix },
    )
    const event = fc.oneof(
      { weight: 6, arbitrary: wanted },
      { weight: 3, arbitrary: fc.constantFrom('cut', 'refresh', 'forgotten', 'busy', 'garbage') },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 15 }), async (events) => {
        clock = new ManualClock()
        router = new RemoteRouter(65_001)
        const peer = peerOf()
        await established(peer)
        let last: readonly Route[] = []
        for (const step of events) {
          if (step === 'cut' || step === 'garbage') {
            if (step === 'cut') router.cut()
            else router.sayBytes(Buffer.alloc(19))
            router.queuedBytes = 0
            await untilDialledAgain()
            router.establish()
          } else if (step === 'refresh' || step === 'forgotten') {
            // Who asks may have lost all, or know it still: then what is gone meanwhile must be withdrawn.
            if (step === 'forgotten') router.table = new Map()
            if (step === 'forgotten') router.paths = new Map()
            for (const family of ['ipv4', 'ipv6'] as const) router.say({ type: 'route-refresh', family })
          } else if (step === 'busy') router.queuedBytes = 2_000_000
          else peer.announce((last = step))
        }
        router.drain()
        expect(router.table).toEqual(new Map(last.map(({ prefix, nextHop }) => [prefix, nextHop])))
        for (const { prefix, communities, largeCommunities, med } of last) {
          const path = router.paths.get(prefix)
          const said = { communities: path?.communities, largeCommunities: path?.largeCommunities }
          expect({ ...said, med: path?.med }).toEqual({ communities, largeCommunities, med })
        }
        expect(peer.status).toMatchObject({ state: 'established', advertised: last.length, untellable: 0 })
        peer.stop({ keepsRoutes: false })
        await settle()
        expect(clock.pendingTimers).toBe(0)
      }),
    )
  })

  it('grows by messages of at most 4096 bytes, and by what is different alone', async () => {
    const peer = peerOf()
    await established(peer)
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      prefix: `10.16.${n >> 8}.${n & 255}/32`,
      nextHop: '192.0.2.1',
    }))
    peer.announce(many)
    expect(router.table.size).toBe(10_000)
    const before = router.ofType('update').length
    expect(before).toBeLessThan(17)
    peer.announce(many.slice(1))
    expect(router.ofType('update').slice(before)).toMatchObject([
      { withdrawn: ['10.16.0.0/32'], announced: [] },
    ])
  })

  it('lacks what it can not be told, which is counted', async () => {
    router = new RemoteRouter(65_001, { families: ['ipv4'], extendedNextHop: true })
    const peer = peerOf()
    const all = [...routes, { prefix: '10.16.0.6/32', nextHop: '2001:db8::1' }]
    peer.announce(all)
    await established(peer)
    expect([...router.table.keys()]).toEqual(['10.16.0.5/32'])
    expect(peer.status).toMatchObject({ wanted: 3, advertised: 1, untellable: 2 })
    const extended = peerOf({ extendedNextHop: true })
    extended.announce(all)
    await established(extended)
    expect([...router.table]).toContainEqual(['10.16.0.6/32', '2001:db8::1'])
    expect(extended.status.untellable).toBe(1)
  })

  it('is complete when this side knows all routes, or the deferral is over', async () => {
    const graceful = { timeS: 90, deferralS: 360 }
    const peer = peerOf({}, graceful)
    await established(peer)
    expect(router.ofType('open')[0]?.capabilities.gracefulRestart).toMatchObject({
      isRestarting: true,
      timeS: 90,
    })
    expect(router.ended).toEqual([])
    for (let second = 0; second < 360; second += 60) {
      expect(router.ended).toEqual([])
      clock.advance(60_000)
      router.say({ type: 'keepalive' })
    }
    expect(router.ended).toEqual(['ipv4', 'ipv6'])
    router.cut()
    clock.advance(1_000)
    await settle()
    router.establish()
    expect(router.ofType('open')[0]?.capabilities.gracefulRestart).toMatchObject({ isRestarting: false })
    peer.announce(routes)
    expect(router.ended).toEqual(['ipv4', 'ipv6'])
  })

  it('is held back while the peer has much to read, who is given up when it never reads', async () => {
    const peer = peerOf()
    await established(peer)
    router.queuedBytes = 2_000_000
    peer.announce(routes)
    expect(router.table.size).toBe(0)
    for (let second = 0; second < 520; second += 20) {
      clock.advance(20_000)
      router.say({ type: 'keepalive' })
    }
    expect(peer.status.lastEnd?.reason).toBe('the peer reads nothing')
  })
})

describe('a peer that dials', () => {
  it('is waited for, and answered', async () => {
    const peer = peerOf({ isPassive: true })
    peer.start()
    peer.announce(routes)
    expect([peer.status.state, dialled]).toEqual(['active', 0])
    peer.accept(router.connection())
    router.establish()
    expect(router.table.size).toBe(2)
    router.cut()
    expect(peer.status.state).toBe('active')
  })

  it('gets another connection only when it can have lost the first', async () => {
    for (const [gracefulRestart, isTaken] of [
      [undefined, false],
      [{ isRestarting: false, timeS: 90, families: new Map() }, true],
    ] as const) {
      router = new RemoteRouter(65_001, { gracefulRestart })
      const peer = peerOf({ isPassive: true }, { timeS: 90, deferralS: 360 })
      peer.start()
      peer.accept(router.connection())
      router.establish()
      const second = new RemoteRouter(65_001, { gracefulRestart })
      peer.accept(second.connection())
      expect([router.isOpen, second.isOpen]).toEqual([!isTaken, isTaken])
      if (isTaken) second.establish()
      expect(peer.status.state).toBe('established')
    }
  })

  it('of two that are not there yet the newer counts', () => {
    const peer = peerOf({ isPassive: true })
    peer.start()
    peer.accept(router.connection())
    const second = new RemoteRouter(65_001)
    peer.accept(second.connection())
    expect(router.ofType('notification')).toMatchObject([{ errorCode: 6, subcode: 7 }])
    second.establish()
    expect(peer.status.state).toBe('established')
  })
})

describe('garbage', () => {
  it('ends a session with a word at most, in whichever state it comes, and the next one comes about', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 2 }),
        fc.uint8Array({ minLength: 1, maxLength: 200 }),
        fc.boolean(),
        fc.constantFrom(1, 2, 3, 4, 5),
        async (state, bytes, hasHeader, type) => {
          clock = new ManualClock()
          router = new RemoteRouter(65_001)
          const peer = peerOf()
          peer.start()
          await settle()
          if (state > 0) router.open()
          if (state > 1) router.say({ type: 'keepalive' })
          const header = Buffer.alloc(19, 0xff)
          header.writeUInt16BE(19 + bytes.length, 16)
          header.writeUInt8(type, 18)
          router.sayBytes(hasHeader ? Buffer.concat([header, bytes]) : Buffer.from(bytes))
          expect(router.ofType('notification').length).toBeLessThan(2)
          // Whatever is left of it ends when nothing more comes.
          await untilDialledAgain()
          router.establish()
          expect(peer.status.state).toBe('established')
          peer.stop({ keepsRoutes: false })
        },
      ),
      { numRuns: 500 },
    )
  })
})
