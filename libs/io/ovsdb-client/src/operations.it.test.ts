import {
  ovnNorthboundSchema,
  ovnSouthboundSchema,
  type OvnNorthbound,
  type OvnSouthbound,
} from '@kube-ovn/ovsdb-schema'
import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { OvsdbClient } from './client.ts'
import * as errors from './errors.ts'
import { named, type Where } from './operations.ts'
import type { Condition, DatabaseSchema } from './types.ts'

type Acl = OvnNorthbound['ACL']

let northbound: Northbound
let client: OvsdbClient<OvnNorthbound>

beforeAll(async () => {
  northbound = await startNorthbound()
})
afterAll(() => northbound[Symbol.asyncDispose]())

beforeEach(async () => {
  await northbound.reset()
  client = open()
  await client.connect()
})
afterEach(() => client[Symbol.asyncDispose]())

function open(schema: DatabaseSchema = ovnNorthboundSchema): OvsdbClient<OvnNorthbound> {
  const tables = { Logical_Switch: {}, ACL: {}, NB_Global: {} }
  return new OvsdbClient<OvnNorthbound>({ endpoints: [northbound.address], schema, tables })
}

/** A switch with an ACL of each priority, whose name is the priority and whose tags are the digits. */
async function insertAcls(...priorities: readonly number[]): Promise<void> {
  const { insert } = client.operations
  await client.transact([
    ...priorities.map((priority) =>
      insert(
        'ACL',
        {
          ...{ direction: 'to-lport', match: '1', action: 'drop', priority },
          ...{ name: priority === 0 ? undefined : `n${priority}`, options: { p: String(priority) } },
          tier: priority % 4,
        },
        `acl${priority}`,
      ),
    ),
    insert('Logical_Switch', { name: 'sw0', acls: priorities.map((priority) => named(`acl${priority}`)) }),
  ])
}

async function prioritiesOf(where: Where<Acl>): Promise<readonly number[]> {
  const { select, selected } = client.operations
  const [result] = await client.transact([select('ACL', where)])
  return selected('ACL', result ?? {})
    .map(({ priority }) => priority)
    .toSorted((a, b) => a - b)
}

describe('a condition', () => {
  it.each<{ where: readonly Condition<Acl>[]; want: readonly number[] }>([
    { where: [], want: [0, 5, 10, 15] },
    { where: [['priority', '==', 10]], want: [10] },
    { where: [['priority', '!=', 10]], want: [0, 5, 15] },
    { where: [['priority', '<', 10]], want: [0, 5] },
    { where: [['priority', '<=', 10]], want: [0, 5, 10] },
    { where: [['priority', '>', 10]], want: [15] },
    { where: [['priority', '>=', 10]], want: [10, 15] },
    { where: [['priority', '>', 0], ['priority', '<', 15]], want: [5, 10] }, // prettier-ignore
    { where: [['name', '==', undefined]], want: [0] },
    { where: [['name', 'includes', 'n5']], want: [5] },
    { where: [['name', 'excludes', 'n5']], want: [0, 10, 15] },
    { where: [['options', 'includes', { p: '15' }]], want: [15] },
    { where: [['options', 'excludes', { p: '15' }]], want: [0, 5, 10] },
    { where: [['options', '==', { p: '5' }]], want: [5] },
  ])('$where finds $want', async ({ where, want }) => {
    await insertAcls(0, 5, 10, 15)
    expect(await prioritiesOf(where)).toEqual(want)
  })

  it('says which rows are updated, mutated and removed', async () => {
    await insertAcls(0, 5, 10, 15)
    const { update, mutate, remove } = client.operations
    const log = [...client.cache.scan('ACL')].filter(({ priority }) => priority > 5).map(({ _uuid }) => _uuid)
    const counts = await client.transact([
      update('ACL', [['priority', '>', 5]], { log: true }),
      mutate('ACL', [['log', '==', true]], [['priority', '+=', 100], ['options', 'delete', ['p']]]), // prettier-ignore
      update('Logical_Switch', [['name', '==', 'sw0']], { acls: log }),
      remove('ACL', [['priority', '<', 10]]),
    ])
    expect(counts).toEqual([{ count: 2 }, { count: 2 }, { count: 1 }, { count: 2 }])
    const rows = [...client.cache.scan('ACL')].toSorted((a, b) => a.priority - b.priority)
    expect(rows).toMatchObject([
      { priority: 110, options: {} },
      { priority: 115, options: {} },
    ])
  })
})

