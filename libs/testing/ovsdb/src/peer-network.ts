import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Container } from './container.ts'
import { ensureNetwork } from './image.ts'
import { JsonSplitter } from './json-splitter.ts'

/** Where the members of a cluster talk to each other. */
export const raftPort = 6643

/** What a member of a cluster told another. */
export interface PeerMessage {
  /** Addresses of the members. */
  readonly from: string
  readonly to: string
  /** Of the RAFT protocol: `append_request`, `append_reply`, `vote_request`, … */
  readonly method: string
  /** `performance.now()` when it was sent. */
  readonly atMs: number
}

/** One way between two members that leads through this process. */
interface Way {
  readonly from: string
  readonly to: string
  readonly server: Server
  readonly sockets: Set<Socket>
}

/**
 * The network between the members of a cluster, led through this process, so that it can be slowed and logged.
 *
 * Each member's connections to the others are redirected, by its packet filter, to a proxy on the host's end of the network.
 */
export class PeerNetwork implements AsyncDisposable {
  readonly #ways: Way[] = []
  readonly #messages: PeerMessage[] = []
  /** Milliseconds by which messages of and to a member are late; of two members', the longer. */
  #delaysMs = new Map<string, number>()

  private constructor() {}

  /** Must be there before the members are: connections that are open stay as they are. */
  static async open(containers: readonly Container[]): Promise<PeerNetwork> {
    const { host } = await ensureNetwork()
    await using stack = new AsyncDisposableStack()
    const network = stack.use(new PeerNetwork())
    await Promise.all(
      containers.map(async (container) => {
        const others = containers.filter((other) => other !== container)
        const ways = await Promise.all(
          others.map(({ address }) => network.#openWay(container.address, address, host)),
        )
        const rules = ways.map(
          ({ to, server }) =>
            `add rule ip peers output ip daddr ${to} tcp dport ${raftPort} dnat to ${host}:${(server.address() as AddressInfo).port}`,
        )
        const lines = [
          'add table ip peers',
          'add chain ip peers output { type nat hook output priority -100; }',
          ...rules,
        ]
        await container.run(['nft', '-f', '-'], lines.map((line) => `${line}\n`).join(''))
      }),
    )
    stack.move()
    return network
  }

  /** Every message since the start or the last {@link forget}, in the order in which they were sent. */
  get messages(): readonly PeerMessage[] {
    return this.#messages
  }

  forget(): void {
    this.#messages.length = 0
  }

  /** Has messages of and to these members arrive later, and those of and to others at once. Their order stays. */
  slow(delayMs: number, addresses: readonly string[]): void {
    this.#delaysMs = new Map(addresses.map((address) => [address, delayMs]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#ways.map(async ({ server, sockets }) => {
        for (const socket of sockets) socket.destroy()
        server.close()
        await once(server, 'close')
      }),
    )
  }

  async #openWay(from: string, to: string, host: string): Promise<Way> {
    const sockets = new Set<Socket>()
    const server = createServer((inner) => {
      const outer = connect(raftPort, to)
      for (const [socket, other] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        sockets.add(socket)
        // An error is followed by 'close', and so the other side hears of it.
        socket.on('error', () => undefined)
        socket.on('close', () => {
          sockets.delete(socket)
          other.destroy()
        })
      }
      this.#forward(inner, outer, from, to)
      this.#forward(outer, inner, to, from)
    })
    server.listen(0, host)
    await once(server, 'listening')
    const way = { from, to, server, sockets }
    this.#ways.push(way)
    return way
  }

  #forward(source: Socket, target: Socket, from: string, to: string): void {
    const splitter = new JsonSplitter()
    let dueMs = 0
    source.on('data', (chunk: Buffer) => {
      const atMs = performance.now()
      for (const text of splitter.push(chunk)) {
        const { method } = JSON.parse(text) as { readonly method?: string }
        this.#messages.push({ from, to, method: method ?? 'answer', atMs })
      }
      const delayMs = Math.max(this.#delaysMs.get(from) ?? 0, this.#delaysMs.get(to) ?? 0)
      // What is sent later does not arrive sooner, also when the network has become faster.
      dueMs = Math.max(dueMs, atMs + delayMs)
      if (dueMs <= atMs) target.write(chunk)
      else setTimeout(() => target.write(chunk), dueMs - atMs)
    })
  }
}
