import fc from 'fast-check'
import { ManualClock } from '@kube-ovn/time'
import { beforeEach, describe, expect, it } from 'vitest'
import { decodeBfdPacket, encodeBfdPacket, type BfdPacket } from './packet.ts'
import { BfdSession, type BfdTimers } from './session.ts'

let clock: ManualClock
/** Whether packets reach the other end, by who sent them. */
let reaches: Record<string, boolean>

interface End {
  readonly session: BfdSession
  readonly sent: BfdPacket[]
  readonly events: string[]
}

beforeEach(() => {
  clock = new ManualClock()
  reaches = { here: true, there: true }
})

function endOf(
  name: string,
  timers: Partial<BfdTimers> & { readonly isPassive?: boolean },
  other: () => End | undefined,
): End {
  const [sent, events]: [BfdPacket[], string[]] = [[], []]
  const session = new BfdSession(
    {
      ...{ minTxMs: 300, minRxMs: 300, multiplier: 3, ...timers },
      ...{ clock, random: () => 1, discriminator: name === 'here' ? 7 : 8 },
    },
    {
      send: (packet) => {
        sent.push(packet)
        const read = decodeBfdPacket(encodeBfdPacket(packet))
        expect(read).toEqual(packet)
        if (read !== undefined && reaches[name] === true)
          clock.setTimer(1, () => void other()?.session.take(read))
      },
      up: () => events.push('up'),
      lost: (reason) => events.push(reason),
    },
  )
  return { session, sent, events }
}

function pair(ours: Parameters<typeof endOf>[1] = {}, theirs: Partial<BfdTimers> = {}): readonly [End, End] {
  const ends: [End, End] = [endOf('here', ours, () => ends[1]), endOf('there', theirs, () => ends[0])]
  for (const { session } of ends) session.start()
  return ends
}