describe('an insert', () => {
  const uuid = '0d5b0e7c-7d5c-4b1f-9d0e-5f3f2d3a1b00'

  it('may say which id the row gets', async () => {
    const { insert } = client.operations
    await client.transact([insert('Logical_Switch', { name: 'sw0' }, { name: 'sw', uuid })])
    expect(client.cache.get('Logical_Switch', uuid)?.name).toBe('sw0')
    const twice = client.transact([insert('Logical_Switch', {}), insert('Logical_Switch', {}, { uuid })])
    await expect(twice).rejects.toBeInstanceOf(errors.DuplicateUuidError)
    await expect(twice).rejects.toMatchObject({
      details: { operation: 1, op: 'insert', table: 'Logical_Switch' },
    })
  })

  it('may not use a name twice', async () => {
    const { insert } = client.operations
    const twice = client.transact([insert('Logical_Switch', {}, 'a'), insert('Logical_Switch', {}, 'a')])
    await expect(twice).rejects.toBeInstanceOf(errors.DuplicateUuidError)
  })
})

describe('a mutation', () => {
  it('computes', async () => {
    await insertAcls(17)
    const { mutate } = client.operations
    const steps = [['+=', 3], ['-=', 2], ['*=', 4], ['/=', 5], ['%=', 8]] as const // prettier-ignore
    await client.transact([mutate('ACL', [], steps.map(([mutator, value]) => ['priority', mutator, value]))]) // prettier-ignore
    expect([...client.cache.scan('ACL')]).toMatchObject([{ priority: 6 }])
  })

  it.each([
    ['by zero', '/=', 0, 'domain error'],
    ['beyond 64 bits', '*=', 2n ** 62n, 'range error'],
  ] as const)('does not compute %s', async (_name, mutator, value, error) => {
    const { mutate } = client.operations
    const refused = client.transact([
      mutate('NB_Global', [], [['nb_cfg', '+=', 7]]),
      mutate('NB_Global', [], [['nb_cfg', mutator, value]]),
    ])
    await expect(refused).rejects.toBeInstanceOf(errors.BadOperationError)
    await expect(refused).rejects.toMatchObject({ details: { error, operation: 1, op: 'mutate', table: 'NB_Global' } }) // prettier-ignore
  })
})

describe('a wait', () => {
  it('goes on when another client has done what it waits for', async () => {
    const { wait, insert } = client.operations
    const waiting = client.transact([
      wait('Logical_Switch', [['name', '==', 'first']], '!=', [], Infinity),
      insert('Logical_Switch', { name: 'second' }),
    ])
    await northbound.nbctl('ls-add', 'first')
    await waiting
    expect([...client.cache.scan('Logical_Switch')].map(({ name }) => name).toSorted()).toEqual(['first', 'second']) // prettier-ignore
  })

  it('gives up in time', async () => {
    const { wait, comment } = client.operations
    const waiting = client.transact([
      comment('patience'),
      wait('NB_Global', [], '==', { nb_cfg: 99 }, 50),
    ]) // prettier-ignore
    await expect(waiting).rejects.toBeInstanceOf(errors.WaitTimedOutError)
    await expect(waiting).rejects.toMatchObject({ details: { operation: 1, op: 'wait', table: 'NB_Global' } })
  })

  it('can be canceled', async () => {
    const { wait, insert } = client.operations
    const operations = [
      wait('Logical_Switch', [], '!=', [], Infinity),
      insert('Logical_Switch', { name: 'late' }),
    ]
    const abort = new AbortController()
    const waiting = client.transact(operations, { signal: abort.signal })
    const reason = new Error('no patience')
    abort.abort(reason)
    await expect(waiting).rejects.toBeInstanceOf(errors.TransactionCanceledError)
    await expect(waiting).rejects.toMatchObject({ code: 'ovsdb-canceled', cause: reason })
    await northbound.nbctl('ls-add', 'first')
    await client.transact([client.operations.comment('barrier')])
    expect([...client.cache.scan('Logical_Switch')].map(({ name }) => name)).toEqual(['first'])
    expect(client.state.phase).toBe('connected')

    await expect(client.transact(operations, { signal: abort.signal })).rejects.toMatchObject({
      cause: reason,
    })
  })
})

it('a transaction that is done is not canceled', async () => {
  const abort = new AbortController()
  const { insert } = client.operations
  await client.transact([insert('Logical_Switch', { name: 'sw0' })], { signal: abort.signal })
  abort.abort()
  await client.transact([client.operations.comment('barrier')])
  expect(client.cache.count('Logical_Switch')).toBe(1)
})

