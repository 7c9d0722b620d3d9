import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { noCapabilities } from './capabilities.ts'
import { encodeMessage } from './message.ts'
import { makePeer, routes, settle } from './peer-fixture.ts'
import type { PeerOptions } from './peer-options.ts'
import type { Peer } from './peer.ts'
import { RemoteRouter } from './testing/remote-router.ts'

/** Multiprotocol: AFI 25 (L2VPN), SAFI 70 (EVPN). */
const evpn = Buffer.from('010400190046', 'hex')

async function started(router: RemoteRouter, options: Partial<PeerOptions>): Promise<Peer> {
  const dial = async () => router.connection()
  const peer = makePeer({ clock: new ManualClock(), dial }, options, undefined)
  peer.announce(routes)
  peer.start()
  await settle()
  return peer
}

/** An OPEN of the router with exactly these capabilities. */
function openWith(capabilities: Buffer): Buffer {
  const none = encodeMessage(
    { type: 'open', as: 65_001, holdTimeS: 90, identifier: '192.0.2.9', capabilities: noCapabilities },
    { hasFourOctetAs: true },
  )
  const { length } = capabilities
  const bytes = Buffer.concat([none.subarray(0, -1), Buffer.from([length + 2, 2, length]), capabilities])
  bytes.writeUInt16BE(bytes.length, 16)
  return bytes
}

it('is spoken with in IPv4 where it says nothing of families', async () => {
  const router = new RemoteRouter(65_001, { families: undefined })
  const peer = await started(router, {})
  router.establish()
  expect(peer.status.agreement?.families).toEqual(['ipv4'])
  expect([...router.table.keys()]).toEqual(['10.16.0.5/32'])
})

it.each([
  ['has other families alone', ['ipv4'] as const, evpn, '010400010001'],
  ['speaks IPv4 alone', ['ipv6'] as const, Buffer.from('010400010001', 'hex'), '010400020001'],
  ['knows of no families', ['ipv6'] as const, Buffer.alloc(0), '010400020001'],
])('is refused where it %s, and told which one is missing', async (_what, families, said, missing) => {
  const router = new RemoteRouter(65_001)
  const peer = await started(router, { families })
  router.sayBytes(openWith(said))
  const [notification] = router.ofType('notification')
  expect(notification).toMatchObject({ errorCode: 2, subcode: 7 })
  expect(notification?.data.toString('hex')).toBe(missing)
  expect(peer.status.lastEnd).toMatchObject({
    reason: 'OPEN message error: unsupported capability',
    problem: { field: 'address-family', value: families[0], cure: expect.any(String) },
  })
})

it('is told routes of the family that both ends have, whatever else it has', async () => {
  const router = new RemoteRouter(65_001)
  const peer = await started(router, { families: ['ipv4', 'ipv6'] })
  router.sayBytes(openWith(Buffer.concat([evpn, Buffer.from('010400020001', 'hex')])))
  router.say({ type: 'keepalive' })
  expect(peer.status).toMatchObject({ state: 'established', advertised: 1, untellable: 1 })
})
