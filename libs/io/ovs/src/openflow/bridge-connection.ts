import { errorCode } from '@kube-ovn/errors'
import { connect, type Socket } from 'node:net'
import { DaemonRefusedError, DaemonUnreachableError } from '../errors.ts'
import { padded, sortedMatch, uint, type Flow } from './flow.ts'

/** Flows of which cookies. */
export interface Cookies {
  readonly cookie: bigint
  /** Bits of it that count. */
  readonly mask: bigint
}

export interface FlowChange {
  readonly what: 'add' | 'delete'
  readonly flow: Flow
}

interface Listeners {
  /** A flow that was added by anybody who wanted to be told so is gone. */
  onRemoved(): void
  /** The daemon hung up, once it was connected: with it go all flows. */
  onClosed(): void
}

interface Waiting {
  readonly parts: Buffer[]
  resolve(parts: readonly Buffer[]): void
  reject(error: Error): void
}

/** OpenFlow 1.3. */
const version = 4
const headerLength = 8
const kind = {
  hello: 0,
  error: 1,
  echoRequest: 2,
  echoReply: 3,
  flowRemoved: 11,
  flowMod: 14,
  multipartRequest: 18,
  multipartReply: 19,
  barrierRequest: 20,
  barrierReply: 21,
  setAsync: 28,
} as const
const multipartFlows = 1
const any = 0xffff_ffff
const noBuffer = any
const command = { add: 0, delete: 4 } as const
const tellsRemoval = 1

/**
 * A connection to a bridge of Open vSwitch, by its socket for management, which changes nothing about how it forwards.
 *
 * @see OpenFlow Switch Specification 1.3.5, chapter 7
 */
export class BridgeConnection implements Disposable {
  readonly #path: string
  readonly #socket: Socket
  readonly #timeoutMs: number
  readonly #listeners: Listeners
  readonly #waiting = new Map<number, Waiting>()
  #read: Buffer = Buffer.alloc(0)
  #transaction = 0
  #isOpen = false

  private constructor(path: string, socket: Socket, timeoutMs: number, listeners: Listeners) {
    this.#path = path
    this.#socket = socket
    this.#timeoutMs = timeoutMs
    this.#listeners = listeners
  }