it('an abort undoes what came before it', async () => {
  const { insert, abort } = client.operations
  const tried = client.transact([insert('Logical_Switch', { name: 'sw0' }), abort()])
  await expect(tried).rejects.toBeInstanceOf(errors.TransactionAbortedError)
  await expect(tried).rejects.toMatchObject({ details: { operation: 1, op: 'abort' } })
  expect(client.cache.count('Logical_Switch')).toBe(0)
})

it('a commit to disk and a comment go into the log', async () => {
  const { insert, comment, commit } = client.operations
  await client.transact([insert('Logical_Switch', {}), comment('durable\0 \ud800'), commit(true)])
  expect((await northbound.server.transactionLog()).at(-1)?.comment).toBe('durable \ufffd')
})

describe('an error', () => {
  it('at commit names the operation on the row at fault', async () => {
    const { insert } = client.operations
    const port = (name: string): ReturnType<typeof insert> =>
      insert('Logical_Switch_Port', { name: 'p0' }, name)
    const refused = client.transact([
      client.operations.comment('twins'),
      port('a'),
      insert('Logical_Switch', { name: 'sw0', ports: [named('a'), named('b')] }),
      port('b'),
    ])
    await expect(refused).rejects.toBeInstanceOf(errors.ConstraintViolationError)
    await expect(refused).rejects.toMatchObject({ details: { operation: 1, op: 'insert', table: 'Logical_Switch_Port' } }) // prettier-ignore

    const dangling = '0d5b0e7c-7d5c-4b1f-9d0e-5f3f2d3a1b00'
    const broken = client.transact([
      insert('Logical_Router', { name: 'lr0' }),
      insert('Logical_Switch', { name: 'sw0', ports: [dangling] }),
    ])
    await expect(broken).rejects.toBeInstanceOf(errors.ReferentialIntegrityError)
    await expect(broken).rejects.toMatchObject({ details: { operation: 1, op: 'insert', table: 'Logical_Switch' } }) // prettier-ignore
  })

  it('names a column and a table that the server does not know', async () => {
    const { Logical_Switch, ...others } = ovnNorthboundSchema.tables
    const columns = { ...Logical_Switch.columns, colour: { type: 'string' } }
    const tables = { ...others, Logical_Switch: { ...Logical_Switch, columns }, Future: { columns } }
    await using modern = new OvsdbClient({
      endpoints: [northbound.address],
      schema: { ...ovnNorthboundSchema, tables },
      tables: {},
    })
    await modern.connect()
    const { insert } = modern.operations
    for (const table of ['Logical_Switch', 'Future']) {
      const refused = modern.transact([modern.operations.comment('new'), insert(table, { colour: 'red' })])
      await expect(refused).rejects.toBeInstanceOf(errors.BadOperationError)
      await expect(refused).rejects.toMatchObject({ details: { operation: 1, op: 'insert', table } })
    }
  })

  it('tells that the role of the client may not do that', async () => {
    await using both = await startNorthbound({ southbound: true })
    const southbound = both.southbound ?? expect.unreachable()
    await southbound.control('ovsdb-server/add-remote db:OVN_Southbound,SB_Global,connections')
    await both.sbctl('create', 'RBAC_Role', 'name=ovn-controller')
    await both.sbctl('set-connection', 'role=ovn-controller', 'ptcp:6699:0.0.0.0')
    const endpoint = southbound.address.replace(/\d+$/, '6699')
    await using controller = new OvsdbClient<OvnSouthbound>({
      endpoints: [endpoint],
      schema: ovnSouthboundSchema,
      tables: { Chassis: {} },
    })
    await controller.connect()
    const refused = controller.transact([controller.operations.insert('Chassis', { name: 'stranger' })])
    await expect(refused).rejects.toBeInstanceOf(errors.PermissionDeniedError)
    await expect(refused).rejects.toMatchObject({
      retry: 'on-change',
      details: { operation: 0, op: 'insert', table: 'Chassis' },
    })
  })

  it('tells of a server that stands by for another', async () => {
    const { server } = northbound
    await server.control('ovsdb-server/set-active-ovsdb-server tcp:127.0.0.1:1')
    await server.control('ovsdb-server/connect-active-ovsdb-server')
    try {
      await client.connect()
      const refused = client.transact([client.operations.insert('Logical_Switch', {})])
      await expect(refused).rejects.toBeInstanceOf(errors.ReadOnlyError)
    } finally {
      await server.control('ovsdb-server/disconnect-active-ovsdb-server')
    }
  })
})

