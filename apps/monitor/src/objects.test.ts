import type { OvnNorthbound, OvnSouthbound } from '@kube-ovn/ovsdb-schema'
import { monitorMetrics, Registry } from '@kube-ovn/telemetry'
import { expect, it } from 'vitest'
import {
  findInconsistencies,
  readNorthbound,
  readSouthbound,
  splitAddresses,
  switchPorts,
  type Rows,
} from './objects.ts'

type Content<T> = { readonly [N in keyof T]?: readonly object[] }

function rowsOf<T>(content: Content<T>): Rows<T> {
  const of = <N extends keyof T & string>(table: N) => (content[table] ?? []) as readonly T[N][]
  return {
    scan: of,
    get: (table, uuid) => of(table).find((row) => (row as { _uuid?: string })._uuid === uuid),
    count: (table) => of(table).length,
  }
}

const northbound: Content<OvnNorthbound> = {
  NB_Global: [{ nb_cfg: 7, sb_cfg: 6, hv_cfg: 5 }],
  Logical_Switch: [{ _uuid: 's1', name: 'blue', external_ids: { vendor: 'kube-ovn' }, ports: ['p1', 'p2'] }],
  Logical_Switch_Port: [
    { _uuid: 'p1', name: 'web', type: '', addresses: ['0a:00 10.16.0.2 fd00::2'], up: true },
    { _uuid: 'p2', name: 'blue-vpc', type: 'router', addresses: ['router'] },
  ],
  Logical_Router: [{ _uuid: 'r1', ports: ['rp1'] }],
  Logical_Router_Port: [{ _uuid: 'rp1', name: 'vpc-blue' }],
}
const southbound: Content<OvnSouthbound> = {
  SB_Global: [{ nb_cfg: 6 }],
  Chassis: [{ _uuid: 'c1', name: 'c-1', hostname: 'node-1', encaps: ['e1', 'e2', 'e3'] }],
  Chassis_Private: [{ nb_cfg: 6 }],
  Encap: [
    { _uuid: 'e1', ip: '10.0.0.1' },
    { _uuid: 'e2', ip: '10.0.0.1' },
    { _uuid: 'e3', ip: 'fd00::1' },
  ],
  Datapath_Binding: [
    { _uuid: 'd1', tunnel_key: 3, external_ids: { 'logical-switch': 's1' } },
    { _uuid: 'd2', tunnel_key: 4, external_ids: { 'logical-router': 'r1' } },
  ],
  Port_Binding: [
    { _uuid: 'b1', logical_port: 'web', type: '', chassis: 'c1', datapath: 'd1', tunnel_key: 1 },
    { _uuid: 'b2', logical_port: 'blue-vpc', type: 'patch', datapath: 'd1', tunnel_key: 2 },
    { _uuid: 'b3', logical_port: 'vpc-blue', type: 'patch', datapath: 'd2', tunnel_key: 1 },
    { _uuid: 'b4', logical_port: 'cr-vpc-blue', type: 'chassisredirect', datapath: 'd2', tunnel_key: 2 },
  ],
}

it('joins the two databases', () => {
  const reading = readNorthbound(rowsOf(northbound), rowsOf(southbound))
  expect(reading.switches).toEqual([
    { uuid: 's1', name: 'blue', externalIds: { vendor: 'kube-ovn' }, ports: ['p1', 'p2'], tunnelKey: 3 },
  ])
  const [port] = switchPorts(rowsOf(northbound), rowsOf(southbound))
  expect(port).toEqual({
    uuid: 'p1',
    name: 'web',
    switchUuid: 's1',
    switchName: 'blue',
    mac: '0a:00',
    ip: '10.16.0.2 fd00::2',
    binding: { uuid: 'b1', chassis: 'c1', datapath: 'd1', tunnelKey: 1 },
  })
  expect(Object.fromEntries(reading.configurations)).toEqual({ nb: 7, sb: 6, hv: 5 })
  expect(reading.rows.get('Logical_Switch_Port')).toBe(2)
  const { chassis } = readSouthbound(rowsOf(southbound))
  expect(chassis.map(({ ip }) => ip)).toEqual(['10.0.0.1', 'fd00::1'])
})

it('shows the Northbound while the Southbound is not there', () => {
  const { switches } = readNorthbound(rowsOf(northbound), undefined)
  expect(switches[0]?.tunnelKey).toBeUndefined()
  const ports = switchPorts(rowsOf(northbound), undefined)
  expect(Array.from(ports, ({ binding }) => binding)).toEqual([undefined, undefined])
})

it.each([
  { addresses: ['0a:00 10.0.0.1'], mac: '0a:00', ip: '10.0.0.1' },
  { addresses: ['dynamic'], mac: 'dynamic', ip: 'dynamic' },
  { addresses: ['unknown', '0a:00 10.0.0.1'], mac: 'unknown', ip: 'unknown' },
  { addresses: [], mac: '', ip: '' },
])('splits $addresses', ({ addresses, mac, ip }) => {
  expect(splitAddresses(addresses)).toEqual({ mac, ip })
})

