import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { JsonFrames } from './frames.ts'

/** What happens to the traffic between a client and a real server. */
export interface Meddling {
  /** The error by which a request is refused; `undefined` lets it pass to the server. */
  refuse?(method: string, params: readonly unknown[]): unknown
  /** Whether a request gets lost on the way. */
  lose?(method: string): boolean
  /** Changes what the server sends. Called anew for each connection. */
  corrupt?(): (chunk: Buffer) => Buffer
}

export interface Relay extends AsyncDisposable {
  readonly address: string
  /** The requests that reached the server, in order. */
  readonly passed: readonly string[]
  /** Ends all connections. */
  drop(): void
}

/** Stands between a client and a real server (`tcp:IP:PORT`), and plays one that is older, or mad. */
export async function startRelay(target: string, meddling: Meddling): Promise<Relay> {
  const [, host, port] = target.split(':')
  const passed: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ host: String(host), port: Number(port) })
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
    }
    const frames = new JsonFrames(JSON.parse)
    client.on('data', (chunk: Buffer) => {
      for (const message of frames.push(chunk)) {
        const { id, method, params } = message as { id: unknown; method?: string; params: readonly unknown[] }
        const error = method === undefined ? undefined : meddling.refuse?.(method, params)
        if (error !== undefined) {
          client.write(JSON.stringify({ id, result: null, error }))
          continue
        }
        if (method !== undefined && meddling.lose?.(method) === true) continue
        if (method !== undefined) passed.push(method)
        upstream.write(JSON.stringify(message))
      }
    })
    const corrupt = meddling.corrupt?.()
    upstream.on('data', (chunk: Buffer) => {
      if (client.writable) client.write(corrupt === undefined ? chunk : corrupt(chunk))
    })
  })
  function drop(): void {
    for (const socket of sockets) socket.destroy()
  }
  server.listen({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const address = server.address()
  return {
    address: typeof address === 'object' ? `tcp:127.0.0.1:${address?.port}` : '',
    passed,
    drop,
    async [Symbol.asyncDispose]() {
      drop()
      server.close()
      await once(server, 'close')
    },
  }
}
