import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { Cache } from 'ovsdb-client'
import { canonicalText, countedOnce, isList, isObject, mapTexts, sortKeys } from './dump.ts'
import type { Dump, Json, JsonObject } from './dump.ts'
import type { MacNames, Names } from './mac-names.ts'

type Table = keyof OvnNorthbound
type Row = Readonly<Record<string, Json | undefined>>

/** Tables that describe the server and not the network. */
const skippedTables: ReadonlySet<string> = new Set(['Connection', 'SSL'])

/** Columns, or keys of map columns, that differ between runs or belong to northd. */
const skipped: Readonly<Record<string, readonly string[]>> = {
  NB_Global: [
    'nb_cfg',
    'nb_cfg_timestamp',
    'sb_cfg',
    'sb_cfg_timestamp',
    'hv_cfg',
    'hv_cfg_timestamp',
    'connections',
    'ssl',
    'external_ids:kube-ovn-version',
    'options:mac_prefix',
    'options:max_tunid',
    'options:northd_internal_version',
    'options:svc_monitor_mac',
    'options:northd_probe_interval',
    'options:use_logical_dp_groups',
    'options:inactivity_probe',
    'options:version_compatibility',
  ],
  Logical_Switch_Port: ['up', 'dynamic_addresses'],
  Logical_Router_Port: ['status'],
  BFD: ['status'],
}

const countedOnceColumns: ReadonlySet<string> = new Set(['static_routes', 'policies'])

export const northboundTables = (Object.keys(ovnNorthboundSchema.tables) as readonly Table[]).filter(
  (table) => !skippedTables.has(table),
)

/** Names the MAC addresses of ports, router ports before switch ports. */
export function learnNorthboundMacs(cache: Cache<OvnNorthbound>, macs: MacNames): void {
  for (const port of byName(cache.scan('Logical_Router_Port'))) macs.learn(port.mac, port.name)
  for (const port of byName(cache.scan('Logical_Switch_Port')))
    macs.learn(port.addresses.join(' '), port.name)
  for (const nat of cache.scan('NAT')) macs.learn(nat.external_mac ?? '', `nat:${nat.external_ip}`)
  for (const dhcp of cache.scan('DHCP_Options')) {
    const { ls = '', port = '', protocol = '' } = dhcp.external_ids
    for (const key of ['server_mac', 'server_id'])
      macs.learn(dhcp.options[key] ?? '', `dhcp:${ls}:${port}:${protocol}`)
  }
}

function byName<R extends { readonly name: string }>(rows: Iterable<R>): readonly R[] {
  return [...rows].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Prints the whole database in a form in which two runs can be compared: names for references, no defaults. */
export function dumpNorthbound(cache: Cache<OvnNorthbound>, shownNames: Names): Dump {
  const names = new Map<string, string>()
  for (const table of northboundTables) {
    for (const row of cache.scan(table)) names.set(row._uuid, `${table}:${naturalName(table, { ...row })}`)
  }
  const name = (text: string): string => shownNames.apply(names.get(text) ?? text)
  const tables = northboundTables.map((table): [string, readonly JsonObject[]] => {
    const rows = [...cache.scan(table)].map((row) => dumpRow(table, { ...row }, name))
    const sorted = rows.sort((a, b) => (canonicalText(a) < canonicalText(b) ? -1 : 1))
    return [table, countedOnce.has(table) ? distinct(sorted) : sorted]
  })
  return Object.fromEntries(tables.filter(([, rows]) => rows.length > 0).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function dumpRow(table: string, row: Row, name: (text: string) => string): JsonObject {
  const left = skipped[table] ?? []
  const columns = Object.entries(row).flatMap(([column, value]): [string, Json][] => {
    if (column === '_uuid' || left.includes(column) || value === undefined) return []
    const shown = mapTexts(withoutKeys(column, value, left), name)
    const settled = isList(shown) ? sortedList(column, shown) : shown
    return isDefault(settled, isOptional(table, column)) ? [] : [[column, settled]]
  })
  return sortKeys(Object.fromEntries(columns)) as JsonObject
}

function withoutKeys(column: string, value: Json, left: readonly string[]): Json {
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => !left.includes(`${column}:${key}`)))
}

function sortedList(column: string, list: readonly Json[]): readonly Json[] {
  const sorted = [...list].sort((a, b) => (canonicalText(a) < canonicalText(b) ? -1 : 1))
  return countedOnceColumns.has(column) ? distinct(sorted) : sorted
}

function distinct<T extends Json>(sorted: readonly T[]): readonly T[] {
  return sorted.filter(
    (value, index) => index === 0 || canonicalText(value) !== canonicalText(sorted[index - 1] ?? null),
  )
}

function isDefault(value: Json, hasAbsence: boolean): boolean {
  if (isList(value)) return value.length === 0
  if (isObject(value)) return Object.keys(value).length === 0
  return !hasAbsence && (value === '' || value === 0 || value === false)
}

/** Whether a column may have no value, so that an empty text or a zero is one that somebody chose. */
function isOptional(table: string, column: string): boolean {
  const tables: Readonly<
    Record<string, { readonly columns: Readonly<Record<string, { readonly type: unknown }>> }>
  > = ovnNorthboundSchema.tables
  const type = tables[table]?.columns[column]?.type
  return typeof type === 'object' && type !== null && 'min' in type && type.min === 0
}

/** What a person would call a row. */
function naturalName(table: string, row: Row): string {
  const text = (column: string): string => scalarText(row[column])
  const ids = isObject(row['external_ids']) ? row['external_ids'] : {}
  const id = (key: string): string => scalarText(ids[key])
  switch (table) {
    case 'ACL':
      return `${text('direction')}/${text('priority')}/${text('match')}/tier${text('tier')}`
    case 'Logical_Router_Static_Route':
      return `${text('route_table')}|${text('policy')}|${text('ip_prefix')}|${text('nexthop')}`
    case 'Logical_Router_Policy':
      return `${text('priority')}/${text('match')}/${text('action')}`
    case 'NAT':
      return `${text('type')}/${text('external_ip')}/${text('logical_ip')}`
    case 'DHCP_Options':
      return `${id('ls')}/${id('port')}/${text('cidr')}`
    case 'BFD':
      return `${text('logical_port')}/${text('dst_ip')}`
    case 'HA_Chassis':
      return `${id('group')}/${text('chassis_name')}`
    case 'Load_Balancer_Health_Check':
      return text('vip')
    case 'Meter_Band':
      return `${text('action')}/${text('rate')}/${text('burst_size')}`
    default:
      return text('name') === '' ? 'row' : text('name')
  }
}

function scalarText(value: Json | undefined): string {
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}
