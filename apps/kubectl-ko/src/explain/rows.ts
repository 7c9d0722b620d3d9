import type { Cluster, PodContainer } from '../cluster.ts'
import { databases } from '../components.ts'
import { parseRows, type Row } from '../rows.ts'

/** A row and whose it is. */
export interface ExplainedRow {
  readonly table: string
  readonly row: string
  readonly name: string
  /** FEATURE/KEY that wrote it; `nobody of ours` without mark. */
  readonly owner: string
  /** KIND/NAME by which its owner knows it. */
  readonly id: string
  readonly content: string
}

/** Tables of the Northbound whose rows have marks. */
const tables = [
  'Logical_Switch',
  'Logical_Switch_Port',
  'Logical_Router',
  'Logical_Router_Port',
  'Logical_Router_Static_Route',
  'Logical_Router_Policy',
  'ACL',
  'Port_Group',
  'Address_Set',
  'Load_Balancer',
  'Load_Balancer_Health_Check',
  'NAT',
  'DHCP_Options',
  'DNS',
  'QoS',
  'Meter',
  'Meter_Band',
  'BFD',
  'Gateway_Chassis',
  'HA_Chassis_Group',
  'HA_Chassis',
  'Copp',
] as const

const nbctl = [
  'ovn-nbctl',
  '--no-leader-only',
  `--db=${databases.nb.socket}`,
  '--timeout=60',
  '--format=json',
]

/** All rows that a feature wrote for this key. */
export async function rowsOfObject(
  cluster: Cluster,
  northbound: PodContainer,
  key: string,
): Promise<readonly ExplainedRow[]> {
  const text = await cluster.tell(northbound, [...nbctl, ...tables.flatMap((table) => ['--', 'list', table])])
  return rowsByTable(text).filter(({ owner }) => owner.slice(owner.indexOf('/') + 1) === key)
}

/** The row, or the flow and the row that it was made of. */
export async function explainRow(
  cluster: Cluster,
  northbound: PodContainer,
  southbound: PodContainer,
  id: string,
): Promise<readonly ExplainedRow[]> {
  const own = await rowsWith(cluster, northbound, id)
  if (own.length > 0) return own
  const output = await cluster.ask(southbound, [
    ...['ovn-sbctl', '--no-leader-only', `--db=${databases.sb.socket}`, '--timeout=60', '--format=json'],
    ...['--if-exists', 'list', 'Logical_Flow', id],
  ])
  const [flow] = output.exitCode === 0 ? parseRows(output.stdout) : []
  if (flow === undefined) return []
  const ids = idsOf(flow)
  const hint = ids.get('stage-hint')
  const stage = ids.get('stage-name') ?? ''
  const made = hint === undefined ? [] : await rowsWith(cluster, northbound, hint)
  const explained: ExplainedRow = {
    table: 'Logical_Flow',
    row: String(flow['_uuid']),
    name: stage,
    owner: made[0]?.owner ?? `northd${ids.has('source') ? `, ${ids.get('source') ?? ''}` : ''}`,
    id: made.length === 0 ? '' : `of the row below`,
    content: `${String(flow['match'])} → ${String(flow['actions'])}`,
  }
  return [explained, ...made]
}

async function rowsWith(
  cluster: Cluster,
  northbound: PodContainer,
  id: string,
): Promise<readonly ExplainedRow[]> {
  const output = await cluster.ask(northbound, [
    ...nbctl,
    ...tables.flatMap((table) => ['--', '--if-exists', 'list', table, id]),
  ])
  return output.exitCode === 0 ? rowsByTable(output.stdout) : []
}

/** One line of output for each table. */
function rowsByTable(text: string): readonly ExplainedRow[] {
  const lines = text.split('\n')
  return tables.flatMap((table, index) => parseRows(lines[index] ?? '').map((row) => explained(table, row)))
}

function explained(table: string, row: Row): ExplainedRow {
  const ids = idsOf(row)
  const own =
    ids.get('owner') ?? (ids.get('vendor') === 'kube-ovn' ? 'kube-ovn, not adopted yet' : 'nobody of ours')
  const content = ['match', 'action', 'addresses', 'networks', 'ip_prefix', 'nexthop', 'vips', 'ports']
    .flatMap((column) => {
      const value = row[column]
      return value === undefined || (Array.isArray(value) && value.length === 0)
        ? []
        : [`${column}=${Array.isArray(value) ? value.join(' ') : String(value)}`]
    })
    .join(', ')
  return {
    table,
    row: String(row['_uuid']),
    name: typeof row['name'] === 'string' ? row['name'] : '',
    owner: own,
    id: ids.get('id') ?? '',
    content: content.slice(0, 200),
  }
}

function idsOf(row: Row): ReadonlyMap<string, string> {
  return new Map((row['external_ids'] ?? []) as readonly (readonly [string, string])[])
}
