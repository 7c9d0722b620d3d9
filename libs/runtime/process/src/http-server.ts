import { urlHost } from '@kube-ovn/ip'
import { errorCode } from '@kube-ovn/errors'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { SecureContextOptions } from 'node:tls'
import { pageOf, type Registry } from '@kube-ovn/telemetry'
import { ConfigInvalidError } from './errors.ts'

/** Whether somebody may read something, and if not, which status tells him so. */
export type Review =
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly status: 401 | 403 | 503; readonly reason: string }

/** What it takes to serve by TLS, to those who may. */
export interface SecureListener {
  readonly context: SecureContextOptions
  /** Told of each certificate that takes the place of the one before. */
  onRenewed(listener: (context: SecureContextOptions) => void): Disposable
  /** Whether who sends this Authorization header may read `path`. */
  review(authorization: string | undefined, path: string): Promise<Review>
}

export interface HealthServerOptions {
  /** One listener for each. */
  readonly addresses: readonly string[]
  readonly port: number
  /** Absent: `/metrics` is not served. */
  readonly registry?: Registry
  /** Reasons why the process is not ready; none means that it is. */
  readiness(): readonly string[]
  /** Reasons why the process should be restarted. */
  liveness(): readonly string[]
  /** Absent: in the clear, metrics for everybody. */
  readonly secure?: SecureListener | undefined
}

interface HealthServer extends AsyncDisposable {
  /** `host:port` of each listener, an IPv6 address in brackets. */
  readonly endpoints: readonly string[]
}

/** Serves `/healthz`, `/livez`, `/readyz` and `/metrics` until disposed. Resolves once all addresses are bound. */
export async function serveHealth(options: HealthServerOptions): Promise<HealthServer> {
  await using stack = new AsyncDisposableStack()
  const endpoints: string[] = []
  for (const address of options.addresses) {
    const server = openServer(stack, options.secure, (request, response) => {
      answer(request, response, options).catch(() => response.destroy())
    })
    stack.defer(() => close(server))
    endpoints.push(await listenAt(server, options.port, address))
  }
  const owned = stack.move()
  return { endpoints, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function openServer(
  stack: AsyncDisposableStack,
  secure: SecureListener | undefined,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  // To import it would load what Node has for WebSockets and fetch beside it: two MiB in each process.
  if (secure === undefined) return process.getBuiltinModule('node:http').createServer(handle)
  const server = createSecureServer(secure.context, handle)
  stack.use(secure.onRenewed((context) => server.setSecureContext(context)))
  return server
}

/**
 * The addresses to bind: any of the host, or only the pod's own.
 *
 * @throws ConfigInvalidError when the pod's own are asked for and not known
 */
export function bindAddresses(isLocalOnly: boolean, podIps: readonly string[]): readonly string[] {
  if (!isLocalOnly) return [anyAddress]
  if (podIps.length > 0) return podIps
  const cure = 'set POD_IPS to the addresses of the pod, or ENABLE_BIND_LOCAL_IP to false'
  throw new ConfigInvalidError({ field: 'POD_IPS', value: '', cure })
}

/** Takes both families, where the host has IPv6. */
const anyAddress = '::'

async function listenAt(server: Server, port: number, address: string): Promise<string> {
  try {
    return await listen(server, port, address)
  } catch (error) {
    if (address === anyAddress && lacksIpv6(error)) return listen(server, port, '0.0.0.0')
    throw error
  }
}

function lacksIpv6(error: unknown): boolean {
  return ['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes(errorCode(error) ?? '')
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HealthServerOptions,
): Promise<void> {
  const { registry, secure } = options
  const path = new URL(request.url ?? '/', 'http://localhost').pathname
  switch (path) {
    case '/healthz':
    case '/livez':
      return verdict(response, options.liveness())
    case '/readyz':
      return verdict(response, options.readiness())
    case '/metrics': {
      if (registry === undefined) break
      const review = await secure?.review(request.headers.authorization, path)
      if (review?.isAllowed === false) return refuse(response, review.status, review.reason)
      return writeMetrics(response, registry)
    }
  }
  response.writeHead(404).end()
}

/** In pieces, as fast as they are taken: a page of several megabytes would be in memory three times. */
async function writeMetrics(response: ServerResponse, registry: Registry): Promise<void> {
  response.setHeader('content-type', registry.contentType)
  for await (const piece of pageOf(registry)) {
    if (response.destroyed) return
    if (!response.write(piece)) await drained(response)
  }
  response.end()
}

/** Or closed, by who asked. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  const who = status === 401 ? { 'www-authenticate': 'Bearer' } : {}
  response.writeHead(status, { 'content-type': 'text/plain', ...who }).end(`${reason}\n`)
}

function verdict(response: ServerResponse, reasons: readonly string[]): void {
  response.writeHead(reasons.length === 0 ? 200 : 503, { 'content-type': 'text/plain' })
  response.end(reasons.length === 0 ? 'ok' : `${reasons.join('\n')}\n`)
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const bound = server.address()
      const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port
      resolve(`${urlHost(host)}:${boundPort}`)
    })
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