  /** @throws DaemonUnreachableError */
  static async open(path: string, timeoutMs: number, listeners: Listeners): Promise<BridgeConnection> {
    const socket = connect(path)
    const connection = new BridgeConnection(path, socket, timeoutMs, listeners)
    socket.on('data', (bytes: Buffer) => connection.#take(bytes))
    socket.on('error', (error) => connection.#end(errorCode(error) ?? String(error)))
    socket.on('close', () => connection.#end('hung up'))
    connection.#send(kind.hello, Buffer.alloc(0))
    // Whoever manages is told of nothing unless he says of what.
    const removals = uint(0b1111, 4)
    connection.#send(kind.setAsync, Buffer.concat([Buffer.alloc(16), removals, removals]))
    await connection.#answered(kind.barrierRequest, Buffer.alloc(0))
    connection.#isOpen = true
    return connection
  }

  /** The flows of some cookies, in all tables. */
  async flows({ cookie, mask }: Cookies): Promise<readonly Flow[]> {
    const body = Buffer.concat([
      ...[uint(multipartFlows, 2), Buffer.alloc(6)],
      ...[uint(0xff, 1), Buffer.alloc(3), uint(any, 4), uint(any, 4), Buffer.alloc(4)],
      ...[long(cookie), long(mask), matchOf('')],
    ])
    const parts = await this.#answered(kind.multipartRequest, body)
    return parts.flatMap((part) => readFlows(part.subarray(headerLength + 8)))
  }

  /** @throws DaemonRefusedError when a flow is none that the bridge could have */
  async write(changes: readonly FlowChange[]): Promise<void> {
    const asked = changes.map(({ what, flow }) => {
      const body = Buffer.concat([
        ...[
          long(flow.cookie),
          Buffer.alloc(8),
          uint(0, 1),
          uint(what === 'add' ? command.add : command.delete, 1),
        ],
        ...[Buffer.alloc(4), uint(flow.priority, 2), uint(noBuffer, 4), uint(any, 4), uint(any, 4)],
        ...[uint(what === 'add' ? tellsRemoval : 0, 2), Buffer.alloc(2), matchOf(flow.match)],
        ...(what === 'add' ? [Buffer.from(flow.instructions, 'hex')] : []),
      ])
      return this.#asking(kind.flowMod, body)
    })
    // It answers what it refuses, before this.
    const all = Promise.all(asked.map(({ answer }) => answer))
    all.catch(() => undefined)
    await this.#answered(kind.barrierRequest, Buffer.alloc(0))
    for (const { transaction } of asked) this.#waiting.get(transaction)?.resolve([])
    await all
  }

  [Symbol.dispose](): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  /** Of a daemon that does not answer in time, all that is waited for ends. */
  async #answered(type: number, body: Buffer): Promise<readonly Buffer[]> {
    const timer = setTimeout(() => this.#socket.destroy(new Error('timeout')), this.#timeoutMs)
    try {
      return await this.#asking(type, body).answer
    } finally {
      clearTimeout(timer)
    }
  }

  #asking(
    type: number,
    body: Buffer,
  ): { readonly transaction: number; readonly answer: Promise<readonly Buffer[]> } {
    const transaction = this.#send(type, body)
    const { promise, resolve, reject } = Promise.withResolvers<readonly Buffer[]>()
    this.#waiting.set(transaction, { parts: [], resolve, reject })
    return { transaction, answer: promise.finally(() => this.#waiting.delete(transaction)) }
  }

  #send(type: number, body: Buffer, transaction = ++this.#transaction): number {
    const header = [
      uint(version, 1),
      uint(type, 1),
      uint(headerLength + body.length, 2),
      uint(transaction, 4),
    ]
    this.#socket.write(Buffer.concat([...header, body]))
    return transaction
  }

  #take(bytes: Buffer): void {
    this.#read = Buffer.concat([this.#read, bytes])
    while (this.#read.length >= headerLength) {
      const length = this.#read.readUInt16BE(2)
      if (length < headerLength) return void this.#socket.destroy(new Error('no OpenFlow'))
      if (this.#read.length < length) return
      const message = this.#read.subarray(0, length)
      this.#read = this.#read.subarray(length)
      this.#hear(message)
    }
  }

  #hear(message: Buffer): void {
    const type = message.readUInt8(1)
    const transaction = message.readUInt32BE(4)
    const waiting = this.#waiting.get(transaction)
    if (type === kind.echoRequest) this.#send(kind.echoReply, message.subarray(headerLength), transaction)
    else if (type === kind.flowRemoved) this.#listeners.onRemoved()
    else if (type === kind.error) waiting?.reject(this.#refusal(message))
    else if (type === kind.barrierReply) waiting?.resolve([])
    else if (type === kind.multipartReply && waiting !== undefined) {
      waiting.parts.push(message)
      const hasMore = (message.readUInt16BE(headerLength + 2) & 1) === 1
      if (!hasMore) waiting.resolve(waiting.parts)
    }
  }

  #refusal(message: Buffer): DaemonRefusedError {
    const [type, code] = [message.readUInt16BE(headerLength), message.readUInt16BE(headerLength + 2)]
    return new DaemonRefusedError({
      path: this.#path,
      method: 'OpenFlow',
      reason: `error ${type}, ${code}`,
    })
  }

  #end(reason: string): void {
    this.#socket.destroy()
    const error = new DaemonUnreachableError({ path: this.#path, reason })
    for (const waiting of this.#waiting.values()) waiting.reject(error)
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#listeners.onClosed()
  }
}

function readFlows(bytes: Buffer): readonly Flow[] {
  const flows: Flow[] = []
  for (let at = 0; at < bytes.length;) {
    const length = bytes.readUInt16BE(at)
    const matchAt = at + 48
    const matchLength = bytes.readUInt16BE(matchAt + 2)
    const instructionsAt = matchAt + Math.ceil(matchLength / 8) * 8
    flows.push({
      cookie: bytes.readBigUInt64BE(at + 24),
      priority: bytes.readUInt16BE(at + 12),
      match: sortedMatch(bytes.subarray(matchAt + 4, matchAt + matchLength)),
      instructions: bytes.subarray(instructionsAt, at + length).toString('hex'),
    })
    at += length
  }
  return flows
}

/** Of OXM fields. */
function matchOf(fields: string): Buffer {
  const bytes = Buffer.from(fields, 'hex')
  return padded(Buffer.concat([uint(1, 2), uint(4 + bytes.length, 2), bytes]))
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}
