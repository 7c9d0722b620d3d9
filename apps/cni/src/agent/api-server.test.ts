import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { serveApi, type Handler } from './api-server.ts'

let directory: string
let socketPath: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-ovn-cni-'))
  socketPath = join(directory, 'daemon.sock')
})

afterEach(() => rmSync(directory, { recursive: true }))

function serve(handler: Handler, onAnswered: (path: string, status: number) => void = () => undefined) {
  return serveApi({ socketPath, handlers: new Map([['/api/v1/add', handler]]), onAnswered })
}

it('replaces a socket that an earlier agent left, for root only, without a trace of another name', async () => {
  writeFileSync(socketPath, '')
  await using _server = await serve(async () => ({ status: 204 }))
  expect(statSync(socketPath).isSocket()).toBe(true)
  expect(statSync(socketPath).mode & 0o777).toBe(0o600)
  expect(readdirSync(directory)).toEqual(['daemon.sock'])
  expect(await post('/api/v1/add', '{}')).toEqual({ status: 204, body: '' })
})

it('leaves the socket of a successor alone when it stops', async () => {
  const old = await serve(async () => ({ status: 500 }))
  await using _successor = await serve(async () => ({ status: 204 }))
  await old[Symbol.asyncDispose]()
  expect((await post('/api/v1/add', '{}')).status).toBe(204)
})

it('answers what the handler says, and reports it', async () => {
  const answered: [string, number][] = []
  await using _server = await serve(
    async (body) => ({ status: 200, body: { got: body } }),
    (path, status) => answered.push([path, status]),
  )
  expect(await post('/api/v1/add', '{"a":1}')).toEqual({
    status: 200,
    body: '{"got":{"a":1}}',
  })
  expect(answered).toEqual([['/api/v1/add', 200]])
})

it('answers an error body to everything that goes wrong', async () => {
  await using _server = await serve(async () => {
    throw new Error('no such luck')
  })
  expect(await post('/api/v1/add', '{}')).toEqual({
    status: 500,
    body: '{"error":"no such luck"}',
  })
  expect((await post('/nowhere', '{}')).status).toBe(404)
  expect((await post('/api/v1/add', 'not json')).status).toBe(400)
})

it('reads a body that is too long to its end, and refuses it', async () => {
  await using _server = await serve(async () => ({ status: 204 }))
  const tooLong = 'x'.repeat(8 * 1024 * 1024)
  expect(await post('/api/v1/add', tooLong)).toEqual({
    status: 413,
    body: '{"error":"request is too large"}',
  })
})

it('tells the handler when the client goes away', async () => {
  const entered = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<unknown>()
  await using _server = await serve(async (_body, signal) => {
    signal.addEventListener('abort', () => aborted.resolve(signal.reason))
    entered.resolve()
    await aborted.promise
    return { status: 204 }
  })
  const outgoing = request({ socketPath, path: '/api/v1/add', method: 'POST' })
  outgoing.on('error', () => undefined)
  outgoing.end('{}')
  await entered.promise
  outgoing.destroy()
  await expect(aborted.promise).resolves.toMatchObject({ message: 'the runtime gave up the request' })
})

it(
  'waits for a plugin that stands still in the middle of a request',
  { timeout: 120_000 },
  async ({ skip }) => {
    skip(
      process.env['KUBE_OVN_DEEP'] !== '1',
      'Node looks for late clients twice a minute: KUBE_OVN_DEEP=1 runs it',
    )
    await using _server = await serve(async () => ({ status: 204 }))
    const plugin = connect(socketPath)
    await once(plugin, 'connect')
    plugin.write('POST /api/v1/add HTTP/1.1\r\nhost: agent\r\n')
    await delay(65_000)
    plugin.end('content-length: 2\r\nconnection: close\r\n\r\n{}')
    expect(await text(plugin)).toMatch(/^HTTP\/1.1 204 /)
  },
)

/** Fails also when the connection is lost after the answer. */
async function post(path: string, body: string): Promise<{ status: number | undefined; body: string }> {
  const outgoing = request({ socketPath, path, method: 'POST' })
  const [answer] = await Promise.all([
    new Promise<IncomingMessage>((resolve) => outgoing.once('response', resolve)).then(async (incoming) => ({
      status: incoming.statusCode,
      body: await text(incoming),
    })),
    once(outgoing.end(body), 'close'),
  ])
  return answer
}
