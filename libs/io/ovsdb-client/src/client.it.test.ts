import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { startNorthbound, startProxy, type Northbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ClientState, OvsdbClient, type OvsdbClientOptions } from './client.ts'
import * as errors from './errors.ts'
import { named } from './operations.ts'
import type { AnyRowChange } from './types.ts'

type Changes = readonly AnyRowChange<OvnNorthbound>[]

const tables = {
  Logical_Switch: { indexes: ['name', 'ports', 'external_ids:owner'] },
  Logical_Switch_Port: {
    columns: ['name', 'addresses', 'tag', 'external_ids'],
    indexes: ['name', 'external_ids:owner'],
  },
  NB_Global: {},
} as const

let northbound: Northbound
let client: OvsdbClient<OvnNorthbound>
/** What the listener of {@link client} saw. */
let seen: Changes[]

function openClient(options: Partial<OvsdbClientOptions<OvnNorthbound>> = {}): OvsdbClient<OvnNorthbound> {
  const backoff = { initialMs: 10, maxMs: 200, factor: 2, jitter: 0 }
  return new OvsdbClient<OvnNorthbound>({
    endpoints: [northbound.address],
    schema: ovnNorthboundSchema,
    tables,
    backoff,
    ...options,
  })
}

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

function phase(wanted: ClientState['phase'], of = client): Promise<ClientState> {
  return new Promise((resolve) => {
    const subscription = of.onState((state) => {
      if (state.phase !== wanted) return
      subscription[Symbol.dispose]()
      resolve(state)
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
  client = openClient()
  await client.connect()
  client.onChange((changes) => seen.push(changes))
})
afterEach(() => client[Symbol.asyncDispose]())

describe('the cache', () => {
  it('has the rows that were there before, and tells the listeners', async () => {
    await northbound.nbctl('ls-add', 'sw0', '--', 'set', 'Logical_Switch', 'sw0', 'external_ids:owner=me')
    await using second = openClient()
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
    const gone = change(({ table }) => table === 'Logical_Switch')
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
    await using idle = openClient()
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
    await phase('waiting')
    expect(client.cache.count('Logical_Switch')).toBe(3)
    const reconnected = phase('connected')
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
    client = openClient({ endpoints: [proxy.address] })
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
    const reconnected = phase('connected')
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
    const reconnected = phase('connected')
    await server.convert()
    await reconnected
    seen.length = 0
    await insertSwitch('sw1')
    expect(seen.map(names)).toEqual([[[undefined, 'sw1']]])
  })
})

describe('a silent server', () => {
  it('is given up after an inactivity probe', async () => {
    await using impatient = openClient({ inactivityProbeMs: 50 })
    await impatient.connect()
    const { server } = northbound
    const lost = phase('waiting', impatient)
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

describe('a lock', () => {
  it('goes to one client, then to the next', async () => {
    const mine = client.lock('leader')
    if (!mine.isOwned) await new Promise((resolve) => mine.onChange(resolve))
    await using second = openClient()
    const theirs = second.lock('leader')
    await second.connect()
    const { assertLock, comment } = second.operations
    await expect(second.transact([assertLock('leader')])).rejects.toBeInstanceOf(errors.NotOwnerError)
    expect(theirs.isOwned).toBe(false)
    const handedOver = new Promise((resolve) => theirs.onChange(resolve))
    await mine[Symbol.asyncDispose]()
    expect(await handedOver).toBe(true)
    await second.transact([assertLock('leader'), comment('elected')])
    await expect(client.transact([assertLock('leader')])).rejects.toMatchObject({
      details: { operation: 0, op: 'assert' },
    })
  })

  it('has an identifier for a name', () => {
    expect(() => client.lock('two-words')).toThrow(errors.InvalidIdentifierError)
  })

  it('is taken at once by a client to which it belongs, and its former owner can write no more', async () => {
    await using former = openClient()
    const lost = former.lock('stolen')
    await former.connect()
    if (!lost.isOwned) await new Promise((resolve) => lost.onChange(resolve))
    const told = new Promise((resolve) => lost.onChange(resolve))
    const taken = client.lock('stolen', { steal: true })
    if (!taken.isOwned) await new Promise((resolve) => taken.onChange(resolve))
    expect(await told).toBe(false)
    const { assertLock, comment } = client.operations
    await client.transact([assertLock('stolen'), comment('elected')])
    await expect(former.transact([assertLock('stolen')])).rejects.toBeInstanceOf(errors.NotOwnerError)
  })

  it('is lost with the connection and asked for again', async () => {
    const lock = client.lock('leader')
    if (!lock.isOwned) await new Promise((resolve) => lock.onChange(resolve))
    const history: boolean[] = []
    const back = new Promise<void>((resolve) => {
      lock.onChange((isOwned) => {
        history.push(isOwned)
        if (isOwned) resolve()
      })
    })
    await northbound.kill()
    await northbound.start()
    await back
    expect(history).toEqual([false, true])
  })
})

describe("a lock that is a client's by right", () => {
  /** A client whose connection breaks without either side being told. */
  async function openSwallowed(steal: boolean | (() => boolean)) {
    const proxy = await startProxy(northbound.address)
    const half = openClient({ endpoints: [proxy.address], inactivityProbeMs: 200 })
    const lock = half.lock('half_open', { steal })
    await half.connect()
    const { assertLock, comment } = half.operations
    const commit = () => half.transact([assertLock('half_open'), comment('by right')])
    await commit()
    const lost = phase('waiting', half)
    proxy.swallow()
    await lost
    return {
      ...{ half, lock, commit },
      async [Symbol.asyncDispose]() {
        await half[Symbol.asyncDispose]()
        await proxy[Symbol.asyncDispose]()
      },
    }
  }

  it('is its own again at once after a connection that broke without a word', async () => {
    await using broken = await openSwallowed(() => true)
    await broken.half.connect()
    await broken.commit()
    expect(broken.lock.isOwned).toBe(true)
  })

  it('stays with the dead connection while it is not known to be', async () => {
    await using broken = await openSwallowed(true)
    await broken.half.connect()
    await expect(broken.commit()).rejects.toBeInstanceOf(errors.NotOwnerError)
  })

  it('is left to another when the right has ended', async () => {
    let isOurs = true
    await using broken = await openSwallowed(() => isOurs)
    isOurs = false
    const taken = client.lock('half_open', { steal: true })
    if (!taken.isOwned) await new Promise((resolve) => taken.onChange(resolve))
    await broken.half.connect()
    await expect(broken.commit()).rejects.toBeInstanceOf(errors.NotOwnerError)
    await client.transact([client.operations.assertLock('half_open')])
  })

  it('is given back when the right ended while it was taken', async () => {
    // Asked before the request, which then takes too long, and again when it was answered.
    const answers = [true]
    await using late = openClient()
    const lock = late.lock('half_open', { steal: () => answers.pop() ?? false })
    await late.connect()
    expect(answers).toEqual([])
    expect(lock.isOwned).toBe(false)
    await expect(late.transact([late.operations.assertLock('half_open')])).rejects.toBeInstanceOf(
      errors.NotOwnerError,
    )
    // Nobody has it.
    const { promise: taken, resolve } = Promise.withResolvers<boolean>()
    const next = client.lock('half_open')
    next.onChange(resolve)
    expect(next.isOwned || (await taken)).toBe(true)
  })

  it('is taken back when another took it without a right', async () => {
    await using thief = openClient()
    await thief.connect()
    const lock = client.lock('half_open', { steal: () => true })
    if (!lock.isOwned) await new Promise((resolve) => lock.onChange(resolve))
    const stolen = new Promise((resolve) => lock.onChange(resolve))
    thief.lock('half_open', { steal: true })
    expect(await stolen).toBe(false)
    const { assertLock, comment } = client.operations
    const commit = () => client.transact([assertLock('half_open'), comment('by right')])
    const left = phase('waiting')
    await expect(commit()).rejects.toBeInstanceOf(errors.NotOwnerError)
    await left
    await client.connect()
    await commit()
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
      await using secure = openClient({ endpoints: [address], tls })
      await secure.connect()
      expect(secure.cache.count('NB_Global')).toBe(1)

      // Without an authority that vouches for it, the server's certificate is not good.
      const system = openClient({
        endpoints: [address],
        tls: { ...tls, caFile: '/etc/ssl/certs/ca-certificates.crt' },
      })
      await using careful = system
      const refused = phase('waiting', careful)
      careful.connect().catch(() => undefined)
      expect(await refused).toMatchObject({ cause: { code: 'ovsdb-connect-failed' } })
    } finally {
      await rm(directory, { recursive: true })
    }
  })

  it('talks to a unix socket', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ovsdb-client-'))
    await using proxy = await startProxy(northbound.address, join(directory, 'db.sock'))
    await using local = openClient({ endpoints: [proxy.address] })
    await local.connect()
    expect(local.cache.count('NB_Global')).toBe(1)
    await rm(directory, { recursive: true })
  })

  it('goes on to the next endpoint when one is dead', async () => {
    await using proxy = await startProxy(northbound.address)
    proxy.cut()
    await using stubborn = openClient({ endpoints: [proxy.address, northbound.address] })
    await stubborn.connect()
    expect(stubborn.state).toMatchObject({ phase: 'connected', endpoint: northbound.address })
  })
})

describe('connect', () => {
  it('can be given up without harm', async () => {
    await using proxy = await startProxy(northbound.address)
    proxy.cut()
    await using patient = openClient({ endpoints: [proxy.address] })
    const reason = new Error('no patience')
    await expect(patient.connect(AbortSignal.abort(reason))).rejects.toBe(reason)
    proxy.mend()
    await patient.connect()
  })

  it('is refused by a closed client', async () => {
    const closed = openClient()
    await closed.connect()
    await closed[Symbol.asyncDispose]()
    await expect(closed.connect()).rejects.toBeInstanceOf(errors.ClientClosedError)
    expect(closed.state.phase).toBe('closed')
  })

  it('closes a client that never reached a server', async () => {
    const hopeless = openClient({ endpoints: ['tcp:127.0.0.1:1'] })
    const refused = expect(hopeless.connect()).rejects.toBeInstanceOf(errors.ClientClosedError)
    await phase('waiting', hopeless)
    await hopeless[Symbol.asyncDispose]()
    await refused
  })
})