describe('the server', () => {
  it('tells its databases and its schema', async () => {
    expect((await client.listDatabases()).toSorted()).toEqual(['OVN_Northbound', '_Server'])
    expect((await client.getSchema()).tables['Logical_Switch']?.columns['name']).toEqual({ type: 'string' })
  })

  it.each(['a "b" \\ \n\t\u0001', '\u{1f600} ü \uffff', '', ' ', '\u2028', '__proto__'])(
    'gives text back: %j',
    async (text) => {
      const { insert } = client.operations
      const [row] = await client.transact([
        insert('Logical_Switch', { name: text, external_ids: { [text]: text, key: text } }),
      ])
      const found = client.cache.get('Logical_Switch', String(row?.uuid))
      expect(found?.name).toBe(text)
      expect(Object.entries(found?.external_ids ?? {}).toSorted()).toEqual([['key', text], [text, text]].toSorted()) // prettier-ignore
    },
  )

  it('is not shown text on which it would hang up', () => {
    const { insert, select } = client.operations
    for (const text of ['a\0b', '\ud800', 'x\udc00y']) {
      expect(() => insert('Logical_Switch', { name: text })).toThrow(errors.SchemaMismatchError)
      expect(() => insert('Logical_Switch', { external_ids: { [text]: '' } })).toThrow(
        errors.SchemaMismatchError,
      )
      expect(() => select('Logical_Switch', [['name', '==', text]])).toThrow(errors.SchemaMismatchError)
    }
  })

  it('gives integers beyond 2^53 back exactly', async () => {
    const { update, select, selected } = client.operations
    const causes: unknown[] = []
    client.onState((state) => {
      if ('cause' in state && state.cause !== undefined) causes.push(state.cause)
    })
    await expect(
      client.transact([update('NB_Global', [], { nb_cfg: 2n ** 63n - 1n })]),
    ).rejects.toBeInstanceOf(errors.TransactionOutcomeUnknownError)
    await client.connect()
    expect(causes).toContainEqual(expect.any(errors.InexactIntegerError))
    expect([...client.cache.scan('NB_Global')]).toMatchObject([{ nb_cfg: 2n ** 63n - 1n }])
    const seen = causes.length
    for (const value of [-(2n ** 63n), 2n ** 53n + 1n, -(2n ** 53n), 2 ** 53 - 1, 0]) {
      await client.transact([update('NB_Global', [['nb_cfg', '!=', value]], { nb_cfg: value })])
      expect([...client.cache.scan('NB_Global')]).toMatchObject([{ nb_cfg: value }])
      const [result] = await client.transact([select('NB_Global', [['nb_cfg', '==', value]])])
      expect(selected('NB_Global', result ?? {})).toMatchObject([{ nb_cfg: value }])
    }
    expect(causes).toHaveLength(seen)
  })
})

it('a server that has more tables and columns than the client knows is as good', async () => {
  const { name, ports } = ovnNorthboundSchema.tables.Logical_Switch.columns
  const Logical_Switch = { ...ovnNorthboundSchema.tables.Logical_Switch, columns: { name, ports } }
  const schema = { ...ovnNorthboundSchema, tables: { Logical_Switch } }
  await using old = new OvsdbClient({
    endpoints: [northbound.address],
    schema,
    tables: { Logical_Switch: {} },
  })
  await old.connect()
  expect(old.state).toMatchObject({ missing: [] })
  const { insert, select, selected, comment } = old.operations
  const [row] = await old.transact([insert('Logical_Switch', { name: 'sw0' })])
  await northbound.nbctl(
    'set',
    'Logical_Switch',
    'sw0',
    'external_ids:new=yes',
    'other_config:mcast_snoop=true',
  )
  const [result] = await old.transact([select('Logical_Switch'), comment('barrier')])
  const want = [{ _uuid: row?.uuid, name: 'sw0', ports: [] }]
  expect([...old.cache.scan('Logical_Switch')]).toEqual(want)
  expect(selected('Logical_Switch', result ?? {})).toEqual(want)
})

describe('a lock for which one waits', () => {
  it('can be stolen after all', async () => {
    await using other = open()
    const theirs = other.lock('leader')
    await other.connect()
    if (!theirs.isOwned) await new Promise((resolve) => theirs.onChange(resolve))
    const mine = client.lock('leader')
    await client.transact([client.operations.comment('barrier')])
    expect(mine.isOwned).toBe(false)
    const taken = new Promise((resolve) => mine.onChange(resolve))
    expect(client.lock('leader', { steal: true })).toBe(mine)
    expect(await taken).toBe(true)
    await client.transact([client.operations.assertLock('leader')])
    await expect(other.transact([other.operations.assertLock('leader')])).rejects.toMatchObject({
      details: { error: 'not owner', operation: 0, op: 'assert' },
    })
  })
})
