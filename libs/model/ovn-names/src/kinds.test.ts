import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { expect, it } from 'vitest'
import * as names from './index.ts'
import type { NorthboundTable, ParentRow, RowKind } from './row-kind.ts'

const cases = fileURLToPath(new URL('../../../testing/golden/cases', import.meta.url))

/** Cases that hold rows of kinds that are declared, and of no others. */
const served = [
  ...[
    'base/dual',
    'base/options',
    'base/v4',
    'pods/burst',
    'pods/completed',
    'pods/plain-dual',
    'pods/plain-v4',
  ],
  ...['vips/plain', 'vips/subnet-vips', 'vips/switch-lb', 'ippools/address-set'],
  ...['pods/ip-pool', 'pods/north-gateway', 'pods/qos-mirror'],
  ...['subnets/cidr-change', 'subnets/namespaces-exclude', 'subnets/v4-host-bits'],
  ...[
    'ovnnat/eip-lsp',
    'ovnnat/vpc-external',
    'policies/sg',
    'services/slr-endpoints',
    'services/slr-selector',
  ],
  ...['subnets/multicast', 'subnets/u2o', 'subnets/underlay', 'subnets/underlay-vlan-zero'],
  ...['vpcs/peering', 'vpcs/route-table', 'vpcs/static-routes', 'vpcs/two-same-cidr'],
]

type RecordedRow = Readonly<Record<string, unknown>>
type Recorded = Readonly<Record<string, readonly RecordedRow[]>>

const kinds = Object.values<unknown>(names).filter(isKind)

function isKind(value: unknown): value is RowKind {
  return typeof value === 'object' && value !== null && 'identify' in value
}

/** Every recorded state of the Northbound of the original, by case and step. */
const recordings = (readdirSync(cases, { recursive: true }) as string[])
  .filter((file) => file.endsWith('northbound.json'))
  .sort()
  .map((file) => ({ file, rows: JSON.parse(readFileSync(join(cases, file), 'utf8')) as Recorded }))

const zero: Readonly<Record<string, unknown>> = { integer: 0, real: 0, boolean: false, string: '' }

/** A row as the cache has it: recordings leave out what has its default. */
function whole(table: NorthboundTable, row: RecordedRow): OvnNorthbound[NorthboundTable] {
  const columns = Object.entries(ovnNorthboundSchema.tables[table].columns).map(([column, { type }]) => {
    if (typeof type === 'string') return [column, zero[type]]
    if ('value' in type) return [column, {}]
    return [column, 'max' in type && type.max === 'unlimited' ? [] : undefined]
  })
  return { ...Object.fromEntries(columns), ...row } as OvnNorthbound[NorthboundTable]
}

/** By which recordings refer to a row without a name. */
function contentOf({ table }: RowKind, row: RecordedRow): string {
  if (table === 'Load_Balancer_Health_Check') return String(row['vip'])
  return table === 'Logical_Router_Policy'
    ? [row['priority'], row['match'], row['action']].join('/')
    : [row['route_table'] ?? '', row['policy'], row['ip_prefix'], row['nexthop']].join('|')
}

function parentOf(kind: RowKind, row: RecordedRow, rows: Recorded): ParentRow | undefined {
  if (kind.parent === undefined) return undefined
  const [table, column] = kind.parent
  const name = `${kind.table}:${contentOf(kind, row)}`
  const parent = rows[table]?.find((one) => (one[column] as readonly string[] | undefined)?.includes(name))
  return parent === undefined ? undefined : { table, name: String(parent['name']) }
}

/** What every kind makes of every row: `table row: kind/id …`. */
function identities(rows: Recorded): readonly { readonly row: string; readonly ids: readonly string[] }[] {
  return Object.entries(rows).flatMap(([table, some]) =>
    some.map((row) => ({
      row: `${table} ${JSON.stringify(row)}`,
      ids: kinds
        .filter((kind) => kind.table === table)
        .flatMap((kind) => {
          const id = kind.identify(whole(kind.table, row), parentOf(kind, row, rows))
          return id === undefined ? [] : [`${kind.name}/${id}`]
        }),
    })),
  )
}

