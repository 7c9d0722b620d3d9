import { applyMergePatch } from '@kube-ovn/kube'
import type { BgpPeer } from '@kube-ovn/kube-api'
import { shownPatches } from '@kube-ovn/domains-control/testing/shown'
import { expect, it } from 'vitest'
import { desiredStatus, type PeerSnapshot } from './desired.ts'

const [noon, later] = ['2026-01-01T12:00:00Z', '2026-01-01T12:05:00Z']
const now = Date.parse(later)

function peer(status: BgpPeer['status']): BgpPeer {
  return {
    metadata: { name: 'n1.192-0-2-9', generation: 1 },
    spec: { node: 'n1', neighbor: '192.0.2.9' },
    ...(status && { status }),
  }
}

const established = peer({
  state: 'Established',
  since: noon,
  holdTimeSeconds: 90,
  conditions: [
    { type: 'Established', status: 'True', reason: 'SessionEstablished', lastTransitionTime: noon },
  ],
})

function shown(snapshot: Partial<PeerSnapshot>): unknown {
  const common = { object: established, hasSpeaker: true, silentSinceMs: undefined, now }
  return shownPatches(desiredStatus({ ...common, ...snapshot }))
}

it('leaves a session to its speaker', () => {
  expect(shown({})).toEqual([])
  expect(shown({ object: peer(undefined), hasSpeaker: false })).toEqual([])
})

it('says of a session whose speaker is gone that there is none', () => {
  const error = 'there is no speaker on the node any more'
  expect(shown({ hasSpeaker: false })).toMatchObject([
    {
      object: 'bgppeers/n1.192-0-2-9/status',
      status: {
        ...{
          state: 'Idle',
          since: later,
          error,
          holdTimeSeconds: null,
          neighborId: null,
          capabilities: null,
        },
        prefixes: { advertised: 0, received: 0 },
        conditions: [
          {
            ...{ type: 'Established', status: 'False', reason: 'SpeakerGone', message: error },
            ...{ lastTransitionTime: later, observedGeneration: 1 },
          },
        ],
      },
    },
  ])
})

it('keeps why there was no session before its speaker went', () => {
  const conditions = [{ type: 'Established', status: 'False', reason: 'NotificationReceived' }]
  expect(shown({ object: peer({ state: 'Idle', conditions }), hasSpeaker: false })).toEqual([])
})

it('knows nothing of the session of a node that is silent, unless its speaker has said something since', () => {
  expect(shown({ silentSinceMs: Date.parse(noon) })).toMatchObject([
    {
      status: {
        ...{ state: 'Unknown', lastSilence: noon, error: expect.stringContaining('silent') },
        conditions: [{ status: 'Unknown', reason: 'NodeSilent' }],
      },
    },
  ])
  const contradicted = peer({ ...established.status, lastSilence: noon })
  expect(shown({ object: contradicted, silentSinceMs: Date.parse(noon) })).toEqual([])
  // Another silence is another matter.
  expect(shown({ object: contradicted, silentSinceMs: Date.parse(noon) + 60_000 })).toHaveLength(1)
})

it.each([
  ['an hour behind', -3_600_000],
  ['right', 0],
  ['an hour ahead', 3_600_000],
])('says so once while a speaker whose clock is %s contradicts', (_what, skewMs) => {
  let object = established
  let [said, contradicted] = [0, 0]
  for (let round = 0; round < 6; round++) {
    const nowMs = now + round * 10_000
    const snapshot = { object, hasSpeaker: true, silentSinceMs: now - 1_000, now: nowMs }
    for (const { merge } of desiredStatus(snapshot).patches) {
      object = applyMergePatch(object, merge) as BgpPeer
      said++
    }
    if (object.status?.state === 'Established') continue
    // As the speaker answers: everything that it knows of, and nothing of what the controller alone writes.
    const lastTransitionTime = new Date(nowMs + skewMs).toISOString()
    const conditions = [
      { type: 'Established', status: 'True', reason: 'SessionEstablished', lastTransitionTime },
    ]
    object = applyMergePatch(object, { status: { state: 'Established', error: null, conditions } }) as BgpPeer
    contradicted++
  }
  expect([said, contradicted]).toEqual([1, 1])
  expect(object.status?.state).toBe('Established')
})

it('says so once of a speaker that is not at work, whatever its clock was', () => {
  let object = peer({
    ...established.status,
    conditions: [
      {
        ...{ type: 'Established', status: 'True', reason: 'SessionEstablished' },
        lastTransitionTime: '2026-01-01T23:00:00Z',
      },
    ],
  })
  let writes = 0
  for (let round = 0; round < 4; round++) {
    const snapshot = { object, hasSpeaker: true, silentSinceMs: now - 1_000, now: now + round * 10_000 }
    for (const { merge } of desiredStatus(snapshot).patches) {
      object = applyMergePatch(object, merge) as BgpPeer
      writes++
    }
  }
  expect(writes).toBe(1)
  expect(object.status).toMatchObject({ state: 'Unknown', since: later })
})
