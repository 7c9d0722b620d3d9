import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { JsonSplitter } from './json-splitter.ts'

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
  /** Passes nothing on any more on the connections that there are, and ends none of them: neither side learns of it. */
  swallow(): void
  /** Lets a judge decide what becomes of each message of the server, on connections made from now on. */
  meddle(judge: (message: ServerMessage) => Fate): void
}

/** A message from the server to the client. */
interface ServerMessage {
  /** Of the notification, or of the request that is answered. */
  readonly method: string
  readonly isAnswer: boolean
  readonly text: string
}

/**
 * - `pass`: the client gets it
 * - `drop`: the client does not get it
 * - `hang up`: nor anything after it: the connection ends
 * - `truncate`: the client gets the first half of it, and the connection ends
 * - a promise: the client gets it, and what follows, when that resolves
 */
type Fate = 'pass' | 'drop' | 'hang up' | 'truncate' | Promise<void>

/** Forwards connections to `target` (`tcp:IP:PORT`). Listens on a unix socket when given a path. */
export async function startProxy(target: string, path?: string): Promise<Proxy> {
  const [, host, port] = target.split(':')
  const sockets = new Set<Socket>()
  /** Those of connections that carry nothing any more. */
  const swallowed = new Set<Socket>()
  let chunks: Buffer[] = []
  let isCut = false
  let judge: ((message: ServerMessage) => Fate) | undefined
  // Nothing is to wait for the other side's acknowledgement that would not wait without a proxy.
  const server = createServer({ noDelay: true }, (client) => {
    if (isCut) {
      client.destroy()
      return
    }
    const upstream = connect({ host: String(host), port: Number(port), noDelay: true })
    upstream.on('data', (chunk: Buffer) => chunks.push(chunk))
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      // An error is followed by 'close'.
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        if (!swallowed.delete(socket)) peer.destroy()
      })
    }
    client.pipe(upstream)
    if (judge === undefined) upstream.pipe(client)
    else void forwardJudged(client, upstream, judge)
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
    swallow() {
      for (const socket of sockets) {
        swallowed.add(socket)
        socket.unpipe()
        socket.removeAllListeners('data')
        // What comes is read, or else the sender would notice after a while.
        socket.resume()
      }
    },
    meddle(newJudge) {
      judge = newJudge
    },
    async [Symbol.asyncDispose]() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Forwards what the server sends, message for message, as the judge says. */
async function forwardJudged(
  client: Socket,
  upstream: Socket,
  judge: (message: ServerMessage) => Fate,
): Promise<void> {
  const asked = new Map<unknown, string>()
  const requests = new JsonSplitter()
  client.on('data', (chunk: Buffer) => {
    for (const text of requests.push(chunk)) {
      const { id, method } = JSON.parse(text) as JsonRpc
      if (method !== undefined) asked.set(id, method)
    }
  })
  const messages = new JsonSplitter()
  for await (const chunk of readable(upstream)) {
    for (const text of messages.push(chunk)) {
      const { id, method } = JSON.parse(text) as JsonRpc
      const message = { method: method ?? asked.get(id) ?? '', isAnswer: method === undefined, text }
      const fate = judge(message)
      if (fate === 'hang up') {
        client.destroy()
        return
      }
      if (fate === 'truncate') {
        client.end(text.slice(0, text.length / 2))
        return
      }
      if (fate instanceof Promise) await fate
      if (fate !== 'drop') client.write(text)
    }
  }
}

/** What comes until the connection ends, whichever way: its client hears of that by itself. */
async function* readable(upstream: Socket): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of upstream) yield chunk as Buffer
  } catch {
    // It was destroyed while it was read.
  }
}

interface JsonRpc {
  readonly id: unknown
  readonly method?: string
}
