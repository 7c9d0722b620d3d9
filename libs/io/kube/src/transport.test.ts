import { getEventListeners, once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ClusterAccess } from './cluster-access.ts'
import { Transport } from './transport.ts'

let server: Server

/** Accepts connections, and never says a word: none of TLS is ever made. */
beforeEach(async () => {
  server = createServer((socket) => socket.on('error', () => undefined))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => server.close())

function open(
  signal?: AbortSignal,
  of: Server = server,
  scheme = 'https',
  {
    connections = 1,
    authenticate = async () => ({}),
  }: { connections?: number; authenticate?: ClusterAccess['authenticate'] } = {},
): Transport {
  const { port } = of.address() as AddressInfo
  const access = {
    ...{ server: `${scheme}://127.0.0.1:${port}`, ca: undefined, tlsServerName: undefined, isVerified: true },
    authenticate,
  }
  const limits = { connections, timeoutMs: 60_000, watchSilenceMs: 60_000, repeats: 0 }
  return new Transport(access, { userAgent: 'test', ...limits, ...(signal !== undefined && { signal }) })
}

const request = { method: 'GET', path: '/version' } as const
/** A connection is given up by itself after 10 s. */
const soonMs = 9_000

it('ends requests, and connections that are not made yet, with its signal', async () => {
  const user = new AbortController()
  await using transport = open(user.signal)
  const connected = once(server, 'connection')
  const ended = transport.send(request).catch((error: unknown) => error)
  const [socket] = await connected
  const gone = once(socket, 'close')
  const startedMs = performance.now()
  const reason = new Error('had enough')
  user.abort(reason)
  expect(await ended).toBe(reason)
  await gone
  expect(performance.now() - startedMs).toBeLessThan(soonMs)
  await expect(transport.send(request)).rejects.toBe(reason)
})

it('leaves no connection behind that is not made yet', async () => {
  const transport = open()
  const connected = once(server, 'connection')
  const ended = transport.send(request).catch((error: unknown) => error)
  const [socket] = await connected
  const gone = once(socket, 'close')
  const startedMs = performance.now()
  await transport[Symbol.asyncDispose]()
  expect(await ended).toMatchObject({ message: 'API server did not answer' })
  await gone
  expect(performance.now() - startedMs).toBeLessThan(soonMs)
})

it('remembers no connection that is over', async () => {
  const answering = createHttpServer((_request, response) => {
    response.setHeader('connection', 'close').end('{}')
  })
  answering.listen(0, '127.0.0.1')
  await once(answering, 'listening')
  const combined = vi.spyOn(AbortSignal, 'any')
  await using transport = open(new AbortController().signal, answering, 'http')
  const end: unknown = combined.mock.results[0]?.value
  combined.mockRestore()
  if (!(end instanceof AbortSignal)) expect.unreachable('the signal of the client is one of two')
  for (let request = 0; request < 20; request++) {
    expect(await transport.send({ method: 'GET', path: '/version' })).toBe('{}')
    expect(getEventListeners(end, 'abort')).toEqual([])
  }
  answering.close()
})

it('sends everything again that was refused with an old token, also when another request has renewed it', async () => {
  const refuse: (() => void)[] = []
  const tokens: (string | undefined)[] = []
  const answering = createHttpServer(({ headers: { authorization } }, response) => {
    tokens.push(authorization)
    if (authorization === 'Bearer old') refuse.push(() => response.writeHead(401).end())
    else response.end('{}')
    // The other one is refused when the first has been answered under the new token.
    if (tokens.length >= 2) refuse.shift()?.()
  })
  answering.listen(0, '127.0.0.1')
  await once(answering, 'listening')
  let authorization = 'Bearer old'
  await using transport = open(undefined, answering, 'http', {
    connections: 2,
    async authenticate(renew) {
      if (renew) authorization = 'Bearer new'
      return { authorization }
    },
  })
  const sent = [1, 2].map(() => transport.send({ method: 'GET', path: '/version' }))
  expect(await Promise.all(sent)).toEqual(['{}', '{}'])
  expect(tokens).toEqual(['Bearer old', 'Bearer old', 'Bearer new', 'Bearer new'])
  answering.close()
})
