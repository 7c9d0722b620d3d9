import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { KubeOvnError } from '@kube-ovn/errors'
import { ovnNorthboundSchema, ovnSouthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { startDatabase, startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OvsdbClient } from './client.ts'
import type { OvsdbClientOptions } from './client-options.ts'
import type { ClientState } from './client-state.ts'
import { startRelay } from './relay-fixture.ts'

const seed = Number(process.env['SEED'] ?? Math.trunc(Math.random() * 2 ** 31))

let northbound: Northbound

beforeAll(async () => {
  northbound = await startNorthbound()
  for (const name of ['sw0', 'sw1', 'sw2']) {
    await northbound.nbctl('ls-add', name, '--', 'set', 'Logical_Switch', name, `external_ids:owner=${name}`)
  }
})
afterAll(() => northbound[Symbol.asyncDispose]())

/** For those who are to give up a silent server soon; a server on a busy machine may take longer. */
const impatient = { inactivityProbeMs: 150 }

function open(options: Partial<OvsdbClientOptions<OvnNorthbound>> = {}): OvsdbClient<OvnNorthbound> {
  return new OvsdbClient<OvnNorthbound>({
    endpoints: [northbound.address],
    schema: ovnNorthboundSchema,
    tables: { Logical_Switch: { indexes: ['name'] }, NB_Global: {} },
    backoff: { initialMs: 10, maxMs: 50, factor: 2, jitter: 0 },
    inactivityProbeMs: 30_000,
    ...options,
  })
}

/** Resolves when the client is in one of these phases, the next time that its phase changes. */
function next(
  client: OvsdbClient<OvnNorthbound>,
  ...phases: readonly ClientState['phase'][]
): Promise<ClientState> {
  const { promise, resolve } = Promise.withResolvers<ClientState>()
  const subscription = client.onState((state) => {
    if (!phases.includes(state.phase)) return
    subscription[Symbol.dispose]()
    resolve(state)
  })
  return promise
}

/** Why the first attempt failed. */
async function failure(client: OvsdbClient<OvnNorthbound>): Promise<Error | undefined> {
  const waiting = next(client, 'waiting')
  client.connect().catch(() => undefined)
  const state = await waiting
  return state.phase === 'waiting' ? state.cause : undefined
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const address = server.address()
  return `tcp:127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

describe('a wrong endpoint', () => {
  it('where nobody listens is told, with the reason', async () => {
    await using client = open({ endpoints: ['tcp:127.0.0.1:1'] })
    expect(await failure(client)).toMatchObject({
      code: 'ovsdb-connect-failed',
      details: { endpoint: 'tcp:127.0.0.1:1' },
      cause: { code: 'ECONNREFUSED' },
    })
  })

  it('with TLS, but without the files for it, is refused at once', () => {
    expect(() => open({ endpoints: ['ssl:127.0.0.1:6641'] })).toThrow(
      expect.objectContaining({
        code: 'ovsdb-endpoint-invalid',
        details: expect.objectContaining({ endpoint: 'ssl:127.0.0.1:6641' }),
      }),
    )
  })

  it('where a socket is missing is told, with the reason', async () => {
    await using client = open({ endpoints: ['unix:/nowhere/ovnnb_db.sock'] })
    expect(await failure(client)).toMatchObject({ code: 'ovsdb-connect-failed', cause: { code: 'ENOENT' } })
  })

  it('where another protocol is spoken is told, with what was heard', async () => {
    const web = createHttpServer()
    await using client = open({ endpoints: [await listen(web)] })
    expect(await failure(client)).toMatchObject({
      code: 'ovsdb-connect-failed',
      cause: { code: 'ovsdb-protocol', details: { value: expect.stringContaining('HTTP/1.1 400') } },
    })
    web.close()
  })

  it('where the server hangs up at once is told', async () => {
    const rude = createServer((socket) => socket.destroy())
    await using client = open({ endpoints: [await listen(rude)] })
    expect(await failure(client)).toMatchObject({ cause: { code: 'ovsdb-connection-lost' } })
    rude.close()
  })

  it('where there is another database is told, with the name of that', async () => {
    await using client = open({ schema: ovnSouthboundSchema, tables: {} })
    expect(await failure(client)).toMatchObject({
      code: 'ovsdb-connect-failed',
      cause: {
        code: 'ovsdb-server-unsuitable',
        details: { database: 'OVN_Southbound', reason: expect.stringContaining('OVN_Northbound') },
      },
    })
  })

  it('where a database only has the right name is told by what it lacks', async () => {
    const columns = { name: { type: { key: 'integer', min: 0, max: 1 } }, ports: { type: 'string' } }
    const zoo = {
      name: 'OVN_Northbound',
      version: '1.0.0',
      tables: { Logical_Switch: { columns, isRoot: true } },
    }
    await using database = await startDatabase(zoo)
    await using client = open({
      endpoints: [database.server.address],
      tables: { Logical_Switch: { columns: ['name', 'ports', 'acls'] }, NB_Global: {} },
    })
    await client.connect()
    const missing = ['Logical_Switch.name', 'Logical_Switch.ports', 'Logical_Switch.acls', 'NB_Global']
    expect(client.state).toMatchObject({ phase: 'connected', missing })
  })
})

describe('a server that stops answering', () => {
  it('before it said anything is given up, and talked to when it is back', async () => {
    await northbound.server.freeze()
    try {
      await using client = open(impatient)
      expect(await failure(client)).toMatchObject({
        code: 'ovsdb-connect-failed',
        cause: { code: 'ovsdb-connection-lost', details: { reason: 'no answer to an inactivity probe' } },
      })
      await northbound.server.thaw()
      await client.connect()
      expect(client.cache.count('Logical_Switch')).toBe(3)
    } finally {
      await northbound.server.thaw()
    }
  })

  it('in the middle of a transaction leaves its outcome unknown', async () => {
    await using client = open(impatient)
    await client.connect()
    await northbound.server.freeze()
    try {
      const unanswered = client.transact([client.operations.update('NB_Global', [], { name: 'zone' })])
      await expect(unanswered).rejects.toMatchObject({
        code: 'ovsdb-outcome-unknown',
        cause: { code: 'ovsdb-connection-lost' },
      })
    } finally {
      await northbound.server.thaw()
    }
    await client.connect()
    expect([...client.cache.scan('NB_Global')]).toHaveLength(1)
  })
})

describe('a server that answers echoes and no transaction', () => {
  it('is given up, which leaves the outcome unknown, and one that answers is found', async () => {
    let isStuck = false
    const lost: string[] = []
    await using relay = await startRelay(northbound.address, {
      lose(method) {
        if (method === 'transact' && isStuck) lost.push(method)
        return method === 'transact' && isStuck
      },
    })
    // Echoes are asked for, and have their time to be answered, before that.
    const limits = { inactivityProbeMs: 1_000, transactTimeoutMs: 4_000 }
    await using client = open({ endpoints: [relay.address], ...limits })
    await client.connect()
    isStuck = true
    const commit = () => client.transact([client.operations.comment('never')])
    await expect(commit()).rejects.toMatchObject({
      code: 'ovsdb-outcome-unknown',
      cause: { code: 'ovsdb-connection-lost', details: { reason: 'a transaction was not answered' } },
    })
    expect(relay.passed.filter((method) => method === 'echo').length).toBeGreaterThan(0)
    expect(lost).toEqual(['transact'])
    isStuck = false
    await client.connect()
    await commit()
  })

  it('has the time that a wait may take besides', async () => {
    await using client = open({ transactTimeoutMs: 200 })
    await client.connect()
    const { wait } = client.operations
    const never = wait('NB_Global', [], '==', [{ name: 'never' }], 600)
    await expect(client.transact([never])).rejects.toMatchObject({ code: 'ovsdb-wait-timed-out' })
    expect(client.state.phase).toBe('connected')
  })
})

type Mutation =
  | { readonly kind: 'flip' | 'cut' | 'stop'; readonly at: number; readonly size: number }
  | { readonly kind: 'insert'; readonly at: number; readonly text: string }

const at = fc.oneof(fc.nat(600), fc.nat(40_000), fc.integer({ min: 30_000, max: 36_000 }))
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('flip', 'flip', 'cut', 'stop'),
    at,
    size: fc.integer({ min: 1, max: 255 }),
  }),
  fc.record({
    kind: fc.constant('insert'),
    at,
    text: fc.constantFrom('"', '{', '}', '[', ']', ',', 'null', '0', '1234567890123456789', '\\u0000', '\0', '[['.repeat(999), '{}', '{"id":0,"result":[],"error":null}', '\xff'), // prettier-ignore
  }),
)

/** Changes one place of what a connection carries. */
function corruption(change: Mutation): (chunk: Buffer) => Buffer {
  let passed = 0
  return (chunk) => {
    const at = change.at - passed
    passed += chunk.length
    if (change.kind === 'stop') return at < 0 ? Buffer.alloc(0) : chunk.subarray(0, at)
    if (at < 0 || at >= chunk.length) return chunk
    switch (change.kind) {
      case 'flip': {
        const copy = Buffer.from(chunk)
        copy[at] = (copy[at] ?? 0) ^ change.size
        return copy
      }
      case 'cut':
        return Buffer.concat([chunk.subarray(0, at), chunk.subarray(at + change.size)])
      case 'insert':
        return Buffer.concat([chunk.subarray(0, at), Buffer.from(change.text, 'latin1'), chunk.subarray(at)])
    }
  }
}

/** A busy machine may be silent for longer than such an impatient client waits. */
async function barrier(client: OvsdbClient<OvnNorthbound>): Promise<void> {
  for (;;) {
    try {
      await client.connect()
      await client.transact([client.operations.comment('barrier')])
      return
    } catch (error) {
      if (!(error instanceof KubeOvnError) || error.retry !== 'backoff') throw error
    }
  }
}

it(`a server that sends nonsense causes typed errors, and is right again afterwards (SEED=${seed})`, async () => {
  let current: Mutation | undefined
  await using relay = await startRelay(northbound.address, {
    corrupt: () => (current === undefined ? (chunk) => chunk : corruption(current)),
  })
  await using witness = open({ inactivityProbeMs: 0 })
  await witness.connect()
  const contents = (client: OvsdbClient<OvnNorthbound>): unknown[] =>
    [...client.cache.scan('Logical_Switch'), ...client.cache.scan('NB_Global')].toSorted((a, b) => (a._uuid < b._uuid ? -1 : 1)) // prettier-ignore

  const outcomes = new Map<string, number>()
  const property = fc.asyncProperty(mutation, async (change) => {
    current = change
    await using client = open({ endpoints: [relay.address], ...impatient })
    const settled = next(client, 'connected', 'waiting')
    client.connect().catch(() => undefined)
    let state = await settled
    if (state.phase === 'connected') {
      const { update, wait } = client.operations
      const operations = [
        update('NB_Global', [], { external_ids: { change: JSON.stringify(change).slice(0, 60) } }),
        wait('NB_Global', [], '!=', [], 0),
      ]
      const answer = await client.transact(operations).catch((error: unknown) => error)
      if (!Array.isArray(answer)) expect(answer).toBeInstanceOf(KubeOvnError)
      state = client.state
    }
    const cause = 'cause' in state ? state.cause : undefined
    if (cause !== undefined) expect(cause).toBeInstanceOf(KubeOvnError)
    const reason = cause?.cause instanceof KubeOvnError ? cause.cause.code : state.phase
    outcomes.set(reason, (outcomes.get(reason) ?? 0) + 1)

    current = undefined
    if (client.state.phase === 'connected') {
      const left = next(client, 'connecting', 'waiting')
      relay.drop()
      await left
    } else relay.drop()
    await witness.transact([witness.operations.comment('barrier')])
    await barrier(client)
    expect(contents(client)).toEqual(contents(witness))
  })
  // The whole of the first answer is lost, and the server lives on; and one of each outcome.
  const examples: [Mutation][] = [
    [{ kind: 'cut', at: 0, size: 96 }],
    [{ kind: 'insert', at: 0, text: '}' }],
    [{ kind: 'stop', at: 0, size: 1 }],
    [{ kind: 'cut', at: 10_000_000, size: 1 }],
  ]
  await fc.assert(property, { seed, numRuns: 40, examples, endOnFailure: true })
  expect([...outcomes.keys()]).toEqual(
    expect.arrayContaining(['ovsdb-protocol', 'ovsdb-connection-lost', 'connected']),
  )
})
