import { describe, expect, it } from 'vitest'
import {
  type ClusterEvent,
  initialBelief,
  isExhausted,
  replacement,
  type ServerDatabase,
  unsuitability,
  updateBelief,
} from './cluster.ts'

const standalone: ServerDatabase = {
  _uuid: '1',
  name: 'OVN_Northbound',
  model: 'standalone',
  connected: true,
  leader: true,
  cid: undefined,
  sid: undefined,
  index: undefined,
}
const leader: ServerDatabase = { ...standalone, model: 'clustered', cid: 'c', index: 10 }

function believe(endpoints: number, ...events: readonly ClusterEvent[]): ReturnType<typeof initialBelief> {
  return events.reduce(updateBelief, initialBelief(endpoints))
}

describe('unsuitability', () => {
  const before = believe(3, { type: 'observed', database: leader })

  it.each<{
    name: string
    database: ServerDatabase | undefined
    leaderOnly: boolean
    want: string | undefined
  }>([
    { name: 'a standalone server', database: standalone, leaderOnly: true, want: undefined },
    { name: 'the leader', database: leader, leaderOnly: true, want: undefined },
    {
      name: 'a follower, if that is enough',
      database: { ...leader, leader: false },
      leaderOnly: false,
      want: undefined,
    },
    {
      name: 'a server that is further',
      database: { ...leader, index: 11 },
      leaderOnly: true,
      want: undefined,
    },
    {
      name: 'a relay, if that is enough',
      database: { ...standalone, model: 'relay' },
      leaderOnly: false,
      want: undefined,
    },
  ])('accepts $name', ({ database, leaderOnly, want }) =>
    expect(unsuitability(before, database, leaderOnly, ['_Server'])).toBe(want),
  )

  it.each<{ name: string; database: ServerDatabase | undefined; leaderOnly: boolean; want: string }>([
    {
      name: 'a server of something else',
      database: undefined,
      leaderOnly: false,
      want: 'does not have the database',
    },
    { name: 'a follower', database: { ...leader, leader: false }, leaderOnly: true, want: 'not the leader' },
    {
      name: 'a server alone',
      database: { ...leader, connected: false },
      leaderOnly: false,
      want: 'not connected',
    },
    { name: 'a server that lags', database: { ...leader, index: 9 }, leaderOnly: false, want: 'older' },
    {
      name: 'a server that has yet to join',
      database: { ...leader, index: undefined },
      leaderOnly: false,
      want: 'older',
    },
    {
      name: 'another cluster',
      database: { ...leader, cid: 'd', index: 99 },
      leaderOnly: false,
      want: 'another cluster',
    },
    { name: 'a relay', database: { ...standalone, model: 'relay' }, leaderOnly: true, want: 'relay' },
  ])('refuses $name', ({ database, leaderOnly, want }) =>
    expect(unsuitability(before, database, leaderOnly, ['_Server'])).toContain(want),
  )
})

describe('updateBelief', () => {
  const failed: ClusterEvent = { type: 'failed' }

  it('goes round the endpoints', () => {
    expect(believe(3, failed).current).toBe(1)
    expect(believe(3, failed, failed, failed).current).toBe(0)
  })

  it('is exhausted when every endpoint has failed since the last pause', () => {
    expect(isExhausted(believe(2, failed))).toBe(false)
    expect(isExhausted(believe(2, failed, failed))).toBe(true)
    expect(isExhausted(believe(2, failed, failed, { type: 'paused' }, failed))).toBe(false)
  })

  it('counts pauses until a connection lasts', () => {
    const paused = believe(1, failed, { type: 'paused' }, failed, { type: 'paused' })
    expect(paused.pauses).toBe(2)
    expect(updateBelief(paused, { type: 'lasted' })).toMatchObject({ pauses: 0, failed: 0 })
  })

  it('remembers how far the cluster was seen to be', () => {
    const belief = believe(
      2,
      { type: 'observed', database: leader },
      { type: 'observed', database: { ...leader, index: 12 } },
      { type: 'observed', database: { ...leader, index: 11 } },
    )
    expect(belief).toMatchObject({ cid: 'c', index: 12 })
  })
})

