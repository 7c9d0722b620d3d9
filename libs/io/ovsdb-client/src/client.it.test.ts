import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { startNorthbound, startProxy, type Northbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nextPhase, openClient } from './client-fixture.ts'
import { OvsdbClient } from './client.ts'
import * as errors from './errors.ts'
import { named } from './operations.ts'
import type { AnyRowChange } from './types.ts'

type Changes = readonly AnyRowChange<OvnNorthbound>[]

let northbound: Northbound
let client: OvsdbClient<OvnNorthbound>
/** What the listener of {@link client} saw. */
let seen: Changes[]

/** Resolves once a listener has been told what `test` looks for. */
function change(test: (change: AnyRowChange<OvnNorthbound>) => boolean): Promise<Changes> {
  return new Promise((resolve) => {
    const subscription = client.onChange((changes) => {
      if (!changes.some(test)) return
      subscription[Symbol.dispose]()
      resolve(changes)
    })
  })
}

function names(changes: Changes): readonly unknown[] {
  return changes.map(({ old, new: fresh }) => [
    old && 'name' in old && old.name,
    fresh && 'name' in fresh && fresh.name,
  ])
}

async function insertSwitch(name: string): Promise<string> {
  const [result] = await client.transact([client.operations.insert('Logical_Switch', { name })])
  return String(result?.uuid)
}

beforeAll(async () => {
  northbound = await startNorthbound({ tls: true })
})
afterAll(() => northbound[Symbol.asyncDispose]())

beforeEach(async () => {
  await northbound.reset()
  seen = []
  client = openClient(northbound)
  await client.connect()
  client.onChange((changes) => seen.push(changes))
})
afterEach(() => client[Symbol.asyncDispose]())

describe('the cache', () => {
  it('has the rows that were there before, and tells the listeners', async () => {
    await northbound.nbctl('ls-add', 'sw0', '--', 'set', 'Logical_Switch', 'sw0', 'external_ids:owner=me')
    await using second = openClient(northbound)
    const initial: Changes[] = []
    second.onChange((changes) => initial.push(changes))
    await second.connect()
    expect(second.cache.count('Logical_Switch')).toBe(1)
    expect(second.cache.find('Logical_Switch', 'external_ids:owner', 'me')).toMatchObject([
      { name: 'sw0', ports: [] },
    ])
    expect(initial.map((changes) => names(changes).toSorted())).toEqual([[[undefined, ''], [undefined, 'sw0']]]) // prettier-ignore
  })

  it('includes a transaction when transact resolves, with rows that refer to each other', async () => {
    const { insert } = client.operations
    const [port, logicalSwitch] = await client.transact([
      insert('Logical_Switch_Port', { name: 'p0', external_ids: { owner: 'me' }, tag: 7 }, 'port'),
      insert('Logical_Switch', { name: 'sw0', ports: [named('port')] }),
    ])
    expect(seen).toHaveLength(1)
    expect(client.cache.get('Logical_Switch_Port', String(port?.uuid))).toEqual({
      _uuid: port?.uuid,
      name: 'p0',
      addresses: [],
      tag: 7,
      external_ids: { owner: 'me' },
    })
    const found = client.cache.find('Logical_Switch', 'ports', String(port?.uuid))
    expect(found.map(({ _uuid }) => _uuid)).toEqual([logicalSwitch?.uuid])
  })

  it('follows mutations, and the indexes with it', async () => {
    const uuid = await insertSwitch('sw0')
    const { mutate } = client.operations
    await client.transact([
      mutate('Logical_Switch', uuid, [['external_ids', 'insert', { owner: 'me', a: 'b' }]]),
    ])
    const [row] = client.cache.find('Logical_Switch', 'external_ids:owner', 'me')
    expect(row?.external_ids).toEqual({ owner: 'me', a: 'b' })
    await client.transact([mutate('Logical_Switch', uuid, [['external_ids', 'delete', ['owner']]])])
    expect(client.cache.find('Logical_Switch', 'external_ids:owner', 'me')).toEqual([])
    expect(client.cache.get('Logical_Switch', uuid)?.external_ids).toEqual({ a: 'b' })
    expect(row?.external_ids).toEqual({ owner: 'me', a: 'b' })
  })

  it('forgets rows that are removed, and those that the server collects with them', async () => {
    await northbound.nbctl('ls-add', 'sw0', '--', 'lsp-add', 'sw0', 'p0')
    const gone = change(({ table, new: row }) => table === 'Logical_Switch' && row === undefined)
    await northbound.nbctl('ls-del', 'sw0')
    expect(names(await gone)).toEqual(expect.arrayContaining([['sw0', undefined], ['p0', undefined]])) // prettier-ignore
    expect(client.cache.count('Logical_Switch_Port')).toBe(0)
  })

  it('hears of what others do, once for each transaction', async () => {
    const heard = change(({ table }) => table === 'Logical_Switch_Port')
    await northbound.nbctl(
      'ls-add',
      'sw0',
      '--',
      'lsp-add',
      'sw0',
      'p0',
      '--',
      'lsp-set-addresses',
      'p0',
      'dynamic',
    )
    await heard
    expect(seen).toHaveLength(1)
    expect(client.cache.find('Logical_Switch_Port', 'name', 'p0')).toMatchObject([{ addresses: ['dynamic'] }])
  })
})

