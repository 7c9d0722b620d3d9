import { duplexPair, type Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ConnectionLostError, ProtocolError, RequestRefusedError } from './errors.ts'
import { Session } from './session.ts'

let session: Session
let server: Duplex
let sent: string[]
let heard: unknown[]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const [ours, theirs] = duplexPair()
  server = theirs
  sent = []
  heard = []
  theirs.on('data', (chunk: Buffer) => sent.push(chunk.toString()))
  session = new Session(ours, {
    endpoint: 'tcp:test',
    inactivityProbeMs: 1000,
    onNotification: (method, params) => heard.push([method, ...params]),
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
    const answered = session.request('transact', ['x'], String, abort.signal)
    abort.abort()
    await settle()
    expect(sent.join('')).toContain('{"method":"cancel","params":[0],"id":null}')
    server.write('{"id":0,"result":null,"error":"canceled"}')
    await expect(answered).rejects.toMatchObject({ details: { method: 'transact', error: 'canceled' } })
  })

  it('cancels nothing that has been answered', async () => {
    const abort = new AbortController()
    const answered = session.request('transact', ['x'], String, abort.signal)
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

  it('keeps a server that answers', async () => {
    vi.advanceTimersByTime(1000)
    server.write('{"id":0,"result":[],"error":null}')
    await settle()
    vi.advanceTimersByTime(2000)
    await settle()
    expect(sent).toHaveLength(2)
    expect(session.hasEnded).toBe(false)
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
