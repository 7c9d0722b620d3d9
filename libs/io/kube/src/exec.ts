import type { IncomingMessage } from 'node:http'
import type { RawData, WebSocket } from 'ws'
import { authenticationHeaders, tlsOptions, type ClusterAccess } from './cluster-access.ts'
import { KubeConnectionError, KubeExecError } from './errors.ts'
import { channels, execProtocols, exitCodeOf, parseExecStatus } from './exec-status.ts'
import { objectPath } from './paths.ts'
import { pods } from '@kube-ovn/kube-api/core'
import { errorOfStatus, parseStatus } from './status.ts'

/** A command to run in a container. Nothing of it is read by a shell. */
export interface ExecRequest {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly command: readonly string[]
  /** What the command reads; without it, it has no input. */
  readonly stdin?: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  /** While a sink is busy, the command is held up. */
  readonly onStdout: (chunk: Buffer) => void | Promise<void>
  readonly onStderr: (chunk: Buffer) => void | Promise<void>
  /** Names us in the server's audit log. */
  readonly userAgent: string
  readonly signal?: AbortSignal
}

/** A connection over which nothing comes for so long, not even an answer to a ping, is taken for dead. */
const silenceMs = 30_000

/**
 * Runs a command in a container of a pod and answers its exit code.
 *
 * @throws KubeExecError when it could not be started, the typed error of a refusal, KubeConnectionError when the connection is lost
 */
export async function execInPod(access: ClusterAccess, request: ExecRequest): Promise<number> {
  const { default: Socket } = await import('ws')
  const { namespace, pod: name, signal } = request
  const path = `${objectPath(pods, { namespace, name }, 'exec')}?${queryOf(request)}`
  const authentication = await access.authenticate(false)
  signal?.throwIfAborted()
  const socket = new Socket(`${access.server.replace(/^http/, 'ws')}${path}`, [...execProtocols], {
    ...tlsOptions(access, authentication),
    headers: { ...authenticationHeaders(authentication), 'user-agent': request.userAgent },
    handshakeTimeout: silenceMs,
    perMessageDeflate: false,
    maxPayload: 64 * 1024 * 1024,
  })
  const abort = (): void => socket.terminate()
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await untilEnd(socket, request, { method: 'GET', path, endpoint: new URL(access.server).origin })
  } catch (error) {
    throw signal?.aborted === true ? signal.reason : error
  } finally {
    signal?.removeEventListener('abort', abort)
    socket.terminate()
  }
}

function queryOf({ container, command, stdin }: ExecRequest): string {
  const query = new URLSearchParams({ container, stdout: 'true', stderr: 'true' })
  if (stdin !== undefined) query.set('stdin', 'true')
  for (const word of command) query.append('command', word)
  return query.toString()
}

interface Where {
  readonly method: string
  readonly path: string
  readonly endpoint: string
}

function untilEnd(socket: WebSocket, request: ExecRequest, where: Where): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const details = {
    pod: `${request.namespace}/${request.pod}`,
    container: request.container,
    command: request.command.join(' '),
  }
  function lost(cause?: unknown): void {
    reject(new KubeConnectionError('API server did not answer', where, { cause }))
  }
  // Sinks see chunks one after the other; the end waits for the last.
  let written: Promise<void> = Promise.resolve()
  function pass(sink: ExecRequest['onStdout'], chunk: Buffer): void {
    socket.pause()
    written = written.then(() => sink(chunk)).then(() => socket.resume())
    written.catch(reject)
  }
  let hasEnded = false
  function end(chunk: Buffer): void {
    hasEnded = true
    const status = parseExecStatus(chunk.toString('utf8'))
    const code = exitCodeOf(status)
    if (code !== undefined) written.then(() => resolve(code), reject)
    else reject(new KubeExecError('Command did not run', { ...details, answer: status.message ?? '' }))
  }
  const receive = (data: RawData): void => {
    const message = bytesOf(data)
    const chunk = message.subarray(1)
    if (message[0] === channels.stdout && chunk.length > 0) pass(request.onStdout, chunk)
    else if (message[0] === channels.stderr && chunk.length > 0) pass(request.onStderr, chunk)
    else if (message[0] === channels.status) end(chunk)
  }
  let isAlive = true
  const heartbeat = setInterval(() => {
    // The time that it takes to open has a bound of its own.
    if (socket.readyState === socket.CONNECTING) return
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  }, silenceMs / 2)
  socket.on('message', receive)
  socket.on('pong', () => (isAlive = true))
  socket.on('unexpected-response', (_request, response) => void refused(response, where).catch(reject))
  socket.on('error', lost)
  socket.on('close', (code, reason) => {
    clearInterval(heartbeat)
    // Sinks may still be busy with what came before.
    if (hasEnded) return
    const answer = reason.toString('utf8')
    if (code === 1000 || answer !== '')
      reject(new KubeExecError('Command ended without a status', { ...details, answer }))
    else lost()
  })
  socket.on('open', () => {
    if (request.stdin !== undefined) send(socket, request.stdin).catch(reject)
  })
  return promise.finally(() => clearInterval(heartbeat))
}

/** @throws the typed error of what was answered in place of a connection */
async function refused(response: IncomingMessage, where: Where): Promise<never> {
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  const status = parseStatus(Buffer.concat(pieces).toString('utf8'))
  throw errorOfStatus(where, response.statusCode ?? 0, status, response.headers['retry-after'])
}

async function send(socket: WebSocket, input: NonNullable<ExecRequest['stdin']>): Promise<void> {
  for await (const chunk of input) await write(socket, channels.stdin, chunk)
  if (socket.protocol === execProtocols[0]) await write(socket, channels.close, Buffer.of(channels.stdin))
}

function write(socket: WebSocket, channel: number, chunk: Uint8Array): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  socket.send(Buffer.concat([Buffer.of(channel), chunk]), (error) =>
    error === undefined || error === null ? resolve() : reject(error),
  )
  return promise
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
