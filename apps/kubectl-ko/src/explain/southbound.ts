import type { Cluster, PodContainer } from '../cluster.ts'
import { databases } from '../databases.ts'
import { parseRows, type Row } from '../rows.ts'
import { idsOf, northboundRows, rowsNamed, type ExplainedRow } from './northbound.ts'
import { entriesOfFlow } from './service-entries.ts'

/** Of whose rows flows have cookies, and what leads from there to the Northbound. */
const tables = [
  'Logical_Flow',
  'Port_Binding',
  'Multicast_Group',
  'Load_Balancer',
  'Datapath_Binding',
  'MAC_Binding',
  'Static_MAC_Binding',
  'FDB',
  'Chassis',
  'Encap',
] as const

type Table = (typeof tables)[number]

const sbctl = [
  ...['ovn-sbctl', '--no-leader-only', `--db=${databases.sb.socket}`],
  ...['--timeout=60', '--format=json'],
]

/** A row of the Southbound, e.g. by the cookie of a flow, and the rows of the Northbound that it was made of. */
export async function explainSouthbound(
  cluster: Cluster,
  northbound: PodContainer,
  southbound: PodContainer,
  id: string,
): Promise<readonly ExplainedRow[]> {
  const rows = await southboundRows(cluster, southbound, tables, id)
  const found = await Promise.all(
    rows.map(async ({ table, row }) => {
      const made = await sourcesOf(cluster, northbound, southbound, table, row)
      const flow = `${String(row['match'])} ${String(row['actions'])}`
      const entries = table === 'Logical_Flow' ? await entriesOfFlow(cluster, northbound, made, flow) : []
      return [describe(table, row, [...entries, ...made]), ...made, ...entries]
    }),
  )
  return found.flat()
}

function describe(table: Table, row: Row, made: readonly ExplainedRow[]): ExplainedRow {
  const ids = idsOf(row)
  const source = ids.get('source')
  const by = table === 'Logical_Flow' ? `northd${source === undefined ? '' : `, ${source}`}` : 'northd'
  const name = [ids.get('stage-name'), row['logical_port'], row['name'], row['hostname']].find(
    (one) => typeof one === 'string' && one !== '',
  )
  return {
    table,
    row: String(row['_uuid']),
    name: typeof name === 'string' ? name : '',
    owner: made[0]?.owner ?? by,
    id: made.length === 0 ? 'made for all alike' : 'of the row below',
    rule: made[0]?.rule ?? '',
    content: contentOf(row),
  }
}

function contentOf(row: Row): string {
  if (row['match'] !== undefined) return `${String(row['match'])} → ${String(row['actions'])}`
  return ['type', 'mac', 'ip', 'vips', 'tunnel_key']
    .flatMap((column) => {
      const value = row[column]
      const text = Array.isArray(value) ? value.join(' ') : String(value ?? '')
      return text === '' ? [] : [`${column}=${text}`]
    })
    .join(', ')
    .slice(0, 200)
}

async function sourcesOf(
  cluster: Cluster,
  northbound: PodContainer,
  southbound: PodContainer,
  table: Table,
  row: Row,
): Promise<readonly ExplainedRow[]> {
  const hint = idsOf(row).get('stage-hint')
  if (hint !== undefined) {
    const hinted = await northboundRows(cluster, northbound, hint)
    if (hinted.length > 0) return hinted
  }
  if (table === 'Load_Balancer') return rowsNamed(cluster, northbound, String(row['name'] ?? ''))
  const port = row['logical_port']
  if (typeof port === 'string' && port !== '') {
    // What a distributed router has on a node stands for its port.
    const named = await rowsNamed(cluster, northbound, port)
    return named.length > 0 ? named : rowsNamed(cluster, northbound, port.replace(/^cr-/, ''))
  }
  const datapath = table === 'Datapath_Binding' ? row : await datapathOf(cluster, southbound, row)
  if (datapath === undefined) return []
  const ids = idsOf(datapath)
  const made = ids.get('logical-switch') ?? ids.get('logical-router') ?? String(datapath['nb_uuid'] ?? '')
  return made === '' ? [] : northboundRows(cluster, northbound, made)
}

async function datapathOf(cluster: Cluster, southbound: PodContainer, row: Row): Promise<Row | undefined> {
  const id = row['datapath'] ?? row['logical_datapath']
  if (typeof id !== 'string' || id === '') return undefined
  const [found] = await southboundRows(cluster, southbound, ['Datapath_Binding'], id)
  return found?.row
}

async function southboundRows<T extends Table>(
  cluster: Cluster,
  southbound: PodContainer,
  among: readonly T[],
  id: string,
): Promise<readonly { readonly table: T; readonly row: Row }[]> {
  const output = await cluster.ask(southbound, [
    ...sbctl,
    ...among.flatMap((table) => ['--', '--if-exists', 'list', table, id]),
  ])
  if (output.exitCode !== 0) return []
  const lines = output.stdout.split('\n')
  return among.flatMap((table, index) => parseRows(lines[index] ?? '').map((row) => ({ table, row })))
}