describe('transact', () => {
  it('sends nothing for no operations', async () => {
    const before = await northbound.transactions()
    expect(await client.transact([])).toEqual([])
    expect(await northbound.transactions()).toBe(before)
  })

  it('rejects a broken uniqueness rule with its class, and changes nothing', async () => {
    const { insert } = client.operations
    const port = insert('Logical_Switch_Port', { name: 'p0' }, 'a')
    const twin = insert('Logical_Switch_Port', { name: 'p0' }, 'b')
    const container = insert('Logical_Switch', { name: 'sw0', ports: [named('a'), named('b')] })
    await expect(client.transact([port, twin, container])).rejects.toBeInstanceOf(
      errors.ConstraintViolationError,
    )
    expect(client.cache.count('Logical_Switch')).toBe(0)
  })

  it('names the operation whose value violates a constraint', async () => {
    const { insert } = client.operations
    const refused = client.transact([
      insert('Logical_Switch', { name: 'sw0' }),
      insert('ACL', { priority: 99_999, direction: 'to-lport', match: '1', action: 'drop' }),
    ])
    await expect(refused).rejects.toMatchObject({
      code: 'ovsdb-constraint',
      details: { error: 'constraint violation', operation: 1, op: 'insert', table: 'ACL' },
    })
  })

  it('rejects a reference to nothing', async () => {
    const dangling = '0d5b0e7c-7d5c-4b1f-9d0e-5f3f2d3a1b00'
    const refused = client.transact([
      client.operations.insert('Logical_Switch', { name: 'sw0', ports: [dangling] }),
    ])
    await expect(refused).rejects.toBeInstanceOf(errors.ReferentialIntegrityError)
  })

  it('fails a wait that does not hold', async () => {
    const uuid = await insertSwitch('sw0')
    const { wait, update } = client.operations
    const refused = client.transact([
      wait('Logical_Switch', uuid, '==', { name: 'other' }),
      update('Logical_Switch', uuid, { name: 'sw1' }),
    ])
    await expect(refused).rejects.toBeInstanceOf(errors.WaitTimedOutError)
    await client.transact([wait('Logical_Switch', uuid, '==', { name: 'sw0' })])
  })

  it('reads rows that are not cached', async () => {
    await northbound.nbctl('lr-add', 'lr0')
    const { select, selected } = client.operations
    const [result] = await client.transact([select('Logical_Router', [['name', '==', 'lr0']])])
    expect(selected('Logical_Router', result ?? {})).toMatchObject([
      { name: 'lr0', enabled: undefined, ports: [] },
    ])
  })

  it('is refused before connecting', async () => {
    await using idle = openClient(northbound)
    const { insert } = idle.operations
    await expect(idle.transact([insert('Logical_Switch', {})])).rejects.toBeInstanceOf(
      errors.NotConnectedError,
    )
  })

  it('does not know the outcome when the connection is lost before the answer', async () => {
    const { server } = northbound
    await server.freeze()
    const unanswered = client.transact([client.operations.insert('Logical_Switch', { name: 'sw0' })])
    const settled = expect(unanswered).rejects.toBeInstanceOf(errors.TransactionOutcomeUnknownError)
    await northbound.kill()
    await settled
    await northbound.start()
    await client.connect()
    expect(client.cache.count('Logical_Switch')).toBeLessThanOrEqual(1)
  })
})

