import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { type DatabaseServer, type Northbound, startNorthbound, startProxy } from '@kube-ovn/testing-ovsdb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { OvsdbClient } from './client.ts'
import type { AnyRowChange } from './types.ts'

let northbound: Northbound

beforeAll(async () => {
  northbound = await startNorthbound({ members: 3 })
})
afterAll(() => northbound[Symbol.asyncDispose]())

function openClient(endpoints: readonly string[], leaderOnly: boolean): OvsdbClient<OvnNorthbound> {
  const tables = { Logical_Switch: { indexes: ['name'] } }
  return new OvsdbClient<OvnNorthbound>({ endpoints, schema: ovnNorthboundSchema, tables, leaderOnly })
}

async function leader(): Promise<DatabaseServer | undefined> {
  for (const server of northbound.servers) {
    const status = await server.control('cluster/status OVN_Northbound').catch(() => '')
    if (status.includes('Role: leader')) return server
  }
  return undefined
}

function endpointOf(client: OvsdbClient<OvnNorthbound>): string | undefined {
  return 'endpoint' in client.state ? client.state.endpoint : undefined
}

it('resumes after a cut without a fresh dump', async () => {
  const target = await leader()
  await using proxy = await startProxy(String(target?.address))
  await using client = openClient([proxy.address], true)
  const seen: (readonly AnyRowChange<OvnNorthbound>[])[] = []
  await client.connect()
  client.onChange((changes) => seen.push(changes))
  await client.transact([client.operations.insert('Logical_Switch', { name: 'before' })])
  const reconnected = new Promise<void>((resolve) => {
    client.onState(({ phase }) => phase === 'connected' && resolve())
  })
  proxy.cut()
  await northbound.nbctl('ls-add', 'meanwhile')
  proxy.mend()
  await reconnected
  expect(seen.map((changes) => changes.map(({ new: row }) => row && 'name' in row && row.name))).toEqual([
    ['before'],
    ['meanwhile'],
  ])
  // The answer to monitor_cond_since begins with whether the server still knew our last transaction.
  expect(proxy.received).toMatch(
    /"result":\[true,"[-0-9a-f]{36}",\{"Logical_Switch":\{"[-0-9a-f]{36}":\{"insert"/,
  )
})

it('finds the leader, whatever comes first in the list', async () => {
  const { address } = (await leader()) ?? expect.unreachable()
  const followers = northbound.servers.map((server) => server.address).filter((other) => other !== address)
  await using client = openClient([...followers, address], true)
  await client.connect()
  expect(endpointOf(client)).toBe(address)
})

it('is content with a follower if that is enough, and sees its own writes there', async () => {
  const { address } = (await leader()) ?? expect.unreachable()
  const [follower] = northbound.servers.map((server) => server.address).filter((other) => other !== address)
  await using client = openClient([String(follower)], false)
  await client.connect()
  await client.transact([client.operations.insert('Logical_Switch', { name: 'by-follower' })])
  expect(client.cache.find('Logical_Switch', 'name', 'by-follower')).toHaveLength(1)
})

it('follows the leadership when the leader dies', async () => {
  await using client = openClient(
    northbound.servers.map(({ address }) => address),
    true,
  )
  await client.connect()
  const before = endpointOf(client)
  const rows = [...client.cache.scan('Logical_Switch')]
  const dying = northbound.servers.find(({ address }) => address === before)
  const gone = new Promise<void>((resolve) => {
    client.onState(({ phase }) => phase !== 'connected' && resolve())
  })
  await dying?.kill()
  await gone
  await client.connect()
  expect(endpointOf(client)).not.toBe(before)
  await client.transact([client.operations.insert('Logical_Switch', { name: 'after' })])
  expect([...client.cache.scan('Logical_Switch')].slice(0, rows.length)).toEqual(rows)
  expect(client.cache.find('Logical_Switch', 'name', 'after')).toHaveLength(1)
  await dying?.start()
})
