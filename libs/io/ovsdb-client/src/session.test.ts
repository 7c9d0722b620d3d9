import { duplexPair, PassThrough, type Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ConnectionLostError, ProtocolError, RequestRefusedError } from './errors.ts'
import { type Part, Session } from './session.ts'

let session: Session
let server: Duplex
let sent: string[]
let heard: unknown[]
let takePart: (method: string, part: Part) => boolean

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const [ours, theirs] = duplexPair()
  server = theirs
  sent = []
  heard = []
  takePart = () => false
  theirs.on('data', (chunk: Buffer) => sent.push(chunk.toString()))
  session = new Session(ours, {
    endpoint: 'tcp:test',
    inactivityProbeMs: 1000,
    onNotification: (method, params) => heard.push([method, ...params]),
    takePart: (method, part) => takePart(method, part),
  })
})
afterEach(() => {
  session[Symbol.dispose]()
  vi.useRealTimers()
})

/** Lets everything that is on its way arrive. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

function writeInChunks(message: object): void {
  const bytes = Buffer.from(JSON.stringify(message))
  for (let from = 0; from < bytes.length; from += 10_000) server.write(bytes.subarray(from, from + 10_000))
}

describe('Session', () => {
  it('hands messages on in the order in which they came, results included', async () => {
    const answered = session.request('monitor', ['x'], (result) => heard.push(['result', result]))
    await settle()
    expect(sent).toEqual(['{"method":"monitor","params":["x"],"id":0}'])
    server.write(
      '{"method":"a","params":[1],"id":null}{"id":0,"result":7,"error":null}{"method":"b","params":[],"id":null}',
    )
    await answered
    expect(heard).toEqual([['a', 1], ['result', 7], ['b']]) // prettier-ignore
  })

  it('shows parts of a long result to who asked for it, and of a long notification to its listener', async () => {
    const rows = Object.fromEntries(
      Array.from({ length: 2000 }, (_, index) => [`row${index}`, { initial: { a: 'ü{"' } }]),
    )
    const shown: unknown[] = []
    takePart = (method, { whole, path }) => {
      shown.push([method, structuredClone(whole), path.join('.')])
      return path[1] === 'T'
    }
    const answered = session.request('monitor', [], (result) => result, {
      takePart: ({ whole, path, members }) => {
        shown.push([structuredClone(whole), path.join('.'), Object.keys(members)[0]])
        return path[1] === 'T'
      },
    })
    writeInChunks({ id: 0, result: [false, { T: rows, U: rows }], error: null })
    expect(await answered).toEqual([false, { T: {}, U: rows }])
    expect(shown[0]).toEqual([[false, { T: {} }], '1.T', 'row0'])
    shown.length = 0
    writeInChunks({ id: null, method: 'update', params: ['x', { T: rows, U: rows }] })
    for (let turn = 0; turn < 20; turn++) await settle()
    expect(shown[0]).toEqual(['update', ['x', { T: {} }], '1.T'])
    expect(heard).toEqual([['update', 'x', { T: {}, U: rows }]])
    // Its subject comes last, so it cannot be known before.
    writeInChunks({ params: [{ T: rows }, { T: rows }], id: null, method: 'late' })
    for (let turn = 0; turn < 20; turn++) await settle()
    expect(heard[1]).toEqual(['late', { T: rows }, { T: rows }])
  })

  it('lets others have their turn while a long message arrives', async () => {
    let turn = 0
    const done = Promise.withResolvers<void>()
    const count = (): void => {
      turn++
      counting = setImmediate(count)
    }
    let counting = setImmediate(count)
    const bytesByTurn = new Map<number, number>()
    takePart = (_method, { members }) => {
      bytesByTurn.set(turn, (bytesByTurn.get(turn) ?? 0) + JSON.stringify(members).length)
      return true
    }
    const rows = Object.fromEntries(
      Array.from({ length: 400 }, (_, index) => [`row${index}`, 'x'.repeat(10_000)]),
    )
    // Whatever the stream gives at once.
    const bytes = Buffer.from(JSON.stringify({ id: null, method: 'update', params: ['x', { T: rows }] }))
    const stream = new PassThrough({ highWaterMark: 2 ** 24 })
    using eager = new Session(stream, {
      endpoint: 'tcp:test',
      inactivityProbeMs: 0,
      onNotification: () => done.resolve(),
      takePart,
    })
    for (let from = 0; from < bytes.length; from += 65_536) stream.write(bytes.subarray(from, from + 65_536))
    await done.promise
    clearImmediate(counting)
    expect(eager.hasEnded).toBe(false)
    expect(bytesByTurn.size).toBeGreaterThan(10)
    expect(Math.max(...bytesByTurn.values())).toBeLessThan(400_000)
  })

  it('answers the server’s echo', async () => {
    server.write('{"method":"echo","params":["are you there"],"id":"echo"}')
    await settle()
    expect(sent).toEqual(['{"id":"echo","result":["are you there"],"error":null}'])
  })

  it('tells the server that it offers no other methods', async () => {
    server.write('{"method":"steal","params":[],"id":5}')
    await settle()
    expect(sent).toEqual(['{"id":5,"result":null,"error":"unknown method"}'])
  })

  it('rejects a request that the server refuses', async () => {
    const answered = session.request('get_schema', ['Zoo'], String)
    server.write('{"id":0,"result":null,"error":{"error":"unknown database"}}')
    await expect(answered).rejects.toBeInstanceOf(RequestRefusedError)
  })

  it.each(['{"id":99,"result":null,"error":null}', 'nonsense', '{"id":0,'.concat(']')])(
    'ends on %s',
    async (text) => {
      server.write(text)
      expect(await session.ended).toBeInstanceOf(ProtocolError)
    },
  )

  it('ends when a result cannot be accepted, for that reason', async () => {
    const defect = new Error('defect')
    const answered = session.request('x', [], () => {
      throw defect
    })
    server.write('{"id":0,"result":null,"error":null}')
    await expect(answered).rejects.toBe(defect)
    expect(await session.ended).toMatchObject({ code: 'ovsdb-protocol', cause: defect })
  })

  it('asks for a request to be canceled, and takes whatever answer comes', async () => {
    const abort = new AbortController()
    const answered = session.request('transact', ['x'], String, { signal: abort.signal })
    abort.abort()
    await settle()
    expect(sent.join('')).toContain('{"method":"cancel","params":[0],"id":null}')
    server.write('{"id":0,"result":null,"error":"canceled"}')
    await expect(answered).rejects.toMatchObject({ details: { method: 'transact', error: 'canceled' } })
  })

  it('cancels nothing that has been answered', async () => {
    const abort = new AbortController()
    const answered = session.request('transact', ['x'], String, { signal: abort.signal })
    server.write('{"id":0,"result":1,"error":null}')
    await answered
    abort.abort()
    await settle()
    expect(sent).toHaveLength(1)
  })

  it('rejects what is unanswered, and what comes later, when the server hangs up', async () => {
    const answered = session.request('transact', [], String)
    server.end()
    await expect(answered).rejects.toBeInstanceOf(ConnectionLostError)
    await expect(session.request('transact', [], String)).rejects.toBeInstanceOf(ConnectionLostError)
  })

  it('asks a silent server for a sign of life, and gives it up when there is none', async () => {
    vi.advanceTimersByTime(1000)
    await settle()
    expect(sent).toEqual(['{"method":"echo","params":[],"id":0}'])
    vi.advanceTimersByTime(1000)
    const end = await session.ended
    expect(end).toMatchObject({ details: { reason: 'no answer to an inactivity probe' } })
  })

  it('gives up a server whose answers disappear in a message that never ends', async () => {
    server.write('{"method":"update3","params":["lost quote}')
    await settle()
    vi.advanceTimersByTime(1000)
    server.write('{"id":0,"result":[],"error":null}')
    await settle()
    vi.advanceTimersByTime(1000)
    expect(await session.ended).toMatchObject({ details: { reason: 'no answer to an inactivity probe' } })
  })

  it('keeps a server that answers', async () => {
    vi.advanceTimersByTime(1000)
    server.write('{"id":0,"result":[],"error":null}')
    await settle()
    vi.advanceTimersByTime(1999)
    await settle()
    expect(sent).toHaveLength(2)
    expect(session.hasEnded).toBe(false)
  })

  it('measures the silence from what it heard last', async () => {
    vi.advanceTimersByTime(900)
    server.write('{"method":"locked","params":["x"],"id":null}')
    await settle()
    vi.advanceTimersByTime(999)
    await settle()
    expect(sent).toEqual([])
    vi.advanceTimersByTime(1)
    await settle()
    expect(sent).toHaveLength(1)
    vi.advanceTimersByTime(1000)
    await session.ended
  })

  it('keeps a server whose answer waited only for this process to read it', async () => {
    vi.advanceTimersByTime(1000)
    await settle()
    server.write('{"id":0,"result":[],"error":null}')
    vi.advanceTimersByTime(1000)
    await settle()
    expect(session.hasEnded).toBe(false)
  })
})
