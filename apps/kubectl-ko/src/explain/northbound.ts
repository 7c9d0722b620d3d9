import { objectsOfOwner, objectTables, ownerOfRow, ownersOfRows, type SampledRow } from '@kube-ovn/ovn-names'
import type { Cluster, PodContainer } from '../cluster.ts'
import { databases } from '../databases.ts'
import { parseRows, type Row } from '../rows.ts'
import type { AskedKind } from './asked-kind.ts'
import { mayHaveLogged, type LoggedPacket } from './acl-log.ts'
import { flowsOfRow, setSizes } from './row-flows.ts'
import { ruleOf } from './rule-of.ts'

/** A row and whose it is. */
export interface ExplainedRow {
  readonly table: string
  readonly row: string
  readonly name: string
  /** FEATURE/KEY that wrote it; `nobody of ours` without mark. */
  readonly owner: string
  /** KIND/NAME by which its owner knows it. */
  readonly id: string
  /** Which part of its object it is made of; empty for what is no policy's. */
  readonly rule: string
  /** Of an ACL, how many OpenFlow rules it is at most on a node that has one of its ports; absent where that is not known. */
  readonly flows?: number
  readonly content: string
}

const nbctl = [
  'ovn-nbctl',
  '--no-leader-only',
  `--db=${databases.nb.socket}`,
  '--timeout=60',
  '--format=json',
]

/** All rows that are of an object, or that a feature wrote for a key. */
export async function rowsOfObject(
  cluster: Cluster,
  northbound: PodContainer,
  asked: AskedKind,
  key: string,
): Promise<readonly ExplainedRow[]> {
  const all = await allRows(cluster, northbound)
  return all.filter(({ owner }) =>
    'feature' in asked
      ? owner === `${asked.feature}/${key}`
      : objectsOfOwner(owner)?.some((object) => object.kind === asked.kind && object.key === key),
  )
}

async function allRows(cluster: Cluster, northbound: PodContainer): Promise<readonly ExplainedRow[]> {
  return rowsByTable(
    await cluster.tell(northbound, [...nbctl, ...objectTables.flatMap((table) => ['--', 'list', table])]),
  )
}

/** The row that has this identifier, or begins with it. */
export async function northboundRows(
  cluster: Cluster,
  northbound: PodContainer,
  id: string,
): Promise<readonly ExplainedRow[]> {
  const output = await cluster.ask(northbound, [
    ...nbctl,
    ...objectTables.flatMap((table) => ['--', '--if-exists', 'list', table, id]),
  ])
  const rows = output.exitCode === 0 ? rowsByTable(output.stdout) : []
  const owned = rows.map(async (row) => {
    if (row.table !== 'Sample') return row
    const [acl] = await aclsSampledAs(cluster, northbound, row.row)
    return acl === undefined ? row : { ...row, owner: acl.owner }
  })
  return Promise.all(owned)
}

/** The ACL whose packets this row of `Sample` is about. */
async function aclsSampledAs(
  cluster: Cluster,
  northbound: PodContainer,
  sample: string,
): Promise<readonly ExplainedRow[]> {
  const text = await cluster.tell(northbound, [...nbctl, 'find', 'ACL', `sample_new=${sample}`])
  return parseRows(text).map((row) => explained('ACL', row))
}

/** Ports, and load balancers, of this name. */
export async function rowsNamed(
  cluster: Cluster,
  northbound: PodContainer,
  name: string,
): Promise<readonly ExplainedRow[]> {
  const among = ['Logical_Switch_Port', 'Logical_Router_Port', 'Load_Balancer'] as const
  const text = await cluster.tell(northbound, [
    ...nbctl,
    ...among.flatMap((table) => ['--', 'find', table, `name=${JSON.stringify(name)}`]),
  ])
  return rowsByTable(text, among)
}

/** The ACLs that may have logged a packet. */
export async function aclsOf(
  cluster: Cluster,
  northbound: PodContainer,
  packet: LoggedPacket,
): Promise<readonly ExplainedRow[]> {
  if (packet.name === '') return []
  const text = await cluster.tell(northbound, [
    ...nbctl,
    'find',
    'ACL',
    `name=${JSON.stringify(packet.name)}`,
  ])
  return parseRows(text)
    .filter((row) => {
      const [action, direction, severity] = ['action', 'direction', 'severity'].map((column) =>
        String(row[column] ?? ''),
      ) as [string, string, string]
      return mayHaveLogged(packet, { action, direction, severity, log: row['log'] === true })
    })
    .map((row) => explained('ACL', row))
}

/** The ACL that has samples taken with this cookie. */
export async function sampledAcls(
  cluster: Cluster,
  northbound: PodContainer,
  cookie: number,
): Promise<readonly ExplainedRow[]> {
  const text = await cluster.tell(northbound, [...nbctl, 'find', 'Sample', `metadata=${cookie}`])
  const acls = parseRows(text).map((sample) => aclsSampledAs(cluster, northbound, String(sample['_uuid'])))
  return (await Promise.all(acls)).flat()
}

/** How many rows there are, and those that no object of ours accounts for. */
export async function strangersOf(
  cluster: Cluster,
  northbound: PodContainer,
): Promise<{ readonly rows: number; readonly strangers: readonly ExplainedRow[] }> {
  const all = await allRows(cluster, northbound)
  return { rows: all.length, strangers: all.filter(({ owner }) => objectsOfOwner(owner) === undefined) }
}

/** One line of output for each table. */
function rowsByTable(text: string, among: readonly string[] = objectTables): readonly ExplainedRow[] {
  const lines = text.split('\n')
  const rows = among.flatMap((table, index) =>
    parseRows(lines[index] ?? '').map((row) => [table, row] as const),
  )
  const sizes = setSizes(rows)
  return ownersOfRows(rows.map(([table, row]) => ({ ...marksOf(table, row), content: row }))).map(
    ({ row: { table, content }, owner }) => {
      const flows = flowsOfRow(table, content, sizes)
      return { ...explained(table, content, owner), ...(flows !== undefined && { flows }) }
    },
  )
}

function explained(table: string, row: Row, owner = ownerOfRow(marksOf(table, row))): ExplainedRow {
  const ids = idsOf(row)
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
    owner,
    id: ids.get('id') ?? '',
    rule: ruleOf(row, ids),
    content: content.slice(0, 200),
  }
}

function marksOf(table: string, row: Row): SampledRow {
  const sample = row['sample_new']
  return {
    table,
    row: String(row['_uuid']),
    name: String(row['name'] ?? ''),
    externalIds: idsOf(row),
    sample: typeof sample === 'string' ? sample : '',
  }
}

export function idsOf(row: Row): ReadonlyMap<string, string> {
  return new Map((row['external_ids'] ?? []) as readonly (readonly [string, string])[])
}
