import { ManualClock } from '@kube-ovn/time'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Connection } from './connection.ts'
import { makePeer, settle } from './peer-fixture.ts'
import type { Peer, PeerDependencies } from './peer.ts'
import { RemoteRouter } from './testing/remote-router.ts'

let clock: ManualClock
let router: RemoteRouter
let dialled: number

beforeEach(() => {
  clock = new ManualClock()
  router = new RemoteRouter(65_001)
  dialled = 0
})

function peerOf(reach: () => boolean): Peer {
  return makePeer({ clock, dial }, {}, undefined)

  function dial(): Promise<Connection> {
    dialled++
    return reach() ? Promise.resolve(router.connection()) : Promise.reject(new Error('ECONNREFUSED'))
  }
}

describe('a session', () => {
  it('is dialled again, later each time, while nobody is there', async () => {
    const peer = peerOf(() => false)
    peer.start()
    await settle()
    const delays: number[] = []
    for (let attempt = 0; attempt < 7; attempt++) {
      delays.push(clock.nextTimerMs ?? 0)
      clock.advance(delays.at(-1) ?? 0)
      await settle()
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000])
    expect(peer.status).toMatchObject({
      state: 'idle',
      flaps: 0,
      lastEnd: {
        ...{ by: 'transport', reason: 'ECONNREFUSED' },
        problem: { field: 'neighbor-address', value: '192.0.2.9', cure: expect.any(String) },
      },
    })
    peer.stop({ keepsRoutes: false })
    expect(clock.pendingTimers).toBe(0)
  })

  it('is dialled at once when the peer can be reached again, whatever has been tried before', async () => {
    let isThere = false
    const peer = peerOf(() => isThere)
    peer.start()
    for (let attempt = 0; attempt < 6; attempt++) {
      await settle()
      clock.advance(clock.nextTimerMs ?? 0)
    }
    await settle()
    expect(clock.nextTimerMs).toBe(10_000)
    isThere = true
    peer.reach()
    await settle()
    router.establish()
    expect(peer.status.state).toBe('established')
    const before = dialled
    peer.reach()
    await settle()
    expect([dialled, peer.status.flaps]).toEqual([before, 0])
    router.cut()
    // The tries of before are forgotten.
    expect(clock.nextTimerMs).toBe(1_000)
    peer.stop({ keepsRoutes: false })
    peer.reach()
    await settle()
    expect([dialled, clock.pendingTimers]).toEqual([before, 0])
  })

  it('leaves a dial that nobody answers when the peer can be reached again', async () => {
    const signals: AbortSignal[] = []
    const dial: PeerDependencies['dial'] = (_, signal) => {
      signals.push(signal)
      return signals.length === 1 ? new Promise(() => undefined) : Promise.resolve(router.connection())
    }
    const peer = makePeer({ clock, dial }, {}, undefined)
    peer.start()
    peer.reach()
    await settle()
    router.establish()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(peer.status).toMatchObject({ state: 'established', lastEnd: undefined })
  })

  it('is made anew at once when its own address is gone, and the peer is told that it is over', async () => {
    const peer = peerOf(() => true)
    peer.start()
    await settle()
    router.establish()
    const before = router
    router = new RemoteRouter(65_001)
    peer.move()
    expect(before.ofType('notification')).toMatchObject([{ errorCode: 6, subcode: 6 }])
    await settle()
    router.establish()
    expect(peer.status).toMatchObject({
      ...{ state: 'established', flaps: 1 },
      lastEnd: { by: 'local', problem: { field: 'local-address', cure: expect.any(String) } },
    })
    peer.stop({ keepsRoutes: false })
    expect(clock.pendingTimers).toBe(0)
  })
})
