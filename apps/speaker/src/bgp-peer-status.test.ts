import type { WatchedPeerStatus } from '@kube-ovn/bgp'
import { applyMergePatch, mergePatch, type MergeFragment } from '@kube-ovn/kube'
import type { BgpPeer, BgpPeerStatus } from '@kube-ovn/kube-api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bgpPeerName, desiredStatus, isNews, type StatusContext } from './bgp-peer-status.ts'
import { establishedPeer, idlePeer } from './peer-statuses.fixture.ts'

const noonMs = Date.UTC(2026, 0, 1, 12)
const [noon, later, evenLater] = ['2026-01-01T12:00:00Z', '2026-01-01T12:01:00Z', '2026-01-01T12:02:00Z']

describe('the name of the object of a session', () => {
  it.each([
    ['node-1', '192.0.2.9', 'node-1.192-0-2-9'],
    ['node-1', '2001:db8::9', 'node-1.2001-db8-0-0-0-0-0-9'],
    ['node-1', '2001:DB8:0::9', 'node-1.2001-db8-0-0-0-0-0-9'],
    ['a.example.com', '::1', 'a.example.com.0-0-0-0-0-0-0-1'],
    ['a.example.com', '2001:db8::', 'a.example.com.2001-db8-0-0-0-0-0-0'],
    ['n', '::ffff:192.0.2.9', 'n.192-0-2-9'],
  ])('of node %s and neighbour %s is %s', (node, neighbor, name) => {
    expect(bgpPeerName(node, neighbor)).toBe(name)
  })

  const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
  const node = fc.array(label, { minLength: 1, maxLength: 8 }).map((labels) =>
    labels
      .join('.')
      .slice(0, 253)
      .replace(/[^a-z0-9]+$/, ''),
  )
  const neighbor = fc.oneof(fc.ipV4(), fc.ipV6())

  it('is one that the API server takes, whatever they are', () => {
    fc.assert(
      fc.property(node, neighbor, (of, to) => {
        const name = bgpPeerName(of, to)
        expect(name.length).toBeLessThanOrEqual(253)
        expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
      }),
    )
  })

  it('is that of one session alone', () => {
    fc.assert(
      fc.property(node, node, fc.ipV4(), fc.ipV4(), (one, other, to, elsewhere) => {
        fc.pre(one !== other || to !== elsewhere)
        expect(bgpPeerName(one, to)).not.toBe(bgpPeerName(other, elsewhere))
      }),
    )
    const long = 'n'.repeat(252)
    expect(bgpPeerName(`${long}a`, '192.0.2.9')).not.toBe(bgpPeerName(`${long}b`, '192.0.2.9'))
  })
})

/** The status that an object has after a session was like that, and then like that, and what was written each time. */
function statusesOf(...peers: readonly (readonly [WatchedPeerStatus, Partial<StatusContext>?])[]): {
  readonly status: BgpPeerStatus
  readonly patches: readonly (MergeFragment | undefined)[]
} {
  const patches: (MergeFragment | undefined)[] = []
  let status: BgpPeerStatus = {}
  for (const [index, [peer, context]] of peers.entries()) {
    const object: BgpPeer = { metadata: { name: 'x', generation: 1 }, status }
    const nowMs = noonMs + index * 60_000
    const patch = mergePatch(status, desiredStatus(peer, object, { nowMs, ...context }))
    patches.push(patch)
    status = applyMergePatch(status, patch ?? {}) as BgpPeerStatus
  }
  return { status, patches }
}

const refused = { by: 'transport', errorCode: 0, subcode: 0, reason: 'ECONNREFUSED', atMs: noonMs } as const
const badAs = { by: 'remote', errorCode: 2, subcode: 2, reason: 'bad peer AS', atMs: noonMs } as const