it.each(recordings)('gives each row of $file one kind at most, and no two the same identity', ({ rows }) => {
  const found = identities(rows)
  expect(found.filter(({ ids }) => ids.length > 1)).toEqual([])
  const ids = found.flatMap((one) => one.ids)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
})

it.each(recordings.filter(({ file }) => served.some((name) => file.startsWith(`${name}/`))))(
  'knows every row of $file',
  ({ rows }) => {
    const unknown = identities(rows).filter(({ ids }) => ids.length === 0)
    expect(unknown.filter(({ row }) => !row.startsWith('NB_Global '))).toEqual([])
  },
)

const nothing: Recorded = {}

it('knows no row that has no mark of the vendor', () => {
  const { rows } = recordings.find(({ file }) => file.startsWith('base/dual')) ?? { rows: nothing }
  const unmarked = Object.fromEntries(
    Object.entries(rows).map(([table, some]) => [table, some.map((row) => ({ ...row, external_ids: {} }))]),
  )
  expect(identities(unmarked).flatMap(({ ids }) => ids)).toEqual([])
})

it('tells the ports of underlay subnets to the physical network from those of gateways', () => {
  const ports = recordings
    .filter(({ file }) => /^(ovnnat|subnets\/underlay)/.test(file))
    .flatMap(({ rows }) => identities({ Logical_Switch_Port: rows['Logical_Switch_Port'] ?? [] }))
  const localnets = ports.filter(({ row }) => row.includes('"type":"localnet"'))
  const [own, foreign] = [true, false].map((hasPrefix) =>
    localnets.filter(({ row }) => row.includes('_network":') === hasPrefix),
  )
  expect(new Set(own?.flatMap(({ ids }) => ids))).toEqual(
    new Set(['lsp-localnet/u1', 'lsp-localnet/u0', 'lsp-localnet/u20', 'lsp-localnet/external']),
  )
  expect(foreign?.length).toBeGreaterThan(0)
  expect(foreign?.filter(({ ids }) => ids.length > 0)).toEqual([])
})

it("knows a pod's ports in all of its networks", () => {
  const ports = recordings
    .filter(({ file }) => file.startsWith('multinic'))
    .flatMap(({ rows }) => identities({ Logical_Switch_Port: rows['Logical_Switch_Port'] ?? [] }))
    .filter(({ row }) => row.includes('"pod":'))
  expect(ports.some(({ ids }) => ids.includes('lsp/m1.default.net1.default.ovn'))).toBe(true)
  expect(ports.filter(({ ids }) => ids.length !== 1)).toEqual([])
})

const port = (columns: RecordedRow) => ({ Logical_Switch_Port: [columns] })
const ids = { vendor: 'kube-ovn', ls: 'red' }

it.each([
  {
    row: 'a machine of a host, in a namespace',
    columns: { name: 'hvm.shop', external_ids: { ...ids, pod: 'shop/hvm' } },
    seems: 'lsp/hvm.shop',
    maybe: 'lsp-vip/hvm.shop',
  },
  {
    row: 'a Vip that is named like an address of a subnet',
    columns: {
      name: 'red-vip-10.1.0.5',
      type: 'virtual',
      options: { 'virtual-ip': '10.1.0.5' },
      external_ids: ids,
    },
    seems: 'lsp-subnet-vip/red-vip-10.1.0.5',
    maybe: 'lsp-vip-virtual/red-vip-10.1.0.5',
  },
])('takes the port of $row for another, and says what it may be', ({ columns, seems, maybe }) => {
  expect(identities(port(columns)).flatMap((one) => one.ids)).toEqual([seems])
  const resembled = kinds
    .filter(({ table }) => table === 'Logical_Switch_Port')
    .flatMap((kind) => {
      const id = kind.resembles?.(whole(kind.table, columns))
      return id === undefined ? [] : [`${kind.name}/${id}`]
    })
  expect(resembled).toEqual([maybe])
})

it('takes no port without a namespace for that of a node', () => {
  const columns = { name: 'node-x..net.default.ovn', external_ids: ids }
  expect(identities(port(columns)).flatMap((one) => one.ids)).toEqual(['lsp-vip/node-x..net.default.ovn'])
})
