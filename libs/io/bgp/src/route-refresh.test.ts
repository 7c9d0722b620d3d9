import { ManualClock } from '@kube-ovn/time'
import { beforeEach, describe, expect, it } from 'vitest'
import { makePeer, routes, settle } from './peer-fixture.ts'
import type { Peer } from './peer.ts'
import { RemoteRouter } from './testing/remote-router.ts'

let router: RemoteRouter
let peer: Peer

beforeEach(async () => {
  router = new RemoteRouter(65_001)
  peer = makePeer({ clock: new ManualClock(), dial: async () => router.connection() }, {}, undefined)
  peer.announce(routes)
  peer.start()
  await settle()
  router.establish()
})

describe('a peer that asks for all routes again', () => {
  it('is told them, of the family that it asks for', () => {
    router.messages = []
    router.say({ type: 'route-refresh', family: 'ipv6' })
    expect(router.ofType('update')).toMatchObject([{ reachable: { prefixes: ['fd00:10:16::5/128'] } }])
  })

  it('is told what is gone since, though it had so much to read that it was not told them again before', () => {
    router.queuedBytes = 2_000_000
    for (const family of ['ipv4', 'ipv6'] as const) router.say({ type: 'route-refresh', family })
    expect(peer.status.advertised).toBe(2)
    peer.announce(routes.slice(1))
    router.drain()
    // It knows them still: who asks forgets nothing.
    expect([...router.table.keys()]).toEqual(['fd00:10:16::5/128'])
    expect(peer.status).toMatchObject({ wanted: 1, advertised: 1 })
  })
})
