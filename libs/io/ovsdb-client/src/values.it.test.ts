import {
  openVswitchSchema,
  ovnNorthboundSchema,
  type OpenVswitch,
  type OvnNorthbound,
} from '@kube-ovn/ovsdb-schema'
import { type Northbound, startNorthbound, startOpenVswitch } from '@kube-ovn/testing-ovsdb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OvsdbClient } from './client.ts'
import { named } from './operations.ts'
import type { Value } from './types.ts'

/** One column of each type that the schema has, with a value as this client and as `ovn-nbctl` write it. */
const cases: readonly { type: string; table: string; column: string; value: Value; text: string; columns?: object }[] = [
  { type: 'a string', table: 'Address_Set', column: 'name', value: 'plain_name', text: 'plain_name' },
  { type: 'a string with quotes', table: 'Address_Set', column: 'name', value: 'a "b" \\ ü', text: '"a \\"b\\" \\\\ ü"' },
  { type: 'an empty string', table: 'Address_Set', column: 'name', value: '', text: '""' },
  { type: 'an integer', table: 'Sample_Collector', column: 'set_id', value: 4_294_967_295, text: '4294967295', columns: { id: 1, probability: 1 } },
  { type: 'a string that looks like a boolean', table: 'DHCP_Relay', column: 'name', value: 'true', text: '"true"' },
  { type: 'an optional string', table: 'DHCP_Relay', column: 'servers', value: '10.0.0.1', text: '"10.0.0.1"' },
  { type: 'no string', table: 'DHCP_Relay', column: 'servers', value: undefined, text: '[]' },
  { type: 'an optional integer', table: 'BFD', column: 'min_rx', value: 7, text: '7', columns: { logical_port: 'p', dst_ip: '::1' } },
  { type: 'an optional listed string', table: 'Load_Balancer', column: 'protocol', value: 'udp', text: 'udp' },
  { type: 'an optional boolean', table: 'Logical_Router', column: 'enabled', value: false, text: 'false' },
  { type: 'a set', table: 'Address_Set', column: 'addresses', value: ['10.0.0.1', '10.0.0.2'], text: '["10.0.0.1", "10.0.0.2"]' },
  { type: 'a set of one', table: 'Address_Set', column: 'addresses', value: ['fd00::1'], text: '["fd00::1"]' },
  { type: 'an empty set', table: 'Address_Set', column: 'addresses', value: [], text: '[]' },
  { type: 'a set of listed strings', table: 'Load_Balancer', column: 'selection_fields', value: ['ip_dst', 'ip_src'], text: '[ip_dst, ip_src]' },
  { type: 'a map', table: 'Load_Balancer', column: 'vips', value: { '[fd00::1]:80': '[fd00::2]:8080' }, text: '{"[fd00::1]:80"="[fd00::2]:8080"}' },
  { type: 'a map with odd keys', table: 'Address_Set', column: 'external_ids', value: { __proto__x: '', 'a=b': 'c,d' }, text: '{__proto__x="", "a=b"="c,d"}' },
  { type: 'an empty map', table: 'Address_Set', column: 'external_ids', value: {}, text: '{}' },
] // prettier-ignore

let northbound: Northbound
let client: OvsdbClient

beforeAll(async () => {
  northbound = await startNorthbound()
  const tables = Object.fromEntries(Object.keys(ovnNorthboundSchema.tables).map((table) => [table, {}]))
  client = new OvsdbClient({ endpoints: [northbound.address], schema: ovnNorthboundSchema, tables })
  await client.connect()
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await northbound[Symbol.asyncDispose]()
})

/** Resolves once the cache has the row. */
async function appearance(table: string, uuid: string): Promise<void> {
  if (client.cache.get(table, uuid) !== undefined) return
  const { promise, resolve } = Promise.withResolvers<void>()
  using _subscription = client.onChange((changes) => {
    if (changes.some((change) => change.uuid === uuid)) resolve()
  })
  await promise
}

describe.each(cases)('$type', ({ table, column, value, text, columns = {} }) => {
  it('means the same to ovn-nbctl, written and read', async () => {
    const { insert, remove } = client.operations
    const [written] = await client.transact([insert(table, { ...columns, [column]: value })])
    const uuid = String(written?.uuid)
    expect(await northbound.nbctl('get', table, uuid, column)).toBe(text)
    expect(client.cache.get(table, uuid)).toMatchObject({ [column]: value })
    await client.transact([remove(table, uuid)])

    const others = Object.entries(columns).map(([name, setting]) => `${name}=${JSON.stringify(setting)}`)
    const created = await northbound.nbctl('create', table, ...others, `${column}=${text}`)
    await appearance(table, created)
    expect(client.cache.get(table, created)).toMatchObject({ [column]: value })
    await client.transact([remove(table, created)])
  })
})

it('a reference by name and a boolean mean the same to ovn-nbctl', async () => {
  const nb = new OvsdbClient<OvnNorthbound>({
    endpoints: [northbound.address],
    schema: ovnNorthboundSchema,
    tables: {},
  })
  await using _ = nb
  await nb.connect()
  const { insert } = nb.operations
  const [acl] = await nb.transact([
    insert('ACL', { direction: 'to-lport', match: 'ip4', action: 'drop', priority: 1, log: true }, 'acl'),
    insert('Logical_Switch', { name: 'sw0', acls: [named('acl')] }),
  ])
  expect(await northbound.nbctl('get', 'Logical_Switch', 'sw0', 'acls')).toBe(`[${acl?.uuid}]`)
  expect(await northbound.nbctl('get', 'ACL', String(acl?.uuid), 'log')).toBe('true')
})

it('a map with number keys and references means the same to ovs-vsctl', async () => {
  await using database = await startOpenVswitch()
  await using ovs = new OvsdbClient<OpenVswitch>({
    endpoints: [database.address],
    schema: openVswitchSchema,
    tables: { QoS: {}, Queue: {} },
  })
  await ovs.connect()
  const { insert } = ovs.operations
  const [queue, qos] = await ovs.transact([
    insert('Queue', { dscp: 10 }, 'queue'),
    insert('QoS', { type: 'linux-htb', queues: { 5: named('queue') } }),
  ])
  expect(await database.vsctl('get', 'QoS', String(qos?.uuid), 'queues')).toBe(`{5=${queue?.uuid}}`)
  expect(ovs.cache.get('QoS', String(qos?.uuid))?.queues).toEqual({ 5: queue?.uuid })
})
