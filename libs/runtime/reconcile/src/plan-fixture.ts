import type { NorthboundTable, RowKind } from '@kube-ovn/ovn-names'
import type { DatabaseSchema, RowBase } from 'ovsdb-client'
import { Adoption } from './adoption.ts'
import { catalogOf } from './catalog.ts'
import type { Membership, OwnedRow } from './feature.ts'
import { ownerMark } from './marks.ts'
import type { LocalRows } from './local-rows.ts'
import { planRows, type Plan } from './plan.ts'
import { columnOf, mapOf } from './rows.ts'
import type { Want } from './want.ts'

const text = { type: 'string' }
const texts = { type: { key: 'string', min: 0, max: 'unlimited' as const } }
const map = { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' as const } }
function references(refTable: string, refType: 'strong' | 'weak', max: number | 'unlimited' = 'unlimited') {
  return { type: { key: { type: 'uuid', refTable, refType }, min: 0, max } }
}

/** A part of the Northbound's schema in which every sort of column and table occurs. */
export const schema: DatabaseSchema = {
  name: 'OVN_Northbound',
  version: '7.11.0',
  tables: {
    NB_Global: { isRoot: true, maxRows: 1, columns: { options: map } },
    Logical_Switch: {
      isRoot: true,
      columns: {
        name: text,
        ports: references('Logical_Switch_Port', 'strong'),
        load_balancer: references('Load_Balancer', 'weak'),
        other_config: map,
        external_ids: map,
      },
    },
    Logical_Switch_Port: {
      columns: {
        name: text,
        addresses: texts,
        options: map,
        tag: { type: { key: 'integer', min: 0, max: 1 } },
        dhcpv4_options: references('DHCP_Options', 'weak', 1),
        ha_chassis_group: references('HA_Chassis_Group', 'strong', 1),
        external_ids: map,
      },
    },
    HA_Chassis_Group: { isRoot: true, columns: { name: text, external_ids: map } },
    DHCP_Options: { isRoot: true, columns: { cidr: text, options: map, external_ids: map } },
    Load_Balancer: {
      isRoot: true,
      columns: { name: text, vips: map, ip_port_mappings: map, external_ids: map },
    },
    Port_Group: {
      isRoot: true,
      columns: { name: text, ports: references('Logical_Switch_Port', 'weak'), external_ids: map },
    },
    Load_Balancer_Group: {
      isRoot: true,
      columns: { name: text, load_balancer: references('Load_Balancer', 'weak') },
    },
    Static_MAC_Binding: { isRoot: true, columns: { logical_port: text, ip: text, mac: text } },
    Address_Set: { isRoot: true, columns: { name: text, addresses: texts, external_ids: map } },
  },
}

function kind(
  name: string,
  table: NorthboundTable,
  shared: readonly string[] = [],
  exactMaps: readonly string[] = [],
): RowKind {
  return {
    name,
    table,
    shared,
    exactMaps,
    identify: nameOf,
  }
}

/** Upstream's rows carry the vendor and, in these tests, their name. */
function nameOf(found: RowBase): string | undefined {
  const isOfVendor = mapOf(found, 'external_ids')['vendor'] === 'kube-ovn'
  return isOfVendor && 'name' in found ? String(found.name) : undefined
}

/** What follows the prefix in a column of a row. */
export function nameAfter(prefix: string, found: RowBase, column: string): string | undefined {
  const name = columnOf(found, column)
  return typeof name === 'string' && name.startsWith(prefix) ? name.slice(prefix.length) : undefined
}

export const kinds = {
  ls: kind('ls', 'Logical_Switch', ['ports', 'load_balancer']),
  lsp: kind('lsp', 'Logical_Switch_Port'),
  hacg: kind('hacg', 'HA_Chassis_Group'),
  dhcp: { ...kind('dhcp', 'DHCP_Options', ['options']), composed: ['options'] },
  lb: {
    ...kind('lb', 'Load_Balancer', ['ip_port_mappings'], ['vips']),
    composed: ['ip_port_mappings'],
  },
  pg: kind('pg', 'Port_Group', ['ports']),
  set: { ...kind('as', 'Address_Set', ['addresses']), composed: ['addresses'] },
  /** Ours by its name. */
  lbg: {
    ...kind('lbg', 'Load_Balancer_Group', ['load_balancer']),
    isUnmarked: true,
    identify: (found: RowBase) => nameAfter('ours-', found, 'name'),
  },
  mac: {
    ...kind('mac', 'Static_MAC_Binding'),
    isUnmarked: true,
    identify: (found: RowBase) => nameAfter('ours-', found, 'logical_port'),
  },
  /** A row of it looks like one of `pg`. */
  group: { ...kind('group', 'Port_Group'), resembles: nameOf },
} as const

const memberships: readonly Membership[] = [
  { kind: 'ls', column: 'ports' },
  { kind: 'ls', column: 'load_balancer' },
  { kind: 'pg', column: 'ports' },
  { kind: 'as', column: 'addresses' },
  { kind: 'dhcp', column: 'options' },
  { kind: 'lb', column: 'ip_port_mappings' },
]

const { ls, lsp, hacg, dhcp, lb, pg, group, set, mac } = kinds
const owned = [ls, lsp, hacg, dhcp, lb, pg, group, set, mac]
export const catalog = catalogOf(schema, [{ name: 'net', kinds: owned }])

/** What the key `name` of the only feature wants. */
export function want(
  name: string,
  rows: readonly OwnedRow[],
  members: Want['desired']['members'] = [],
): Want {
  return {
    owner: ownerMark('net', name),
    kinds: owned,
    memberships,
    desired: { rows, members },
    released: [],
  }
}

export function row(of: RowKind, id: string, columns: OwnedRow['columns'] = {}): OwnedRow {
  return {
    kind: of,
    id,
    columns: 'name' in columns || !hasName(of) ? columns : { name: id, ...columns },
  }
}

function hasName({ table }: RowKind): boolean {
  return schema.tables[table]?.columns['name'] !== undefined
}

/** A port of a switch, with the reference that keeps it alive. */
export function port(id: string, on: string, columns: OwnedRow['columns'] = {}): Want {
  const member = { of: { kind: 'ls', id: on }, column: 'ports', value: { kind: 'lsp', id } }
  return want(id, [row(kinds.lsp, id, columns)], [member])
}

export function planOn(rows: LocalRows, wants: readonly Want[]): Plan {
  const adoptable = new Adoption(catalog, rows)
  adoptable.rebuild()
  return planRows({ wants, rows, catalog, adoptable })
}

/** Plans and applies. */
export function reconcile(rows: LocalRows, wants: readonly Want[]): Plan {
  const plan = planOn(rows, wants)
  rows.apply(plan.steps)
  return plan
}
