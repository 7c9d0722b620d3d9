import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { startNorthbound, startProxy, type Northbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { OvsdbClient } from './client.ts'
import type { OvsdbClientOptions } from './client-options.ts'
import type { ClientState } from './client-state.ts'
import * as errors from './errors.ts'
import { startRelay } from './relay-fixture.ts'
import type { AnyRowChange, Condition } from './types.ts'

type Router = OvnNorthbound['Logical_Router']

let northbound: Northbound
/** Sees everything. */
let witness: OvsdbClient<OvnNorthbound>

beforeAll(async () => {
  northbound = await startNorthbound()
  witness = open({ tables: { Logical_Router: { indexes: ['name'] } } })
  await witness.connect()
})
afterAll(async () => {
  await witness[Symbol.asyncDispose]()
  await northbound[Symbol.asyncDispose]()
})
beforeEach(() => northbound.reset())

function open(options: Partial<OvsdbClientOptions<OvnNorthbound>> = {}): OvsdbClient<OvnNorthbound> {
  return new OvsdbClient<OvnNorthbound>({
    endpoints: [northbound.address],
    schema: ovnNorthboundSchema,
    backoff: { initialMs: 10, maxMs: 200, factor: 2, jitter: 0 },
    tables: tablesWhere([['external_ids', 'includes', { team: 'red' }]]),
    ...options,
  })
}

function tablesWhere(where: readonly Condition<Router>[]): OvsdbClientOptions<OvnNorthbound>['tables'] {
  // The column of the condition is not among those that are kept.
  return { Logical_Router: { columns: ['name', 'enabled'], indexes: ['name'], where }, NB_Global: {} }
}

function red(client: OvsdbClient<OvnNorthbound>): readonly string[] {
  return [...client.cache.scan('Logical_Router')].map(({ name }) => name).toSorted()
}

async function insertRouters(team: string, ...names: readonly string[]): Promise<void> {
  const { insert } = witness.operations
  await witness.transact(names.map((name) => insert('Logical_Router', { name, external_ids: { team } })))
}

function update(name: string, row: Partial<Router>): Promise<unknown> {
  return witness.transact([witness.operations.update('Logical_Router', [['name', '==', name]], row)])
}

/** Lets everything arrive that was committed before. */
function settle(client: OvsdbClient<OvnNorthbound>): Promise<unknown> {
  return client.transact([client.operations.comment('barrier')])
}

function nextPhase(client: OvsdbClient<OvnNorthbound>, phase: ClientState['phase']): Promise<void> {
  return new Promise((resolve) => {
    const subscription = client.onState((state) => {
      if (state.phase !== phase) return
      subscription[Symbol.dispose]()
      resolve()
    })
  })
}

describe('conditions', () => {
  let client: OvsdbClient<OvnNorthbound>
  let seen: (readonly (string | undefined)[])[]

  beforeEach(async () => {
    await insertRouters('red', 'r1', 'r2')
    await insertRouters('blue', 'b1', 'b2')
    client = open()
    await client.connect()
    seen = []
    client.onChange((changes) => seen.push(changes.map(nameOf)))
  })
  afterEach(() => client[Symbol.asyncDispose]())

  function nameOf(change: AnyRowChange<OvnNorthbound>): string | undefined {
    const row = change.new ?? change.old
    return `${change.old === undefined ? '+' : change.new === undefined ? '-' : '~'}${row !== undefined && 'name' in row ? row.name : ''}`
  }

  it('say which rows are kept; others come and go without a word', async () => {
    expect(red(client)).toEqual(['r1', 'r2'])
    await insertRouters('blue', 'b3')
    await update('b1', { enabled: true })
    await settle(client)
    expect(seen).toEqual([])
  })

  it('make a row appear when it meets them, and disappear when it does not any more', async () => {
    await update('b1', { external_ids: { team: 'red' } })
    await update('r1', { external_ids: {} })
    await update('r2', { enabled: false })
    await settle(client)
    expect(seen).toEqual([['+b1'], ['-r1'], ['~r2']])
    expect(client.cache.find('Logical_Router', 'name', 'r2')).toMatchObject([{ enabled: false }])
  })

  it('can be changed: when that is done, the cache has the rows, and the listeners know', async () => {
    await client.setConditions('Logical_Router', [['external_ids', 'includes', { team: 'blue' }]])
    expect(red(client)).toEqual(['b1', 'b2'])
    expect(seen.map((names) => names.toSorted())).toEqual([['+b1', '+b2', '-r1', '-r2']])
    await client.setConditions('Logical_Router', undefined)
    expect(red(client)).toEqual(['b1', 'b2', 'r1', 'r2'])
    await client.setConditions('Logical_Router', [])
    expect(red(client)).toEqual([])
    await client.setConditions('Logical_Router', [['name', '==', 'r1'], ['name', '==', 'b2']]) // prettier-ignore
    expect(red(client)).toEqual(['b2', 'r1'])
    expect(client.cache.count('NB_Global')).toBe(1)
  })

  it('that are changed twice at once end as they were said last', async () => {
    await Promise.all([
      client.setConditions('Logical_Router', []),
      client.setConditions('Logical_Router', [['name', '==', 'b1']]),
    ])
    expect(red(client)).toEqual(['b1'])
  })

  it('are checked against the schema', async () => {
    // @ts-expect-error the row type has no such column
    const refused = client.setConditions('Logical_Router', [['colour', '==', 'red']])
    await expect(refused).rejects.toBeInstanceOf(errors.SchemaMismatchError)
    await expect(client.setConditions('ACL', [])).rejects.toBeInstanceOf(errors.SchemaMismatchError)
    expect(red(client)).toEqual(['r1', 'r2'])
  })

  it('may be set before connecting', async () => {
    await using idle = open()
    await idle.setConditions('Logical_Router', [['name', '==', 'b1']])
    await idle.connect()
    expect(red(idle)).toEqual(['b1'])
  })

  it('survive a lost connection, changed meanwhile or not', async () => {
    await using proxy = await startProxy(northbound.address)
    await using remote = open({ endpoints: [proxy.address] })
    await remote.connect()
    let cut = nextPhase(remote, 'waiting')
    proxy.cut()
    await cut
    await update('b1', { external_ids: { team: 'red' } })
    await update('r1', { external_ids: {} })
    const changed = remote.connect()
    proxy.mend()
    await changed
    expect(red(remote)).toEqual(['b1', 'r2'])

    cut = nextPhase(remote, 'waiting')
    proxy.cut()
    await cut
    const reset = remote.setConditions('Logical_Router', [['name', '!=', 'b1']])
    await update('r2', { enabled: false })
    proxy.mend()
    await reset
    expect(red(remote)).toEqual(['b2', 'r1', 'r2'])
    expect(remote.cache.find('Logical_Router', 'name', 'r2')).toMatchObject([{ enabled: false }])
  })
})

describe.each<{ age: string; refused: readonly string[]; hasConditions: boolean }>([
  { age: 'before 2.12', refused: ['monitor_cond_since'], hasConditions: true },
  {
    age: 'before 2.6',
    refused: ['monitor_cond_since', 'monitor_cond', 'monitor_cond_change', 'set_db_change_aware', '_Server'],
    hasConditions: false,
  },
])('a server $age', ({ refused, hasConditions }) => {
  function refuse(method: string, params: readonly unknown[]): unknown {
    if (refused.includes(method)) return 'unknown method'
    const isUnknown = method !== 'lock' && refused.includes(String(params[0]))
    return isUnknown ? { error: 'unknown database', details: 'none', syntax: '[]' } : undefined
  }

  it('is followed all the same, also after a reconnect', async () => {
    await insertRouters('red', 'r1', 'r2')
    await insertRouters('blue', 'b1')
    await using relay = await startRelay(northbound.address, { refuse })
    await using proxy = await startProxy(relay.address)
    await using client = open({ endpoints: [proxy.address] })
    const lock = client.lock('mine')
    await client.connect()
    expect(red(client)).toEqual(hasConditions ? ['r1', 'r2'] : ['b1', 'r1', 'r2'])
    expect(relay.passed).toContain(hasConditions ? 'monitor_cond' : 'monitor')

    const [r1] = client.cache.find('Logical_Router', 'name', 'r1')
    await update('r2', { enabled: false })
    await insertRouters('red', 'r3')
    await witness.transact([witness.operations.remove('Logical_Router', [['name', '==', 'b1']])])
    await client.transact([client.operations.assertLock('mine'), client.operations.comment('barrier')])
    expect(lock.isOwned).toBe(true)
    expect(red(client)).toEqual(['r1', 'r2', 'r3'])
    expect(client.cache.find('Logical_Router', 'name', 'r2')).toMatchObject([{ enabled: false }])

    const { insert } = client.operations
    const [own] = await client.transact([
      insert('Logical_Router', { name: 'own', external_ids: { team: 'red' } }),
    ])
    expect(client.cache.get('Logical_Router', String(own?.uuid))?.name).toBe('own')

    const changes: unknown[] = []
    client.onChange((all) => changes.push(...all))
    const cut = nextPhase(client, 'waiting')
    proxy.cut()
    await cut
    await update('r3', { enabled: true })
    proxy.mend()
    await client.connect()
    expect(changes).toHaveLength(1)
    expect(client.cache.find('Logical_Router', 'name', 'r3')).toMatchObject([{ enabled: true }])
    expect(client.cache.find('Logical_Router', 'name', 'r1')[0]).toBe(r1)

    await client.setConditions('Logical_Router', [['name', '==', 'r1']])
    expect(red(client)).toEqual(hasConditions ? ['r1'] : ['own', 'r1', 'r2', 'r3'])
  })
})

it('a server that was told not to offer conditions is followed by the monitor of the RFC', async () => {
  await using other = await startNorthbound()
  await other.server.control('ovsdb-server/disable-monitor-cond')
  await other.nbctl('lr-add', 'lr0')
  await using client = open({ endpoints: [other.address] })
  await client.connect()
  expect(red(client)).toEqual(['lr0'])
  await other.nbctl('lr-add', 'lr1', '--', 'lr-del', 'lr0')
  await settle(client)
  expect(red(client)).toEqual(['lr1'])
})
