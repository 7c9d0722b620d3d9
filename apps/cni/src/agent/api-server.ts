import { chmodSync, renameSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { FailureMessage } from '../protocol/messages.ts'

/** What a handler answers: a status, and a body unless the status is 204. */
export interface Answer {
  readonly status: number
  readonly body?: object
}

/** Handles the decoded body of a request. `signal` is aborted when the client goes away. */
export type Handler = (body: unknown, signal: AbortSignal) => Promise<Answer>

export interface ApiServerOptions {
  readonly socketPath: string
  /** By path. */
  readonly handlers: ReadonlyMap<string, Handler>
  onAnswered(path: string, status: number, ms: number): void
}

/** A CNI request is a few hundred bytes; GC names every container of a node. */
const longestBody = 4 * 1024 * 1024

/**
 * Serves the CNI plugin on a unix socket that only root may use.
 *
 * The socket is bound under another name and then renamed over an old one, so that at no moment a plugin finds a
 * socket on which nobody listens any more while this process does.
 */
export async function serveApi(options: ApiServerOptions): Promise<AsyncDisposable> {
  const { socketPath } = options
  // Only root's plugins connect, and a connection ends with its process. Where a node stands still for a while, Node would refuse (by 408)
  // who was waiting all the time.
  const server = createServer({ headersTimeout: 0, requestTimeout: 0 }, (request, response) => {
    answer(request, response, options).catch(() => response.destroy())
  })
  const temporary = `${socketPath}.${process.pid}`
  rmSync(temporary, { force: true })
  await listen(server, temporary)
  chmodSync(temporary, 0o600)
  renameSync(temporary, socketPath)
  return { [Symbol.asyncDispose]: () => close(server) }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: ApiServerOptions,
): Promise<void> {
  const startedMs = performance.now()
  const path = request.url ?? ''
  const gone = new AbortController()
  response.on('close', () => {
    if (!response.writableFinished) gone.abort(new Error('the runtime gave up the request'))
  })
  const { status, body } = await decide(request, options.handlers.get(path), gone.signal)
  options.onAnswered(path, status, performance.now() - startedMs)
  if (gone.signal.aborted) return
  if (body === undefined) {
    response.writeHead(status).end()
    return
  }
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

async function decide(
  request: IncomingMessage,
  handler: Handler | undefined,
  signal: AbortSignal,
): Promise<Answer> {
  if (handler === undefined) return failure(404, `there is nothing at ${request.url ?? ''}`)
  if (request.method !== 'POST') return failure(405, 'only POST is served')
  const text = await readBody(request)
  if (text === undefined) return failure(413, 'request is too large')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return failure(400, 'request is not JSON')
  }
  try {
    return await handler(body, signal)
  } catch (error) {
    return failure(500, error instanceof Error ? error.message : String(error))
  }
}

export function failure(status: number, error: string, code?: number): Answer {
  const body: FailureMessage = { error, ...(code === undefined ? {} : { code }) }
  return { status, body }
}

/** Reads to the end what is too long as well: a client that cannot send all of it may never come to read the answer. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length <= longestBody) chunks.push(chunk)
  }
  return length > longestBody ? undefined : Buffer.concat(chunks).toString('utf8')
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
