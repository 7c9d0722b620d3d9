import { duplexPair } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProtocolError } from './errors.ts'
import { Monitor } from './monitor.ts'
import type { RowDifference } from './row-cache.ts'
import { Session } from './session.ts'
import type { DatabaseSchema } from './types.ts'

const zoo: DatabaseSchema = {
  name: 'Zoo',
  version: '1.0.0',
  tables: {
    Animal: {
      columns: {
        name: { type: 'string' },
        tags: { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } },
      },
    },
    Plant: { columns: { name: { type: 'string' } } },
  },
}

/** A monitor of a server that is the test itself: `send` gives the client bytes. */
function monitored(): {
  readonly monitor: Monitor<never>
  readonly session: Session
  readonly heard: (readonly RowDifference[])[]
  send(text: string, chunkBytes: number): Promise<void>
} & Disposable {
  const [ours, theirs] = duplexPair()
  theirs.resume()
  const heard: (readonly RowDifference[])[] = []
  const monitor = new Monitor<never>(zoo, { Animal: { indexes: ['name'] }, Plant: {} }, (differences) => {
    heard.push(differences)
  })
  const session = new Session(ours, {
    endpoint: 'tcp:test',
    inactivityProbeMs: 0,
    onNotification: (method, params) => monitor.update(method, params),
    takePart: (method, part) => monitor.takePart(method, part),
  })
  return {
    monitor,
    session,
    heard,
    async send(text, chunkBytes) {
      const bytes = Buffer.from(text)
      for (let from = 0; from < bytes.length; from += chunkBytes) {
        const { promise, resolve } = Promise.withResolvers<void>()
        theirs.write(bytes.subarray(from, from + chunkBytes), () => resolve())
        // Who hangs up takes nothing more.
        await Promise.race([promise, session.ended])
      }
    },
    [Symbol.dispose]: () => session[Symbol.dispose](),
  }
}

const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const animals = fc.array(fc.record({ name: text, tags: fc.dictionary(text, text, { maxKeys: 3 }) }), {
  minLength: 1,
  maxLength: 20,
})

type Animals = typeof animals extends fc.Arbitrary<infer A> ? A : never

/** Long enough to be taken in parts. */
const filler = '{["\\'.repeat(1000)

function wireRows(kind: 'initial' | 'insert', rows: Animals, prefix: string): object {
  return Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => {
      const { name, tags } = rows[index % rows.length] ?? { name: '', tags: {} }
      const map = Object.entries({ ...tags, filler })
      return [`${prefix}${index}`, { [kind]: { name: `${name}${index}`, tags: ['map', map] } }]
    }),
  )
}

function namesOf(rows: Animals): readonly string[] {
  return Array.from({ length: 40 }, (_, index) => `${rows[index % rows.length]?.name}${index}`)
}

describe('Monitor', () => {
  it('has what the server sent, however long the messages and wherever they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        animals,
        animals,
        fc.integer({ min: 1000, max: 70_000 }),
        async (first, second, chunkBytes) => {
          using harness = monitored()
          const { monitor, session, heard, send } = harness
          const started = monitor.start(session, zoo)
          const dump = { Plant: { p: { initial: { name: 'Oak' } } }, Animal: wireRows('initial', first, 'a') }
          await send(JSON.stringify({ id: 0, result: [false, 'one', dump], error: null }), chunkBytes)
          await started
          expect(heard.map((differences) => differences.length)).toEqual([41])
          expect([...monitor.cache.rows('Animal').values()].map((row) => row['name'])).toEqual(namesOf(first))
          const tags = monitor.cache.row('Animal', 'a0')?.['tags']
          expect(tags).toEqual({ ...first[0]?.tags, filler })
          const update = { Animal: { ...wireRows('insert', second, 'b'), a0: { delete: null } } }
          const message = { id: null, method: 'update3', params: ['Zoo', 'two', update] }
          // A short one in the same chunk as the end of the long one.
          const short = {
            ...message,
            params: ['Zoo', 'three', { Plant: { p: { modify: { name: 'Elm' } } } }],
          }
          await send(JSON.stringify(message) + JSON.stringify(short), chunkBytes)
          await new Promise((resolve) => setImmediate(resolve))
          expect(heard.map((differences) => differences.length)).toEqual([41, 41, 1])
          expect(monitor.cache.row('Animal', 'a0')).toBeUndefined()
          expect(monitor.cache.row('Plant', 'p')?.['name']).toBe('Elm')
          expect([...monitor.cache.rows('Animal').values()].slice(39).map((row) => row['name'])).toEqual(
            namesOf(second),
          )
        },
      ),
      { numRuns: 30 },
    )
  })

  it.each([
    '{"initial":{"name":7}}',
    '{"initial":{"name":"x"}',
    '{"modify":{"name":"x"}}',
    '7',
    'null',
    '{}',
  ])('keeps its rows when a dump has %s among its rows', async (malformed) => {
    using harness = monitored()
    const { monitor, session, heard, send } = harness
    const started = expect(monitor.start(session, zoo)).rejects.toBeInstanceOf(ProtocolError)
    const rows = JSON.stringify(wireRows('initial', [{ name: 'x', tags: {} }], 'a'))
    const dump = `{"Animal":${rows.slice(0, -1)},"bad":${malformed},${rows.slice(1)}}`
    await send(`{"id":0,"result":[false,"one",${dump}],"error":null}`, 10_000)
    await started
    expect(await session.ended).toBeInstanceOf(ProtocolError)
    expect(monitor.cache.rows('Animal').size).toBe(0)
    expect(heard).toEqual([])
  })
})
