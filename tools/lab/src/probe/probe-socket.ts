import { closeSync } from 'node:fs'
import { inNamespace } from '@kube-ovn/netlink'
import koffi, { type node } from 'koffi'
import { ProbeSocketError } from '../errors.ts'
import { parseControlMessages, type PacketMarks } from './control-message.ts'
import {
  accept4,
  addressOf,
  bind,
  connect,
  errnoName,
  getsockopt,
  listen,
  recvmsg,
  send,
  sendto,
  setsockopt,
  socket,
} from './libc.ts'
import {
  addressFamilies,
  decodeSocketAddress,
  encodeSocketAddress,
  type ProbeFamily,
  type SocketAddress,
} from './socket-address.ts'

const nonBlockingCloseOnExec = 0o4000 | 0o2000000
const noSignal = 0x4000
/** Type and protocol of socket(2). */
const kinds = {
  tcp: { type: 1, protocol: 6 },
  sctp: { type: 1, protocol: 132 },
  udp: { type: 2, protocol: 17 },
  icmp: { type: 3, protocol: 1 },
  icmpv6: { type: 3, protocol: 58 },
} as const

export type SocketKind = keyof typeof kinds

/** Level and name of the options that are set (socket(7), ip(7), ipv6(7)). */
export const socketOptions = {
  reuseAddress: { level: 1, name: 2 },
  trafficClass: { ipv4: { level: 0, name: 1 }, ipv6: { level: 41, name: 67 } },
  receiveTtl: { ipv4: { level: 0, name: 12 }, ipv6: { level: 41, name: 51 } },
  receiveTrafficClass: { ipv4: { level: 0, name: 13 }, ipv6: { level: 41, name: 66 } },
  onlyIpv6: { level: 41, name: 26 },
  multicastInterface: { ipv4: { level: 0, name: 32 }, ipv6: { level: 41, name: 17 } },
  multicastHops: { ipv4: { level: 0, name: 33 }, ipv6: { level: 41, name: 18 } },
  joinGroup: { ipv4: { level: 0, name: 35 }, ipv6: { level: 41, name: 20 } },
} as const

const soError = { level: 1, name: 4 } as const

/** A packet, or a piece of a stream. */
export interface Received extends PacketMarks {
  readonly data: Buffer
  /** Absent on a connected stream. */
  readonly from?: SocketAddress
}

// Shared, because receiving is synchronous; what is given out are copies.
const dataBuffer = Buffer.allocUnsafeSlow(1 << 16)
const nameBuffer = Buffer.allocUnsafeSlow(32)
const controlBuffer = Buffer.allocUnsafeSlow(256)
const vector = Buffer.allocUnsafeSlow(16)
const messageHeader = Buffer.allocUnsafeSlow(56)

/**
 * Is a socket in any network namespace of the machine, held by this process.
 *
 * It stays in the namespace that it was opened in, so one process holds both ends of a probe and sees at once what each saw.
 */
export class ProbeSocket implements Disposable {
  readonly family: ProbeFamily
  readonly #descriptor: number
  #poll: node.PollHandle | undefined
  #isOpen = true

  private constructor(descriptor: number, family: ProbeFamily) {
    this.#descriptor = descriptor
    this.family = family
  }

  /**
   * Opens a socket in a namespace, given by its path, or in this process's own.
   *
   * @throws {ProbeSocketError} e.g. with EPROTONOSUPPORT if the kernel lacks the protocol
   */
  static open(netns: string | undefined, family: ProbeFamily, kind: SocketKind): ProbeSocket {
    const { type, protocol } = kinds[kind]
    const make = (): [number, string] => {
      const made = socket(addressFamilies[family], type | nonBlockingCloseOnExec, protocol)
      return [made, made < 0 ? errnoName() : '']
    }
    const [descriptor, errno] = netns === undefined ? make() : inNamespace(netns, make)
    if (descriptor < 0) throw failure('socket', `${kind} ${family}`, errno)
    const opened = new ProbeSocket(descriptor, family)
    if (family === 'ipv6' && type !== 3) opened.setOption(socketOptions.onlyIpv6, 1)
    if (type !== 1) {
      opened.setOption(socketOptions.receiveTtl[family], 1)
      opened.setOption(socketOptions.receiveTrafficClass[family], 1)
    }
    return opened
  }

