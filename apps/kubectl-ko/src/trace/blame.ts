import type { Cluster, PodContainer } from '../cluster.ts'
import { parseRows, type Row } from '../rows.ts'

/** The row of the Northbound, and the object, that a logical flow is made of. */
export interface Blame {
  readonly table: string
  readonly row: string
  /** Which feature's key wrote it, as its mark says. */
  readonly owner?: string
  readonly match?: string
  readonly action?: string
  readonly text: string
}

/** What may drop a packet by somebody's wish: how it is called, and what in a row says that and for which packets. */
interface Dropping {
  readonly table: string
  readonly noun: string
  readonly columns: readonly string[]
  readonly told: (row: Row) => { readonly match: string; readonly action: string }
}

const dropping: readonly Dropping[] = [
  {
    table: 'ACL',
    noun: 'an ACL',
    columns: ['name', 'match', 'action', 'priority', 'direction'],
    told: (row) => ({ match: String(row['match']), action: String(row['action']) }),
  },
  {
    table: 'Logical_Router_Policy',
    noun: 'a routing policy',
    columns: ['match', 'action', 'priority'],
    told: (row) => ({ match: String(row['match']), action: String(row['action']) }),
  },
  {
    table: 'Logical_Router_Static_Route',
    noun: 'a route',
    columns: ['ip_prefix', 'nexthop'],
    told: (row) => ({ match: String(row['ip_prefix']), action: String(row['nexthop']) }),
  },
]

/** The actions of ACLs and policies, and the next hop of routes, that let nothing pass. */
const drops = new Set(['drop', 'reject', 'discard'])

/** Finds the ACL, routing policy or route that dropped a packet, by the last of the flows that it passed. */
export async function blameFlow(
  cluster: Cluster,
  southbound: PodContainer,
  northbound: PodContainer,
  flows: readonly string[],
): Promise<Blame | undefined> {
  if (flows.length === 0) return undefined
  // Where an ACL decided, the packet is dropped one stage on.
  const recent = flows.slice(-3).toReversed()
  const found = await Promise.all(
    recent.map((flow) => readRecord(cluster, southbound, 'sb', 'Logical_Flow', ['external_ids'], flow)),
  )
  const hints = found.flatMap((row) => (row === undefined ? [] : (idsOf(row).get('stage-hint') ?? [])))
  for (const hint of hints) {
    for (const kind of dropping) {
      const columns = ['_uuid', 'external_ids', ...kind.columns]
      const row = await readRecord(cluster, northbound, 'nb', kind.table, columns, hint)
      const blame = row === undefined ? undefined : blameOf(kind, row)
      if (blame !== undefined) return blame
    }
  }
  return undefined
}

/** None of a row that lets packets pass. */
function blameOf({ table, noun, told }: Dropping, row: Row): Blame | undefined {
  const { match, action } = told(row)
  if (!drops.has(action)) return undefined
  const owner = idsOf(row).get('owner')
  const whose = owner === undefined ? `${noun} without owner` : `${noun} of ${owner}`
  return {
    table,
    row: String(row['_uuid']),
    match,
    action,
    ...(owner !== undefined && { owner }),
    text: `${whose} (${action}, ${match})`,
  }
}

function idsOf(row: Row): ReadonlyMap<string, string> {
  return new Map(row['external_ids'] as readonly (readonly [string, string])[])
}

const tools = { sb: 'ovn-sbctl', nb: 'ovn-nbctl' } as const

/** The row whose identifier begins so; none when it has gone meanwhile, or is of another table. */
async function readRecord(
  cluster: Cluster,
  where: PodContainer,
  database: 'nb' | 'sb',
  table: string,
  columns: readonly string[],
  prefix: string,
): Promise<Row | undefined> {
  const { stdout, exitCode } = await cluster.ask(where, [
    tools[database],
    '--no-leader-only',
    '--timeout=30',
    '--format=json',
    `--columns=${columns.join(',')}`,
    '--if-exists',
    'list',
    table,
    prefix,
  ])
  return exitCode === 0 ? parseRows(stdout)[0] : undefined
}
