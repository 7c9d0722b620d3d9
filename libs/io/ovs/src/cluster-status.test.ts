import { expect, it } from 'vitest'
import { parseClusterStatus } from './cluster-status.ts'
import { parseMemoryUsage } from './memory-usage.ts'

const leader = `8d7e
Name: OVN_Northbound
Cluster ID: 2f3a (2f3a0c11-56d7-4a4e-9b1e-0f6f9f1f8a01)
Server ID: 8d7e (8d7e1a5c-7d0b-4d3c-8c57-7a0b9d2f1e10)
Address: tcp:10.0.0.1:6643
Status: cluster member
Role: leader
Term: 3
Leader: self
Vote: self

Last Election started 812 ms ago, reason: leadership_transfer
Last Election won: 811 ms ago
Election timer: 1000
Log: [2, 19]
Entries not yet committed: 1
Entries not yet applied: 2
Connections: ->0000 <-91c4 ->91c4 (->ab12)
Disconnections: 4
Servers:
    8d7e (8d7e at tcp:10.0.0.1:6643) (self) next_index=14 match_index=18
    91c4 (91c4 at ssl:[fd00::2]:6643) next_index=19 match_index=17 last msg 12 ms ago
    ab12 (ab12 at tcp:10.0.0.3:6643) next_index=5 match_index=0
`

it('reads what a leader tells', () => {
  expect(parseClusterStatus(leader)).toEqual({
    clusterId: '2f3a0c11-56d7-4a4e-9b1e-0f6f9f1f8a01',
    serverId: '8d7e1a5c-7d0b-4d3c-8c57-7a0b9d2f1e10',
    status: 'cluster member',
    role: 'leader',
    term: 3,
    isLeader: true,
    knowsLeader: true,
    hasOwnVote: true,
    electionTimerMs: 1000,
    log: { start: 2, next: 19 },
    notCommitted: 1,
    notApplied: 2,
    connections: [
      { isInbound: false, isConnected: true, peer: '0000' },
      { isInbound: true, isConnected: true, peer: '91c4' },
      { isInbound: false, isConnected: true, peer: '91c4' },
      { isInbound: false, isConnected: false, peer: 'ab12' },
    ],
    disconnections: 4,
    servers: [
      { id: '8d7e', address: 'tcp:10.0.0.1:6643', isSelf: true, nextIndex: 14, matchIndex: 18 },
      {
        id: '91c4',
        address: 'ssl:[fd00::2]:6643',
        isSelf: false,
        nextIndex: 19,
        matchIndex: 17,
        lastMessageMs: 12,
      },
      { id: 'ab12', address: 'tcp:10.0.0.3:6643', isSelf: false, nextIndex: 5, matchIndex: 0 },
    ],
  })
})

it('takes a peer for lost of which the leader has not heard for as long as an election takes', () => {
  const connected = (text: string) =>
    parseClusterStatus(text).connections.filter(({ peer, isConnected }) => peer === '91c4' && isConnected)
  expect(connected(leader)).toHaveLength(2)
  const silent = leader.replace('last msg 12 ms', 'last msg 1001 ms')
  expect(connected(silent)).toEqual([])
  // Nobody else is told when it was.
  expect(connected(silent.replace('Leader: self', 'Leader: 91c4'))).toHaveLength(2)
})

it('takes a follower, which knows no indexes, and one that has not joined yet', () => {
  const follower = leader
    .replace('Role: leader', 'Role: follower')
    .replace('Leader: self', 'Leader: 91c4')
    .replaceAll(/ next_index=\d+ match_index=\d+/g, '')
  expect(parseClusterStatus(follower)).toMatchObject({ role: 'follower', isLeader: false, knowsLeader: true })
  expect(parseClusterStatus(follower).servers[1]).toEqual({
    id: '91c4',
    address: 'ssl:[fd00::2]:6643',
    isSelf: false,
    lastMessageMs: 12,
  })
  expect(parseClusterStatus('Status: joining cluster\nCluster ID: not yet known\n')).toMatchObject({
    status: 'joining cluster',
    knowsLeader: false,
    clusterId: 'not yet known',
    term: 0,
    connections: [],
    servers: [],
  })
})

it('tells one that has lost the others from one that follows', () => {
  const alone = leader.replace('Role: leader', 'Role: candidate').replace('Leader: self', 'Leader: unknown')
  expect(parseClusterStatus(alone)).toMatchObject({
    role: 'candidate',
    isLeader: false,
    knowsLeader: false,
  })
})

it('reads what a daemon has in memory', () => {
  const usage = parseMemoryUsage('atoms:1029 cells:1284 json-caches:2 monitors:3\nraft-log:15')
  expect(Object.fromEntries(usage)).toEqual({
    atoms: 1029,
    cells: 1284,
    'json-caches': 2,
    monitors: 3,
    'raft-log': 15,
  })
})
