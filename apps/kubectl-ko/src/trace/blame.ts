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

const aclColumns = ['_uuid', 'name', 'match', 'action', 'priority', 'direction', 'external_ids']

/** Finds the ACL that made the last of the flows that stem from one. */
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
    const acl = await readRecord(cluster, northbound, 'nb', 'ACL', aclColumns, hint)
    if (acl !== undefined) return blameOf(acl)
  }
  return undefined
}

function blameOf(acl: Row): Blame {
  const owner = idsOf(acl).get('owner')
  const [match, action, row] = [String(acl['match']), String(acl['action']), String(acl['_uuid'])]
  const whose = owner === undefined ? 'an ACL without owner' : `an ACL of ${owner}`
  return {
    table: 'ACL',
    row,
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