describe('a session of BFD', () => {
  it('comes up at both ends, by one packet a second and a poll, and then goes at its own pace', () => {
    const ends = pair()
    clock.advance(2_100)
    for (const { session, sent, events } of ends) {
      expect(session.status).toMatchObject({ state: 'up', remoteState: 'up', failures: 0 })
      expect(events).toEqual(['up'])
      expect(
        sent.filter(({ state }) => state !== 'up').every(({ desiredMinTxUs }) => desiredMinTxUs >= 1e6),
      ).toBe(true)
      expect(sent.at(-1)).toMatchObject({ desiredMinTxUs: 300_000, poll: false })
      sent.length = 0
    }
    clock.advance(3_000)
    expect(ends.map(({ sent }) => sent.length)).toEqual([10, 10])
  })

  it('says nothing, if it is passive, to who says nothing: neither before nor after, nor when it ends', () => {
    const [here, there] = pair({ isPassive: true })
    clock.advance(2_500)
    expect(here.events).toEqual(['up'])
    reaches['there'] = false
    clock.advance(2_000)
    expect(here.events).toEqual(['up', 'nothing was heard for 900 ms'])
    expect(here.sent.at(-1)).toMatchObject({ state: 'down', diagnostic: 1 })
    here.sent.length = 0
    clock.advance(60_000)
    expect(here.sent).toEqual([])
    reaches['there'] = true
    clock.advance(3_000)
    expect([here, there].map(({ session }) => session.status.state)).toEqual(['up', 'up'])
    const alone = endOf('here', { isPassive: true }, () => undefined)
    alone.session.start()
    clock.advance(60_000)
    alone.session.stop()
    expect(alone.sent).toEqual([])
  })

  it('is lost after the time that both have agreed on, at either end, and comes up again', () => {
    // Packets come every 400 ms, because that is what the other end takes.
    const [here, there] = pair(
      { minTxMs: 100, minRxMs: 400, multiplier: 3 },
      { minTxMs: 200, minRxMs: 250, multiplier: 4 },
    )
    clock.advance(3_000)
    reaches['there'] = false
    // Four of 400 ms after the last, which came up to 400 ms ago.
    clock.advance(1_199)
    expect(here.events).toEqual(['up'])
    clock.advance(402)
    expect(here.events).toEqual(['up', 'nothing was heard for 1600 ms'])
    expect(here.sent.at(-1)).toMatchObject({ state: 'down', diagnostic: 1 })
    expect(there.events).toEqual(['up', 'the neighbour hears nothing'])
    reaches['there'] = true
    clock.advance(5_000)
    expect(here.events.at(-1)).toBe('up')
    expect(here.session.status.failures).toBe(1)
  })

  it('that is switched off on purpose says so, and nobody takes it for a failure', () => {
    const [here, there] = pair()
    clock.advance(3_000)
    here.session.stop()
    clock.advance(10_000)
    expect(here.sent.at(-1)).toMatchObject({ state: 'admin-down', diagnostic: 7 })
    expect(there.events).toEqual(['up'])
    expect(there.session.status).toMatchObject({ state: 'down', failures: 0 })
  })

  it('sends nothing to who takes nothing, and less to who wants less', () => {
    const [here] = pair({ minTxMs: 100 }, { minRxMs: 1_500 })
    clock.advance(5_000)
    here.sent.length = 0
    clock.advance(15_000)
    expect(here.sent.length).toBe(10)
    here.session.take({ ...quiet, state: 'up', yourDiscriminator: 7 })
    here.sent.length = 0
    clock.advance(1_000)
    expect(here.sent).toEqual([])
  })

  it('answers a poll at once, and takes no packet of another session', () => {
    const { session, sent } = endOf('here', {}, () => undefined)
    session.start()
    sent.length = 0
    session.take({ ...quiet, poll: true, requiredMinRxUs: 300_000 })
    expect(sent).toContainEqual(expect.objectContaining({ final: true, poll: false, yourDiscriminator: 9 }))
    expect(session.take({ ...quiet, yourDiscriminator: 1234 })).toBe(false)
  })

  it('is not lost by a process that was busy, if packets have come meanwhile', () => {
    const [here] = pair()
    clock.advance(3_000)
    const before = here.sent.length
    reaches['there'] = false
    clock.setTimer(895, () => (reaches['there'] = true))
    clock.advance(2_500)
    expect(here.sent.length).toBeGreaterThan(before)
    expect(here.session.status.state).toBe('up')
  })

  it('stands whatever comes: bytes are read or passed over, and states stay those that there are', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc
        .tuple(fc.integer({ min: 0, max: 3 }), fc.uint8Array({ minLength: 22, maxLength: 22 }))
        .map(([state, rest]) => {
          const made = Buffer.concat([Buffer.from([0x20, state << 6]), rest])
          made[3] = 24
          return made
        }),
    )
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 30 }), (all) => {
        const { session } = endOf('here', {}, () => undefined)
        session.start()
        for (const one of all) {
          const packet = decodeBfdPacket(Buffer.from(one))
          if (packet !== undefined) session.take(packet)
          clock.advance(400)
        }
        session.stop()
        clock.advance(60_000)
        return session.status.state === 'admin-down'
      }),
    )
  })
})

const quiet: BfdPacket = {
  ...{ diagnostic: 0, state: 'down', poll: false, final: false, demand: false, multiplier: 3 },
  ...{ myDiscriminator: 9, yourDiscriminator: 0, desiredMinTxUs: 1_000_000, requiredMinRxUs: 0 },
}

it.each([
  ['another version', 0, 0x40],
  ['a multiplier of 0', 2, 0],
  ['a length that is too small', 3, 23],
  ['a length that is too large', 3, 25],
  ['authentication, which is not here', 1, 0x44],
  ['poll and final at once', 1, 0x70],
])('passes over %s', (_, at, value) => {
  const bytes = encodeBfdPacket({ ...quiet, yourDiscriminator: 7 })
  expect(decodeBfdPacket(bytes)).toBeDefined()
  bytes[at] = value
  expect(decodeBfdPacket(bytes)).toBeUndefined()
})
