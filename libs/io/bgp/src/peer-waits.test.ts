import { ManualClock } from '@kube-ovn/time'
import { beforeEach, describe, expect, it } from 'vitest'
import { makePeer, settle } from './peer-fixture.ts'
import type { GracefulRestartOptions } from './peer-options.ts'
import type { Peer } from './peer.ts'
import { RemoteRouter } from './testing/remote-router.ts'

let clock: ManualClock
let router: RemoteRouter

beforeEach(() => {
  clock = new ManualClock()
  router = new RemoteRouter(65_001)
})

async function dialled(graceful?: GracefulRestartOptions): Promise<Peer> {
  const peer = makePeer({ clock, dial: async () => router.connection() }, {}, graceful)
  peer.start()
  await settle()
  return peer
}

describe('a router that has not answered', () => {
  it('is not waited for without end, though it is not to be heard from afterwards', async () => {
    const peer = await dialled()
    router.open({ holdTimeS: 0 })
    clock.advance(50_000)
    expect(peer.status.state).toBe('open-confirm')
    clock.advance(11_000)
    expect(router.ofType('notification')).toMatchObject([{ errorCode: 4 }])
  })

  it('is left without a word, as it may keep what the speaker before has told', async () => {
    const peer = await dialled({ timeS: 90, deferralS: 360 })
    expect(router.ofType('open')).toHaveLength(1)
    peer.stop({ keepsRoutes: true })
    expect(router.ofType('notification')).toEqual([])
    expect([router.isOpen, clock.pendingTimers]).toEqual([false, 0])
  })
})
