import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a server, so that a test can cut them apart and see what the server sent. */
export interface Proxy extends AsyncDisposable {
  /** For the client. */
  readonly address: string
  /** What the server has sent since the last {@link cut}. */
  readonly received: string
  /** Ends all connections and accepts no others. */
  cut(): void
  /** Accepts connections again. */
  mend(): void
}

/** Forwards connections to `target` (`tcp:IP:PORT`). Listens on a unix socket when given a path. */
export async function startProxy(target: string, path?: string): Promise<Proxy> {
  const [, host, port] = target.split(':')
  const sockets = new Set<Socket>()
  let chunks: Buffer[] = []
  let isCut = false
  const server = createServer((client) => {
    if (isCut) {
      client.destroy()
      return
    }
    const upstream = connect({ host: String(host), port: Number(port) })
    upstream.on('data', (chunk: Buffer) => chunks.push(chunk))
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      // prettier-ignore
      sockets.add(socket)
      // An error is followed by 'close'.
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        peer.destroy()
      })
      socket.pipe(peer)
    }
  })
  server.listen(path === undefined ? { host: '127.0.0.1', port: 0 } : { path })
  await once(server, 'listening')
  const address = server.address()

  function destroyAll(): void {
    for (const socket of sockets) socket.destroy()
  }
  return {
    address: typeof address === 'object' ? `tcp:127.0.0.1:${address?.port}` : `unix:${address}`,
    get received() {
      return Buffer.concat(chunks).toString()
    },
    cut() {
      isCut = true
      chunks = []
      destroyAll()
    },
    mend() {
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
  }
}
