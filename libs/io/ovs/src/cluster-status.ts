/** What a member of a RAFT cluster tells of itself: `cluster/status` of ovsdb-server(1). */
export interface ClusterStatus {
  /** The whole identifiers. */
  readonly clusterId: string
  readonly serverId: string
  /** `cluster member`, `joining cluster`, … */
  readonly status: string
  readonly role: string
  readonly term: number
  readonly isLeader: boolean
  /** Whether it knows who leads: a member that is cut off from the others forgets that within the time of an election. */
  readonly knowsLeader: boolean
  /** Whether it voted for itself in this term. */
  readonly hasOwnVote: boolean
  readonly electionTimerMs: number
  /** The first entry of the log, and the one that comes next. */
  readonly log: { readonly start: number; readonly next: number }
  readonly notCommitted: number
  readonly notApplied: number
  readonly connections: readonly ClusterConnection[]
  readonly disconnections: number
  readonly servers: readonly ClusterServer[]
}

export interface ClusterConnection {
  readonly isInbound: boolean
  /**
   * It was not closed, and who leads has heard of the peer within the time of an election: members probe none of their connections, and to see
   * that a machine has lost its power takes TCP a quarter of an hour.
   */
  readonly isConnected: boolean
  /** The first four digits of the peer's identifier: it tells no more. */
  readonly peer: string
}

export interface ClusterServer {
  readonly id: string
  readonly address: string
  readonly isSelf: boolean
  /** A leader alone knows these. */
  readonly nextIndex?: number
  readonly matchIndex?: number
  /** How long ago it was heard of. */
  readonly lastMessageMs?: number
}

/** Reads the answer to `cluster/status`. What is not in it is 0 or empty. */
export function parseClusterStatus(text: string): ClusterStatus {
  const field = (name: string): string => new RegExp(`^${name}: *(.*)$`, 'm').exec(text)?.[1]?.trim() ?? ''
  const [, start, next] = /^\[(\d+), (\d+)\]$/.exec(field('Log')) ?? []
  const electionTimerMs = numberOf(field('Election timer'))
  const leader = field('Leader')
  const isLeader = leader === 'self'
  const servers = [...text.matchAll(serverLine)].map(([, id = '', address = '', rest = '']) =>
    readServer(id, address, rest),
  )
  const isSilent = (peer: string): boolean =>
    isLeader && servers.some(({ id, lastMessageMs = 0 }) => id === peer && lastMessageMs > electionTimerMs)
  return {
    clusterId: wholeId(field('Cluster ID')),
    serverId: wholeId(field('Server ID')),
    status: field('Status'),
    role: field('Role'),
    term: numberOf(field('Term')),
    isLeader,
    knowsLeader: leader !== '' && leader !== 'unknown',
    hasOwnVote: field('Vote') === 'self',
    electionTimerMs,
    log: { start: numberOf(start), next: numberOf(next) },
    notCommitted: numberOf(field('Entries not yet committed')),
    notApplied: numberOf(field('Entries not yet applied')),
    connections: [...field('Connections').matchAll(/(\()?(<-|->)([0-9a-f]{4})/g)].map(
      ([, failed, direction, peer = '']) => ({
        isInbound: direction === '<-',
        isConnected: failed === undefined && !isSilent(peer),
        peer,
      }),
    ),
    disconnections: numberOf(field('Disconnections')),
    servers,
  }
}

/** What is told of a server behind its address. */
const serverNumbers = {
  nextIndex: /next_index=(\d+)/,
  matchIndex: /match_index=(\d+)/,
  lastMessageMs: /last msg (\d+) ms ago/,
} as const

function readServer(id: string, address: string, rest: string): ClusterServer {
  const numbers = Object.entries(serverNumbers).flatMap(([name, pattern]) => {
    const [, digits] = pattern.exec(rest) ?? []
    return digits === undefined ? [] : [[name, Number(digits)] as const]
  })
  return { id, address, isSelf: rest.includes('(self)'), ...Object.fromEntries(numbers) }
}

/** `    a1b2 (a1b2 at tcp:10.0.0.1:6643) (self) next_index=2 match_index=13`. A nickname may stand in place of the first. */
const serverLine = /^ +\S+ \(([0-9a-f]{4}) at (\S+)\)(.*)$/gm

/** `a1b2 (a1b2c3d4-…)`: short, then whole. */
function wholeId(text: string): string {
  return /\(([^)]+)\)/.exec(text)?.[1] ?? text
}

function numberOf(text: string | undefined): number {
  return Number(text ?? 0) || 0
}