describe('replacement', () => {
  const patienceMs = 1000
  const old = { ...leader, sid: 's0' }

  /** A server of another cluster, or of the same one with older data. */
  const other = (sid: string, fields: Partial<ServerDatabase> = {}): ServerDatabase => ({
    ...leader,
    cid: 'other',
    sid,
    leader: false,
    ...fields,
  })
  const older = (sid: string, fields: Partial<ServerDatabase> = {}) =>
    other(sid, { cid: 'c', index: 9, ...fields })

  /** What it says at last, when the servers said so in turn, over and over, until the patience was over. */
  function verdict(servers: readonly (ServerDatabase | undefined)[]): string | undefined {
    let belief = believe(servers.length, { type: 'observed', database: old })
    let result: string | undefined
    for (let atMs = 0; atMs <= 2 * patienceMs; atMs += 100) {
      for (const database of servers) {
        belief = updateBelief(belief, { type: 'tried' })
        if (database !== undefined) {
          belief = updateBelief(belief, { type: 'heard', database, atMs })
          const found = replacement(belief, database, patienceMs, atMs)
          if (found !== undefined && atMs < patienceMs) throw new Error('too early')
          result ??= found
        }
        belief = updateBelief(belief, { type: 'failed' })
      }
    }
    return result
  }
  const isLeader = { leader: true }

  it.each<[string, readonly (ServerDatabase | undefined)[], string]>([
    ['the only server', [other('a', isLeader)], 'another cluster'],
    ['the only server, put back', [older('a', isLeader)], 'older'],
    ['two of three', [other('a', isLeader), other('b'), undefined], 'another cluster'],
    ['all, put back', [older('a', { index: 8 }), older('b', isLeader), older('c')], 'older'],
    [
      'two of three against one that was left over',
      [old, other('a'), other('b', isLeader)],
      'another cluster',
    ],
  ])('is believed of %s', (_name, servers, want) => expect(verdict(servers)).toContain(want))

  it.each<[string, readonly (ServerDatabase | undefined)[]]>([
    ['one of three that strayed', [other('a', isLeader), undefined, undefined]],
    ['one of three that was put back', [older('a', isLeader), old, { ...old, sid: 's1' }]],
    ['one of two', [other('a', isLeader), undefined]],
    ['one that answers at two endpoints', [other('a', isLeader), other('a', isLeader), undefined]],
    [
      'two that do not belong together',
      [other('a', isLeader), other('b', { cid: 'third', leader: true }), undefined],
    ],
    ['servers of which none leads', [other('a'), other('b'), undefined]],
    [
      'servers that are not in touch with each other',
      [other('a', { ...isLeader, connected: false }), other('b', { connected: false }), undefined],
    ],
    ['servers that are as they were', [old, { ...old, sid: 's1', leader: false }, { ...old, sid: 's2' }]],
  ])('is not believed of %s', (_name, servers) => expect(verdict(servers)).toBeUndefined())

  it('takes its time again after a server came back that is as it was', () => {
    const events = (atMs: number): ClusterEvent[] =>
      [other('a', isLeader), other('b')].flatMap((database, n): ClusterEvent[] => [
        { type: 'heard', database, atMs: atMs + n },
        { type: 'failed' },
      ])
    const first: ClusterEvent[] = [{ type: 'observed', database: old }, ...events(0)]
    const belief = believe(2, ...first, { type: 'observed', database: old }, ...events(5000))
    expect(belief.doubt?.sinceMs).toBe(5001)
  })

  it('makes what was known void', () => {
    const after = believe(1, { type: 'observed', database: old }, { type: 'replaced' })
    const database = other('a', isLeader)
    expect(unsuitability(after, database, true, [])).toBeUndefined()
    expect(updateBelief(after, { type: 'observed', database })).toMatchObject({ cid: 'other', index: 10 })
  })
})