describe('the status', () => {
  it('tells of a session what was agreed on, and how many prefixes either side knows', () => {
    const heard = { ipv4: 3, ipv6: 2, isBeyondBound: false }
    const bfd = { state: 'up', remoteState: 'up', failures: 0, sent: 9, received: 9 } as const
    const { status } = statusesOf([
      establishedPeer({ sinceMs: noonMs, heard, wanted: 5, advertised: 4, untellable: 1, bfd }),
    ])
    expect(status).toEqual({
      ...{ state: 'Established', since: noon, neighborAs: 65_001, neighborId: '192.0.2.9' },
      ...{ localAddress: '192.0.2.1', holdTimeSeconds: 9, bfd: 'Up' },
      capabilities: ['ipv4-unicast', 'four-octet-as', 'route-refresh'],
      prefixes: {
        ...{ wanted: 5, advertised: 4, untellable: 1 },
        ...{ received: 5, receivedIpv4: 3, receivedIpv6: 2 },
      },
      conditions: [
        {
          ...{ type: 'Established', status: 'True', reason: 'SessionEstablished', observedGeneration: 1 },
          ...{ message: 'routes are told', lastTransitionTime: noon, lastUpdateTime: noon },
        },
      ],
    })
  })

  it('tells how a session ended, by whom, and since when there is none', () => {
    const lost = { ...badAs, atMs: noonMs + 60_000 }
    const { status } = statusesOf([establishedPeer({ sinceMs: noonMs })], [idlePeer({ lastEnd: lost })])
    expect(status).toMatchObject({
      ...{ state: 'Idle', since: later, error: 'bad peer AS' },
      lastEnd: { by: 'remote', errorCode: 2, errorSubcode: 2, reason: 'bad peer AS', time: later },
      conditions: [
        {
          ...{ type: 'Established', status: 'False', reason: 'NotificationReceived' },
          ...{ message: 'bad peer AS', lastTransitionTime: later },
        },
      ],
    })
    for (const field of ['neighborId', 'localAddress', 'holdTimeSeconds', 'capabilities'])
      expect(status).not.toHaveProperty(field)
  })

  it('keeps how the last session ended, and is without an error when there is another one', () => {
    const { status } = statusesOf(
      [idlePeer({ lastEnd: refused })],
      [establishedPeer({ sinceMs: noonMs + 60_000, lastEnd: { ...refused, atMs: noonMs + 30_000 } })],
    )
    expect(status).toMatchObject({ state: 'Established', since: later, lastEnd: { time: noon } })
    expect(status).not.toHaveProperty('error')
  })

  it('does not change by tries that fail alike, and by each that fails otherwise', () => {
    const { status, patches } = statusesOf(
      [idlePeer({ lastEnd: refused })],
      [idlePeer({ state: 'connect', lastEnd: { ...refused, atMs: noonMs + 60_000 } })],
      [idlePeer({ lastEnd: { ...badAs, atMs: noonMs + 120_000 } })],
    )
    expect(patches[1]).toBeUndefined()
    expect(status).toMatchObject({ since: noon, error: 'bad peer AS', lastEnd: { time: evenLater } })
  })

  it('tells of an end that is like the one before if there was a session in between', () => {
    const { status } = statusesOf(
      [idlePeer({ lastEnd: refused })],
      [establishedPeer({ sinceMs: noonMs + 60_000, lastEnd: refused })],
      [idlePeer({ lastEnd: { ...refused, atMs: noonMs + 120_000 } })],
    )
    expect(status).toMatchObject({ since: evenLater, lastEnd: { time: evenLater } })
  })

  it('is the same after a restart whose session fails as before', () => {
    const { patches } = statusesOf(
      [idlePeer({ lastEnd: refused })],
      [idlePeer({ sinceMs: noonMs + 59_000, lastEnd: { ...refused, atMs: noonMs + 60_000 } })],
    )
    expect(patches[1]).toBeUndefined()
  })

  it('says that the speaker has ended', () => {
    const shutdown = {
      by: 'local',
      errorCode: 6,
      subcode: 2,
      reason: 'cease',
      atMs: noonMs + 60_000,
    } as const
    const { status } = statusesOf(
      [establishedPeer({ sinceMs: noonMs })],
      [idlePeer({ lastEnd: shutdown }), { isStopped: true }],
    )
    expect(status).toMatchObject({
      ...{ state: 'Idle', error: 'the speaker has ended', lastEnd: { reason: 'cease', errorSubcode: 2 } },
      conditions: [{ status: 'False', reason: 'SpeakerStopped' }],
    })
  })

  it('names the setting that keeps a session from being there, and an identifier that is not unique', () => {
    const problem = { field: 'neighbor-as', value: '65001', cure: 'write 65002' }
    const identifierProblem = { field: 'router-id', value: '192.0.2.9', cure: 'give it another' }
    const messageOf = (peer: WatchedPeerStatus): string | undefined =>
      statusesOf([peer]).status.conditions?.[0]?.message
    expect(messageOf(idlePeer({ lastEnd: { ...badAs, problem } }))).toBe(
      'bad peer AS (neighbor-as is 65001: write 65002)',
    )
    expect(messageOf(establishedPeer({ identifierProblem }))).toBe(
      'routes are told (router-id is 192.0.2.9: give it another)',
    )
  })

  it('is no news where only numbers are others, and says when they are too small', () => {
    const heard = { ipv4: 10_000, ipv6: 0, isBeyondBound: true }
    const { patches } = statusesOf(
      [establishedPeer({ sinceMs: noonMs })],
      [establishedPeer({ sinceMs: noonMs, heard })],
      [idlePeer({ lastEnd: refused })],
    )
    expect(patches[1]).toEqual({
      prefixes: { received: 10_000, receivedIpv4: 10_000, receivedIsBeyondBound: true },
    })
    expect(patches.map((patch) => patch && isNews(patch))).toEqual([true, false, true])
  })
})