describe('a server that comes back', () => {
  it('is resumed with, and listeners see only what differs', async () => {
    await northbound.nbctl('ls-add', 'kept', '--', 'ls-add', 'lost', '--', 'ls-add', 'changed')
    if (client.cache.count('Logical_Switch') === 0) await change(({ table }) => table === 'Logical_Switch')
    const [kept] = client.cache.find('Logical_Switch', 'name', 'kept')
    seen.length = 0
    await northbound.kill()
    await nextPhase(client, 'waiting')
    expect(client.cache.count('Logical_Switch')).toBe(3)
    const reconnected = nextPhase(client, 'connected')
    await northbound.start()
    await reconnected
    expect(seen).toEqual([])
    expect(client.cache.find('Logical_Switch', 'name', 'kept')[0]).toBe(kept)
    await insertSwitch('new')
    expect(seen.map(names)).toEqual([[[undefined, 'new']]])
  })

  it('may have changed meanwhile', async () => {
    await using proxy = await startProxy(northbound.address)
    await client[Symbol.asyncDispose]()
    client = openClient(proxy)
    client.onChange((changes) => seen.push(changes))
    await northbound.nbctl('ls-add', 'kept', '--', 'ls-add', 'lost', '--', 'ls-add', 'changed')
    await client.connect()
    const [kept] = client.cache.find('Logical_Switch', 'name', 'kept')
    seen.length = 0
    proxy.cut()
    await northbound.nbctl(
      'ls-del',
      'lost',
      '--',
      'ls-add',
      'new',
      '--',
      'set',
      'Logical_Switch',
      'changed',
      'name=other',
    )
    const reconnected = nextPhase(client, 'connected')
    proxy.mend()
    await reconnected
    expect(seen).toHaveLength(1)
    expect(names(seen[0] ?? []).toSorted()).toEqual([[undefined, 'new'], ['changed', 'other'], ['lost', undefined]].toSorted()) // prettier-ignore
    expect(client.cache.find('Logical_Switch', 'name', 'kept')[0]).toBe(kept)
  })
})

describe('a server with another schema', () => {
  it('shows what it lacks with defaults', async () => {
    const { Logical_Switch, ...others } = ovnNorthboundSchema.tables
    const future = { columns: { colour: { type: 'string' } } }
    const columns = { ...Logical_Switch.columns, colour: { type: 'string' } }
    const schema = {
      ...ovnNorthboundSchema,
      tables: { ...others, Logical_Switch: { ...Logical_Switch, columns }, Future: future },
    }
    await insertSwitch('sw0')
    await using modern = new OvsdbClient({
      endpoints: [northbound.address],
      schema,
      tables: { Logical_Switch: { columns: ['name', 'colour'] }, Future: {} },
    })
    await modern.connect()
    expect(modern.state).toMatchObject({ missing: ['Logical_Switch.colour', 'Future'] })
    expect([...modern.cache.scan('Logical_Switch')]).toMatchObject([{ name: 'sw0', colour: '' }])
    expect(modern.cache.count('Future')).toBe(0)
  })

  it('may get it while connected', async () => {
    await insertSwitch('sw0')
    const { server } = northbound
    const reconnected = nextPhase(client, 'connected')
    await server.convert()
    await reconnected
    seen.length = 0
    await insertSwitch('sw1')
    expect(seen.map(names)).toEqual([[[undefined, 'sw1']]])
  })
})

