import type { RowBase } from 'ovsdb-client'
import { idOf, markColumn, ownerOf } from '../marks.ts'
import { mapOf, type Rows } from '../rows.ts'
import type { Step } from '../steps.ts'
import type { Vandalism } from './script.ts'

const foreignPort = 'foreign-port'

/** Rows of somebody else, some of which look like ours. */
export const foreignRows: readonly Step[] = [
  {
    do: 'insert',
    table: 'Logical_Switch_Port',
    name: 'p',
    columns: { name: foreignPort, external_ids: { own: '1' } },
  },
  { do: 'insert', table: 'Logical_Switch', name: 's', columns: { name: 'blue', ports: [{ named: 'p' }] } },
  { do: 'insert', table: 'Port_Group', name: 'g', columns: { name: 'theirs', ports: [{ named: 'p' }] } },
  { do: 'insert', table: 'Load_Balancer', name: 'l', columns: { name: 'l', vips: { a: 'b' } } },
  {
    do: 'insert',
    table: 'Load_Balancer_Group',
    name: 'n',
    columns: { name: 'theirs', load_balancer: [{ named: 'l' }] },
  },
  { do: 'insert', table: 'Static_MAC_Binding', name: 'm', columns: { logical_port: 'theirs', mac: '9' } },
]

/** A database as a stranger sees it. */
export interface Target {
  readonly rows: Pick<Rows, 'scan' | 'find'>
  apply(steps: readonly Step[]): void
}

/** Takes away all rows but those of strangers, and what strangers' rows had of ours. */
export function remake(server: Target, foreign: ReadonlySet<string>): void {
  const steps = tables.flatMap((table): readonly Step[] =>
    [...server.rows.scan(table)].flatMap(({ _uuid: uuid }): readonly Step[] => {
      // A port goes with its switch.
      if (foreign.has(uuid) || table === 'Logical_Switch_Port') return []
      return [{ do: 'delete', table, uuid }]
    }),
  )
  const global = [...server.rows.scan('NB_Global')].map(({ _uuid: uuid }): Step => ({
    do: 'update',
    table: 'NB_Global',
    uuid,
    columns: { options: {} },
  }))
  server.apply([...steps, ...global])
}

const tables = [
  'Logical_Switch',
  'Logical_Switch_Port',
  'Port_Group',
  'Load_Balancer',
  'Address_Set',
  'DHCP_Options',
  'Load_Balancer_Group',
  'Static_MAC_Binding',
] as const
type Table = (typeof tables)[number]

interface Victim {
  readonly table: Table
  readonly row: RowBase
}

/** Does something to a row that is not a stranger's. */
export function actAsStranger(
  server: Target,
  { how, draw }: { readonly how: Vandalism; readonly draw: number },
  foreign: ReadonlySet<string>,
): void {
  const victims = tables.flatMap((table) =>
    [...server.rows.scan(table)].filter(({ _uuid }) => !foreign.has(_uuid)).map((row) => ({ table, row })),
  )
  const victim = victims[draw % Math.max(1, victims.length)]
  const other = victims[(draw * 7 + 1) % Math.max(1, victims.length)]
  if (victim === undefined || other === undefined) return
  const steps = vandalise(how, victim, other, server.rows)
  if (steps.length > 0) server.apply(steps)
}

function vandalise(
  how: Vandalism,
  { table, row }: Victim,
  other: Victim,
  rows: Target['rows'],
): readonly Step[] {
  const at = { table, uuid: row._uuid }
  const ids = mapOf(row, markColumn)
  if (table === 'Static_MAC_Binding' || table === 'Load_Balancer_Group')
    return vandaliseUnmarked(how, { table, uuid: row._uuid }, rows)
  switch (how) {
    case 'clear':
      return table === 'DHCP_Options' ? [] : [{ do: 'update', ...at, columns: { name: 'changed' } }]
    case 'delete':
      return table === 'Logical_Switch_Port' ? [] : [{ do: 'delete', ...at }]
    case 'empty':
      return table === 'Logical_Switch'
        ? [{ do: 'update', ...at, columns: { ports: [], load_balancer: [] } }]
        : table === 'Port_Group'
          ? [{ do: 'update', ...at, columns: { ports: [] } }]
          : table === 'Address_Set'
            ? [{ do: 'update', ...at, columns: { addresses: [] } }]
            : table === 'DHCP_Options'
              ? [{ do: 'update', ...at, columns: { options: {} } }]
              : table === 'Load_Balancer'
                ? [{ do: 'update', ...at, columns: { ip_port_mappings: {} } }]
                : []
    case 'unmark':
      return [{ do: 'update', ...at, columns: { [markColumn]: { vendor: 'kube-ovn' } } }]
    case 'misown': {
      const owner = ownerOf(other.row)
      return owner === undefined
        ? []
        : [{ do: 'update', ...at, columns: { [markColumn]: { ...ids, owner } } }]
    }
    case 'mislabel': {
      const id = idOf(other.row)
      return other.table !== table || id === undefined
        ? []
        : [{ do: 'update', ...at, columns: { [markColumn]: { ...ids, id } } }]
    }
    case 'copy':
      // A port lives by a reference, and options have no name.
      return table === 'Logical_Switch_Port' || table === 'DHCP_Options'
        ? []
        : [{ do: 'insert', table, name: 'copy', columns: { name: 'copy', [markColumn]: ids } }]
    case 'join': {
      // One that a key of ours may want, and one that is nobody's.
      const addresses = ['v', 'theirs']
      if (table === 'Address_Set')
        return [{ do: 'mutate', ...at, mutations: [['addresses', 'insert', addresses]] }]
      // An entry that is nobody's, and ones that a key of ours may want otherwise.
      const changed = (column: string, entries: Readonly<Record<string, string>>): readonly Step[] => [
        {
          do: 'mutate',
          ...at,
          mutations: [
            [column, 'delete', Object.keys(entries)],
            [column, 'insert', { ...entries, theirs: '1' }],
          ],
        },
      ]
      if (table === 'DHCP_Options') return changed('options', { a: '9', b: '2' })
      if (table === 'Load_Balancer') return changed('ip_port_mappings', { t: '9', u: '2' })
      const [port] = rows.find('Logical_Switch_Port', 'name', foreignPort)
      return table === 'Port_Group' && port !== undefined
        ? [{ do: 'mutate', ...at, mutations: [['ports', 'insert', [port._uuid]]] }]
        : []
    }
  }
}

/** What can be done to a row that is known by its content alone. */
function vandaliseUnmarked(
  how: Vandalism,
  at: { readonly table: 'Static_MAC_Binding' | 'Load_Balancer_Group'; readonly uuid: string },
  rows: Target['rows'],
): readonly Step[] {
  const isBinding = at.table === 'Static_MAC_Binding'
  switch (how) {
    case 'clear':
      return isBinding ? [{ do: 'update', ...at, columns: { mac: '9' } }] : []
    case 'delete':
      return [{ do: 'delete', ...at }]
    case 'empty':
      return isBinding ? [] : [{ do: 'update', ...at, columns: { load_balancer: [] } }]
    case 'join': {
      const all = [...rows.scan('Load_Balancer')].map(({ _uuid }) => _uuid)
      return isBinding ? [] : [{ do: 'mutate', ...at, mutations: [['load_balancer', 'insert', all]] }]
    }
    default:
      return []
  }
}