interface OddCase {
  readonly kind: string
  readonly nb?: Content<OvnNorthbound>
  readonly sb?: Content<OvnSouthbound>
}

it('finds nothing odd in what belongs together', () => {
  const found = findInconsistencies(rowsOf(northbound), rowsOf(southbound))
  expect([...found.values()].map(({ size }) => size)).toEqual([0, 0, 0, 0, 0, 0, 0])
})

it.each([
  { kind: 'switch-without-datapath', sb: { Datapath_Binding: southbound.Datapath_Binding?.slice(1) ?? [] } },
  {
    kind: 'router-without-datapath',
    nb: { Logical_Router: [...(northbound.Logical_Router ?? []), { _uuid: 'r2', ports: [] }] },
  },
  { kind: 'datapath-without-owner', nb: { Logical_Router: [], Logical_Router_Port: [] } },
  { kind: 'port-without-binding', sb: { Port_Binding: southbound.Port_Binding?.slice(1) ?? [] } },
  {
    kind: 'binding-without-port',
    nb: { Logical_Switch_Port: northbound.Logical_Switch_Port?.slice(1) ?? [] },
  },
  {
    kind: 'up-without-chassis',
    sb: { Port_Binding: (southbound.Port_Binding ?? []).map((row) => ({ ...row, chassis: undefined })) },
  },
  { kind: 'chassis-behind', sb: { Chassis_Private: [{ nb_cfg: 5 }] } },
] as readonly OddCase[])('counts $kind', ({ kind, nb, sb }) => {
  const odd = rowsOf<OvnNorthbound>({ ...northbound, ...nb })
  const found = findInconsistencies(odd, rowsOf<OvnSouthbound>({ ...southbound, ...sb }))
  expect(found.get(kind)?.size).toBe(1)
})

it('takes a chassis that goes on, but is behind again, for another contradiction', () => {
  const behind = (done: number, wanted: number) => {
    const sb = {
      ...southbound,
      SB_Global: [{ nb_cfg: wanted }],
      Chassis_Private: [{ _uuid: 'c1', nb_cfg: done }],
    }
    return findInconsistencies(rowsOf(northbound), rowsOf<OvnSouthbound>(sb)).get('chassis-behind')
  }
  expect(behind(5, 7)).toEqual(behind(5, 6))
  expect(behind(6, 7)).not.toEqual(behind(5, 6))
})

it('leaves out a router that is switched off', () => {
  const off = { ...northbound, Logical_Router: [{ _uuid: 'r1', enabled: false, ports: ['rp1'] }] }
  const without = { ...southbound, Datapath_Binding: southbound.Datapath_Binding?.slice(0, 1) ?? [] }
  const bindings = (southbound.Port_Binding ?? []).slice(0, 2)
  const sb = rowsOf<OvnSouthbound>({ ...without, Port_Binding: bindings })
  const found = findInconsistencies(rowsOf<OvnNorthbound>(off), sb)
  expect([...found.values()].map(({ size }) => size)).toEqual([0, 0, 0, 0, 0, 0, 0])
})

it('has three series for each port, or none, and a stated number of others', async () => {
  const count = 5000
  const ids = Array.from({ length: count }, (_, index) => `p${index}`)
  const nb = rowsOf<OvnNorthbound>({
    ...northbound,
    Logical_Switch: [{ _uuid: 's1', name: 'blue', external_ids: { a: '1', b: '2' }, ports: ids }],
    Logical_Switch_Port: ids.map((id) => ({ _uuid: id, name: id, type: '', addresses: [] })),
  })
  const sb = rowsOf<OvnSouthbound>({
    ...southbound,
    Port_Binding: ids.map((id) => ({ _uuid: id, logical_port: id, type: '', datapath: 'd1', tunnel_key: 1 })),
  })
  // Of a map, get is constant.
  const ports = new Map(Iterator.from(nb.scan('Logical_Switch_Port')).map((row) => [row._uuid, row]))
  const fast: typeof nb = { ...nb, get: (_table, uuid) => ports.get(uuid) as never }
  const seriesWith = async (hasPorts: boolean): Promise<number> => {
    const registry = new Registry()
    const read = () => ({
      ...{ daemons: [], databases: [], logs: [], failedRequests: 0, sources: new Map() },
      ...{ northbound: readNorthbound(fast, sb), southbound: readSouthbound(sb), inconsistent: new Map() },
    })
    monitorMetrics(registry, 'node-1', read, hasPorts ? () => switchPorts(fast, sb) : undefined)
    return [...(await registry.metrics()).matchAll(/^kube_ovn_/gm)].length
  }
  // Of the switch 3 and its 2 external ids, of 2 addresses of a chassis, of 19 tables, of 3 places, and one of failures.
  const others = 3 + 2 + 2 + 19 + 3 + 1
  expect(await seriesWith(true)).toBe(3 * count + others)
  expect(await seriesWith(false)).toBe(others)
})