describe('a silent server', () => {
  it('is given up after an inactivity probe', async () => {
    await using impatient = openClient(northbound, { inactivityProbeMs: 50 })
    await impatient.connect()
    const { server } = northbound
    const lost = nextPhase(impatient, 'waiting')
    await server.freeze()
    try {
      expect(await lost).toMatchObject({ cause: { details: { reason: 'no answer to an inactivity probe' } } })
    } finally {
      await server.thaw()
    }
    await impatient.connect()
    expect(impatient.state.phase).toBe('connected')
  })
})

describe('other kinds of connections', () => {
  it('talks TLS to a server with a certificate of the right authority', async () => {
    const { address, certificates } = northbound.tls ?? expect.unreachable()
    const directory = await mkdtemp(join(tmpdir(), 'ovsdb-client-'))
    const file = async (name: string, text: string): Promise<string> => {
      await writeFile(join(directory, name), text)
      return join(directory, name)
    }
    try {
      const tls = {
        caFile: await file('ca.pem', certificates.ca),
        certificateFile: await file('cert.pem', certificates.certificate),
        privateKeyFile: await file('key.pem', certificates.privateKey),
      }
      await using secure = openClient(northbound, { endpoints: [address], tls })
      await secure.connect()
      expect(secure.cache.count('NB_Global')).toBe(1)

      // Without an authority that vouches for it, the server's certificate is not good.
      const system = openClient(northbound, {
        endpoints: [address],
        tls: { ...tls, caFile: '/etc/ssl/certs/ca-certificates.crt' },
      })
      await using careful = system
      const refused = nextPhase(careful, 'waiting')
      careful.connect().catch(() => undefined)
      expect(await refused).toMatchObject({ cause: { code: 'ovsdb-connect-failed' } })
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('talks to a unix socket', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ovsdb-client-'))
    await using proxy = await startProxy(northbound.address, join(directory, 'db.sock'))
    await using local = openClient(proxy)
    await local.connect()
    expect(local.cache.count('NB_Global')).toBe(1)
    await rm(directory, { recursive: true })
  })

  it('goes on to the next endpoint when one is dead', async () => {
    await using proxy = await startProxy(northbound.address)
    proxy.cut()
    await using stubborn = openClient(northbound, { endpoints: [proxy.address, northbound.address] })
    await stubborn.connect()
    expect(stubborn.state).toMatchObject({ phase: 'connected', endpoint: northbound.address })
  })
})

describe('connect', () => {
  it('can be given up without harm', async () => {
    await using proxy = await startProxy(northbound.address)
    proxy.cut()
    await using patient = openClient(proxy)
    const reason = new Error('no patience')
    await expect(patient.connect(AbortSignal.abort(reason))).rejects.toBe(reason)
    proxy.mend()
    await patient.connect()
  })

  it('is refused by a closed client', async () => {
    const closed = openClient(northbound)
    await closed.connect()
    await closed[Symbol.asyncDispose]()
    await expect(closed.connect()).rejects.toBeInstanceOf(errors.ClientClosedError)
    expect(closed.state.phase).toBe('closed')
  })

  it('closes a client that never reached a server', async () => {
    const hopeless = openClient(northbound, { endpoints: ['tcp:127.0.0.1:1'] })
    const refused = expect(hopeless.connect()).rejects.toBeInstanceOf(errors.ClientClosedError)
    await nextPhase(hopeless, 'waiting')
    await hopeless[Symbol.asyncDispose]()
    await refused
  })
})