  setOption(
    { level, name }: { readonly level: number; readonly name: number },
    value: number | Buffer,
  ): void {
    const bytes = typeof value === 'number' ? Buffer.alloc(4) : value
    if (typeof value === 'number') bytes.writeInt32LE(value)
    if (setsockopt(this.#descriptor, level, name, bytes, bytes.length) < 0)
      throw failure('setsockopt', `${level}/${name}`, errnoName())
  }

  bind(address: SocketAddress): void {
    const encoded = encodeSocketAddress(address)
    if (bind(this.#descriptor, encoded, encoded.length) < 0)
      throw failure('bind', `${address.address} port ${address.port}`, errnoName())
  }

  listen(): void {
    if (listen(this.#descriptor, 512) < 0) throw failure('listen', '', errnoName())
  }

  /** Begins to connect; `untilConnected` tells when a stream is. */
  connect(address: SocketAddress): void {
    const encoded = encodeSocketAddress(address)
    if (connect(this.#descriptor, encoded, encoded.length) === 0) return
    const errno = errnoName()
    if (errno !== 'EINPROGRESS') throw failure('connect', `${address.address} port ${address.port}`, errno)
  }

  /** Takes a connection that has come in, if there is one, and who it is from. */
  accept(): { readonly socket: ProbeSocket; readonly from: SocketAddress } | undefined {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(nameBuffer.length)
    const descriptor = accept4(this.#descriptor, nameBuffer, length, nonBlockingCloseOnExec)
    if (descriptor < 0) return undefined
    return { socket: new ProbeSocket(descriptor, this.family), from: decodeSocketAddress(nameBuffer) }
  }

  /**
   * Sends, to the peer or to an address.
   *
   * @returns the bytes that were taken; 0 while there is no room
   */
  send(data: Buffer, to?: SocketAddress): number {
    const encoded = to === undefined ? undefined : encodeSocketAddress(to)
    const sent =
      encoded === undefined
        ? send(this.#descriptor, data, data.length, noSignal)
        : sendto(this.#descriptor, data, data.length, noSignal, encoded, encoded.length)
    if (sent >= 0) return sent
    const errno = errnoName()
    if (errno === 'EAGAIN') return 0
    throw failure('send', to?.address ?? 'peer', errno)
  }

  /**
   * Takes what has arrived, without waiting.
   *
   * @returns undefined if there is nothing for now; no data means that the peer has closed a stream
   */
  receive(): Received | undefined {
    vector.writeBigUInt64LE(addressOf(dataBuffer), 0)
    vector.writeBigUInt64LE(BigInt(dataBuffer.length), 8)
    messageHeader.fill(0)
    messageHeader.writeBigUInt64LE(addressOf(nameBuffer), 0)
    messageHeader.writeUInt32LE(nameBuffer.length, 8)
    messageHeader.writeBigUInt64LE(addressOf(vector), 16)
    messageHeader.writeBigUInt64LE(1n, 24)
    messageHeader.writeBigUInt64LE(addressOf(controlBuffer), 32)
    messageHeader.writeBigUInt64LE(BigInt(controlBuffer.length), 40)
    const length = recvmsg(this.#descriptor, messageHeader, 0)
    if (length < 0) {
      const errno = errnoName()
      if (errno === 'EAGAIN' || errno === 'EINTR') return undefined
      throw failure('receive', '', errno)
    }
    const hasSource = messageHeader.readUInt32LE(8) >= 16
    const controlLength = Number(messageHeader.readBigUInt64LE(40))
    return {
      data: Buffer.from(dataBuffer.subarray(0, length)),
      ...(hasSource ? { from: decodeSocketAddress(nameBuffer) } : {}),
      ...parseControlMessages(controlBuffer.subarray(0, controlLength)),
    }
  }

  /** Calls a listener, outside of anything else, whenever something can be received; it is called again until all is taken. */
  onReadable(listener: () => void): void {
    this.#watch({ readable: true }, listener)
  }

  /** Calls a listener whenever there is room to send. */
  onWritable(listener: () => void): void {
    this.#watch({ writable: true }, listener)
  }

  /**
   * Resolves once a stream is connected.
   *
   * @throws {ProbeSocketError} with what the connection failed with
   */
  async untilConnected(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.onWritable(resolve)
    })
    this.#unwatch()
    const value = Buffer.alloc(4)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(4)
    getsockopt(this.#descriptor, soError.level, soError.name, value, length)
    const errno = value.readInt32LE()
    if (errno !== 0) throw failure('connect', '', errnoName(errno))
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#unwatch()
    closeSync(this.#descriptor)
  }

  /** Leaves the poll callback first: it runs outside of Node's callback scope, where promises are not continued. */
  #watch(events: { readonly readable?: boolean; readonly writable?: boolean }, listener: () => void): void {
    this.#unwatch()
    let isScheduled = false
    const poll = koffi.node.poll(
      this.#descriptor,
      { readable: false, writable: false, disconnect: false, ...events },
      () => {
        if (isScheduled) return
        isScheduled = true
        setImmediate(() => {
          isScheduled = false
          if (this.#isOpen && this.#poll === poll) listener()
        })
      },
    )
    this.#poll = poll
  }

  #unwatch(): void {
    this.#poll?.close()
    this.#poll = undefined
  }
}

function failure(operation: string, subject: string, errno: string): ProbeSocketError {
  return new ProbeSocketError('a probe could not use its socket', { operation, subject, errno })
}
