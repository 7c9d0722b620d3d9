import { describe, expect, it } from 'vitest'
import {
  type ClusterEvent,
  initialBelief,
  isExhausted,
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
