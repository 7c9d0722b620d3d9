import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy that can cut and refuse, as a bad network does. It does not look into what it passes on. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isRefusing = false

  private constructor(host: string, port: number) {
    this.#server = createServer((inner) => {
      if (this.#isRefusing) {
        inner.resetAndDestroy()
        return
      }
      const outer = connect(port, host)
      this.#sockets.add(inner).add(outer)
      inner.pipe(outer).pipe(inner)
      for (const [socket, other] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        // A lost side is the point of this proxy: the other side learns of it, and nobody else.
        socket.on('error', () => other.destroy())
        socket.on('close', () => {
          this.#sockets.delete(socket)
          other.destroy()
        })
      }
    })
  }

  static async open(host: string, port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(host, port)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  /** Where it listens, on 127.0.0.1. */
  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Connections that pass through now. */
  get connections(): number {
    return this.#sockets.size / 2
  }

  /** Resets every connection. New ones are let through. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /** Whether new connections are reset at once. */
  refuse(isRefusing: boolean): void {
    this.#isRefusing = isRefusing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
