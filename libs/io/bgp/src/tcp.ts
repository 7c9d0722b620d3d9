import { closeSync } from 'node:fs'
import { createServer, Socket, type Server } from 'node:net'
import { decodeAddress, encodeAddress, inNamespace, WritableDescriptor } from '@kube-ovn/netlink'
import { familyOfText, type AddressFamily } from './address-family.ts'
import type { Connection, ConnectionHandlers, DialOptions } from './connection.ts'
import { BgpSocketError } from './errors.ts'
import {
  bind,
  connect,
  connectResult,
  domain,
  isUnderWay,
  setLeavable,
  setListening,
  setNoDelay,
  setPassword,
  setRetransmission,
  setTtl,
  socket,
  socketAddress,
  streamCloseOnExecNonBlocking,
  succeed,
} from './tcp-options.ts'

/** How long a connection that was ended may take to send what is queued. */
const lingerMs = 10_000

/** Dials a peer by TCP. */
export async function dialTcp(options: DialOptions, signal: AbortSignal): Promise<Connection> {
  const { address, port, source, ttl, password, netns } = options
  const family = familyOfText(address)
  const fd = openSocket(family, address, netns)
  try {
    setTtl(fd, family, ttl)
    setNoDelay(fd)
    if (password !== undefined) setPassword(fd, address, password)
    if (source !== undefined) {
      const own = socketAddress(source, 0)
      succeed(bind(fd, own, own.length), 'bind', source)
    }
    const peer = socketAddress(address, port)
    const answer = connect(fd, peer, peer.length)
    if (isUnderWay(answer)) {
      await writable(fd, signal)
      succeed(connectResult(fd), 'connect', address)
    } else succeed(answer, 'connect', address)
    // Not before: it would make another one of the time that a dial has.
    setRetransmission(fd)
    // Nor this: what no link has is no address to dial from.
    setLeavable(fd, family)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return new TcpConnection(new Socket({ fd, readable: true, writable: true }))
}

export interface ListenOptions {
  readonly family: AddressFamily
  /** Default: all addresses. */
  readonly address?: string | undefined
  readonly port: number
  readonly ttl: number
  /** By address of the peer. */
  readonly passwords: ReadonlyMap<string, string>
  readonly netns?: string | undefined
}

/** Waits for peers to dial. @throws BgpSocketError */
export async function listenTcp(
  { family, address = family === 'ipv4' ? '0.0.0.0' : '::', port, ttl, passwords, netns }: ListenOptions,
  accepted: (peer: string, connection: Connection) => void,
): Promise<AsyncDisposable & { readonly port: number }> {
  const fd = openSocket(family, address, netns)
  try {
    setListening(fd, family)
    setLeavable(fd, family)
    setTtl(fd, family, ttl)
    setNoDelay(fd)
    setRetransmission(fd)
    for (const [peer, password] of passwords) setPassword(fd, peer, password)
    const own = socketAddress(address, port)
    succeed(bind(fd, own, own.length), 'bind', address)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  const server = createServer((socket) => {
    const peer = socket.remoteAddress
    if (peer === undefined) socket.destroy()
    else accepted(canonical(peer), new TcpConnection(socket))
  })
  await listening(server, fd, address)
  // A connection that could not be taken, such as where descriptors have run out: the peer dials again.
  server.on('error', () => undefined)
  const bound = server.address()
  return {
    port: bound !== null && typeof bound === 'object' ? bound.port : port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

class TcpConnection implements Connection {
  readonly #socket: Socket
  readonly localAddress: string
  #isEnding = false
  /** The kernel has not taken everything. */
  #isWaiting = false
  #drained: (() => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    this.localAddress = canonical(socket.localAddress ?? '')
    // Until somebody listens: an error without a listener would end the process.
    socket.on('error', () => undefined)
  }

  get queuedBytes(): number {
    return this.#socket.writableLength
  }

  write(bytes: Buffer): void {
    if (this.#socket.destroyed || this.#isEnding) return
    // Not by the event of that name, which Node leaves out where less was waiting than it calls much.
    this.#socket.write(bytes, () => {
      if (!this.#isWaiting || this.#socket.writableLength > 0) return
      this.#isWaiting = false
      if (!this.#socket.destroyed) this.#drained?.()
    })
    this.#isWaiting ||= this.#socket.writableLength > 0
  }

  end(): void {
    this.#isEnding = true
    this.#socket.setTimeout(lingerMs, () => this.#socket.destroy())
    this.#socket.destroySoon()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  listen({ data, drained, closed }: ConnectionHandlers): void {
    let failure: Error | undefined
    this.#socket.on('error', (error) => (failure = error))
    this.#socket.on('close', () => closed(failure))
    this.#drained = drained
    this.#socket.on('data', (bytes) => data(Buffer.from(bytes)))
    if (this.#socket.destroyed) queueMicrotask(() => closed(failure))
  }
}

function openSocket(family: AddressFamily, address: string, netns: string | undefined): number {
  const open = (): number => socket(domain[family], streamCloseOnExecNonBlocking, 0)
  return succeed(netns === undefined ? open() : inNamespace(netns, open), 'socket', address)
}

function writable(fd: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void): void => {
      poll[Symbol.dispose]()
      signal.removeEventListener('abort', onAbort)
      done()
    }
    const onAbort = (): void => settle(() => reject(signal.reason))
    const poll = new WritableDescriptor(fd, () => settle(resolve))
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}

function listening(server: Server, fd: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new BgpSocketError({ operation: 'listen', address, errno: error.code ?? error.message })),
    )
    server.listen({ fd }, resolve)
  })
}

/** Without the zone of a link-local address, and written as others write it. */
function canonical(address: string): string {
  const bare = address.split('%')[0] ?? ''
  return bare === '' ? '' : decodeAddress(encodeAddress('address', bare))
}
