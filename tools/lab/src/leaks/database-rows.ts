import { isVipOf } from '../observe/moving-services.ts'

/** A table as `ovsdb-client --format=json dump` prints it. */
interface DumpedTable {
  readonly caption: string
  readonly headings: readonly string[]
  readonly data: readonly (readonly unknown[])[]
}

/** What of a table tells rows apart; every column but a few if it is not named. */
interface TableView {
  /** Only these, in this order; `external_ids:KEY` is one key. */
  readonly only?: readonly string[]
  /** All but these, because they change by themselves. */
  readonly not?: readonly string[]
  /** Of which members of maps only the keys are looked at, because what they have changes by itself. */
  readonly isKeyAlone?: (column: string, key: string) => boolean
  /** Of texts, shown as `#`: what is handed out anew when the row is. */
  readonly handedOut?: RegExp
}

/** What of a database is looked at, by table. */
export interface DatabaseView {
  readonly tables: Readonly<Record<string, TableView>>
  /** Whether tables that are not named are looked at too, with all their columns. */
  readonly hasOthers: boolean
}

/**
 * Everything that the product writes; what northd and servers write back is left out.
 *
 * @param moving addresses of load balancers whose backends are others whenever a suite restarts something
 */
export const northboundView = (moving: readonly string[] = []): DatabaseView => ({
  hasOthers: true,
  tables: {
    Load_Balancer: { isKeyAlone: (column, key) => column === 'vips' && isVipOf(moving, key) },
    NB_Global: { only: ['name', 'ipsec', 'external_ids:vendor'] },
    Connection: { only: ['target'] },
    Logical_Switch_Port: { not: ['up', 'dynamic_addresses'] },
    Logical_Router_Port: { not: ['status'] },
    BFD: { not: ['status'] },
  },
})

/** What northd made from it, without keys that it hands out, and without what is learned from traffic. */
export const southboundView: DatabaseView = {
  hasOthers: false,
  tables: {
    Address_Set: { only: ['name'] },
    BFD: { only: ['logical_port', 'dst_ip'] },
    Chassis: { only: ['hostname'] },
    DNS: { only: ['records'] },
    Datapath_Binding: { only: ['external_ids:name'] },
    Encap: { only: ['type', 'ip'] },
    HA_Chassis_Group: { only: ['name'] },
    Load_Balancer: { only: ['name', 'protocol'] },
    Logical_Flow: { only: ['pipeline', 'external_ids:stage-name'] },
    Meter: { only: ['name'] },
    Multicast_Group: { only: ['name'] },
    Port_Binding: { only: ['logical_port', 'type'] },
    // A switch that is made again, as when its database is restored, has another number.
    Port_Group: { only: ['name'], handedOut: /^\d+(?=_)/ },
    Static_MAC_Binding: { only: ['logical_port', 'ip'] },
  },
}

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

function dumpedTables(dump: string): readonly (DumpedTable & { readonly name: string })[] {
  return dump
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => {
      const table = JSON.parse(line) as DumpedTable
      return { ...table, name: table.caption.replace(/ table$/, '') }
    })
}

/** The rows of a dump, by table, with their columns as RFC 7047 has them. */
export function readTables(
  dump: string,
): readonly { readonly table: string; readonly rows: readonly ReadonlyMap<string, unknown>[] }[] {
  return dumpedTables(dump).map(({ name, headings, data }) => ({
    table: name,
    rows: data.map((row) => new Map(headings.map((heading, index) => [heading, row[index]] as const))),
  }))
}

/** Renders each row of a dump as one text, with `#` for UUIDs, which are others for the same content. */
export function readRows(dump: string, { tables, hasOthers }: DatabaseView): readonly string[] {
  return dumpedTables(dump).flatMap(({ name, headings, data }) => {
    const view = tables[name]
    if (view === undefined && !hasOthers) return []
    return data.map((row) => `${name} ${renderRow(headings, row, view ?? {})}`)
  })
}

function renderRow(headings: readonly string[], row: readonly unknown[], view: TableView): string {
  const columns = view.only ?? headings.filter((heading) => view.not?.includes(heading) !== true)
  return columns
    .filter((column) => column !== '_uuid')
    .map((column) => {
      const [heading = '', key] = column.split(':')
      const value = row[headings.indexOf(heading)]
      const isKeyAlone = (member: string) => view.isKeyAlone?.(heading, member) ?? false
      const shown = renderValue(key === undefined ? value : valueOfKey(value, key), isKeyAlone)
      return [column, view.handedOut === undefined ? shown : shown.replace(view.handedOut, '#')]
    })
    .filter(([, text]) => text !== '')
    .map(([column, text]) => `${column}=${text}`)
    .join(' ')
}

/** A value in the form of RFC 7047, 5.1: an atom, or a pair of what it is and its members. */
function renderValue(value: unknown, isKeyAlone: (key: string) => boolean): string {
  if (value === undefined) return ''
  if (!Array.isArray(value))
    return (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(uuidPattern, '#')
  const [kind, content] = value as [string, unknown]
  if (kind === 'uuid') return '#'
  const members = (content as readonly unknown[]).map((member) =>
    kind === 'map' ? renderPair(member as readonly [unknown, unknown]) : renderValue(member, isKeyAlone),
  )
  return members.sort().join(',')

  function renderPair([key, of]: readonly [unknown, unknown]): string {
    return [key, ...(isKeyAlone(String(key)) ? [] : [of])]
      .map((part) => renderValue(part, isKeyAlone))
      .join(':')
  }
}

function valueOfKey(map: unknown, key: string): unknown {
  if (!Array.isArray(map)) return undefined
  const pairs = map[1] as readonly (readonly [unknown, unknown])[]
  return pairs.find(([candidate]) => candidate === key)?.[1]
}
