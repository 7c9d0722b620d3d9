import { once } from 'node:events'
import { Agent, createServer, request as sendRequest, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { answerText, firstFault, type ApiFault } from './api-fault.ts'

/** A certificate and its key, as PEM. */
interface KeyPair {
  readonly cert: string
  readonly key: string
}

export interface ApiProxyOptions {
  /** Of the server that is passed on to. */
  readonly host: string
  readonly port: number
  /** The authority that signed server and clients, as PEM. */
  readonly ca: string
  /** What the proxy shows to clients: the server's own pair. */
  readonly server: KeyPair
  /** By which the server knows a proxy that may say who the client is (`--requestheader-allowed-names`). */
  readonly frontProxy: KeyPair
  readonly listenHost: string
  /** 0: any that is free. */
  readonly listenPort: number
}

/**
 * A proxy in front of a kube-apiserver that sees requests: it answers some by itself, delays them, or drops them while they run.
 *
 * It speaks HTTP/1.1. A client that has a certificate stays who it is: the proxy tells the server by the headers of an authenticating proxy;
 * tokens are passed on as they are.
 */
export class ApiProxy implements AsyncDisposable {
  /** What is wrong with the server, first match first; may be changed at any time. */
  faults: readonly ApiFault[] = []
  readonly #options: ApiProxyOptions
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #plain: Agent
  readonly #trusted: Agent
  readonly #timesMet = new WeakMap<ApiFault, number>()
  #matched = 0

  private constructor(options: ApiProxyOptions) {
    this.#options = options
    const common = { keepAlive: true, ca: options.ca }
    this.#plain = new Agent(common)
    this.#trusted = new Agent({ ...common, ...options.frontProxy })
    this.#server = createServer({
      ...options.server,
      ca: options.ca,
      requestCert: true,
      // Without a certificate one may still have a token; the server decides.
      rejectUnauthorized: false,
    })
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.#server.on('request', (request, response) => this.#serve(request, response))
    this.#server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head))
  }

  static async open(options: ApiProxyOptions): Promise<ApiProxy> {
    const proxy = new ApiProxy(options)
    proxy.#server.listen(options.listenPort, options.listenHost)
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Requests that a fault applied to. */
  get matched(): number {
    return this.#matched
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const faults = this.faults.filter((one) => this.#timesMetOf(one) < (one.times ?? Infinity))
    const fault = firstFault(faults, request.method ?? 'GET', request.url ?? '/')
    if (fault === undefined) {
      this.#pass(request, response)
      return
    }
    this.#matched++
    this.#timesMet.set(fault, this.#timesMetOf(fault) + 1)
    this.#after(fault.delayMs ?? 0, response, () => {
      if (fault.answer === 'reset') resetConnection(request)
      else if (fault.answer !== undefined)
        answerBy(fault.answer, fault.retryAfterSeconds ?? 1, request, response)
      else {
        this.#pass(request, response)
        if (fault.resetAfterMs !== undefined)
          this.#after(fault.resetAfterMs, response, () => resetConnection(request))
      }
    })
  }

  #timesMetOf(fault: ApiFault): number {
    return this.#timesMet.get(fault) ?? 0
  }

  /** Does something later, unless the exchange has ended by then. */
  #after(delayMs: number, response: ServerResponse, work: () => void): void {
    if (delayMs === 0) {
      work()
      return
    }
    const timer = setTimeout(work, delayMs)
    this.#timers.add(timer)
    response.once('close', () => {
      clearTimeout(timer)
      this.#timers.delete(timer)
    })
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const outer = this.#send(request)
    outer.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.pipe(response)
      // A side that is lost is lost for both; nobody else has to know.
      answer.on('error', () => response.destroy())
    })
    outer.on('error', () => response.destroy())
    response.once('close', () => outer.destroy())
    request.pipe(outer)
  }

  /** kubectl exec and its like: from the server's consent on, bytes in both directions. */
  #upgrade(request: IncomingMessage, inner: Duplex, head: Buffer): void {
    const outer = this.#send(request)
    inner.on('error', () => outer.destroy())
    outer.on('error', () => inner.destroy())
    outer.on('response', () => inner.destroy())
    outer.on('upgrade', (answer, socket, first) => {
      inner.write(`HTTP/1.1 101 Switching Protocols\r\n${headerLines(answer)}\r\n\r\n`)
      inner.write(first)
      socket.write(head)
      socket.on('error', () => inner.destroy())
      inner.pipe(socket).pipe(inner)
    })
    outer.end()
  }

  #send(request: IncomingMessage) {
    const { host, port } = this.#options
    const identity = identityOf(request)
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !name.startsWith('x-remote-')),
    )
    return sendRequest({
      host,
      port,
      method: request.method,
      path: request.url,
      headers: { ...headers, ...identity },
      agent: identity === undefined ? this.#plain : this.#trusted,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    for (const socket of this.#sockets) socket.destroy()
    this.#plain.destroy()
    this.#trusted.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** The headers that say who a client with a certificate is. */
function identityOf(request: IncomingMessage): Record<string, string | string[]> | undefined {
  const socket = request.socket as TLSSocket
  if (!socket.authorized) return undefined
  const { CN: user, O: groups } = socket.getPeerCertificate().subject ?? {}
  if (typeof user !== 'string') return undefined
  return { 'x-remote-user': user, 'x-remote-group': groups === undefined ? [] : [groups].flat() }
}

function answerBy(
  status: number,
  retryAfterSeconds: number,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  // The body is read to its end, so that the connection can serve the next request.
  request.resume()
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 429 ? { 'retry-after': `${retryAfterSeconds}` } : {}),
  })
  response.end(answerText(status, retryAfterSeconds))
}

function resetConnection(request: IncomingMessage): void {
  const socket = request.socket as TLSSocket
  // A TLS socket cannot reset by itself.
  socket.destroy()
}

function headerLines({ rawHeaders }: IncomingMessage): string {
  const lines: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`)
  return lines.join('\r\n')
}
