import { closeSync } from 'node:fs'
import { netlinkError } from './errors.ts'
import { bind, errnoName, ioctl, recv, send, setsockopt, socket } from './libc.ts'
import { attributeTypeAt, encodeRequest, parseDatagram, requestFlag, type Message } from './message.ts'
import type { NetlinkOptions, RequestName } from './types.ts'

const netlinkFamily = 16
/** NETLINK_ROUTE. */
export const routingProtocol = 0
const rawCloseOnExec = 3 | 0o2000000
const nonBlocking = 0o4000
const solSocket = 1
const solNetlink = 270
const socketOption = { receiveBuffer: 8, receiveTimeout: 20, receiveBufferForce: 33 } as const
const netlinkOption = { capAck: 10, extAck: 11, strictCheck: 12 } as const
/** SIOCGSKNS: a descriptor of the namespace that a socket belongs to. */
const getSocketNamespace = 0x894c
const truncate = 0x20

/** Larger than any datagram: the kernel fills dumps to 32 KiB at most. Shared, because every request is synchronous. */
const receiveBuffer = Buffer.alloc(256 * 1024)

/** How long a reply may take. The kernel answers within the send itself, so this only ever ends a hang. */
const replyTimeoutSeconds = 10

/** Requests may be repeated this often when the kernel says that a list changed while it was made. */
const maximumListAttempts = 10

export interface Request extends RequestName {
  /** RTM_* of linux/rtnetlink.h. */
  readonly type: number
  readonly flags?: number
  readonly body: Buffer
}

/** Is one socket, of NETLINK_ROUTE unless it is said otherwise. Every request of this library goes through `request` or `list`. */
export class RoutingSocket implements Disposable {
  readonly descriptor: number
  readonly #refuse: NetlinkOptions['refuse']
  #sequence = 0
  #isOpen = true

  /** Opens the socket in the namespace that the calling thread is in. */
  constructor(refuse: NetlinkOptions['refuse'], protocol = routingProtocol) {
    this.#refuse = refuse
    this.descriptor = openSocket(protocol)
    setOption(this.descriptor, solNetlink, netlinkOption.extAck, 1)
    setOption(this.descriptor, solNetlink, netlinkOption.capAck, 1)
    setOption(this.descriptor, solNetlink, netlinkOption.strictCheck, 1)
    const timeout = Buffer.alloc(16)
    timeout.writeBigInt64LE(BigInt(replyTimeoutSeconds))
    setsockopt(this.descriptor, solSocket, socketOption.receiveTimeout, timeout, timeout.length)
  }

  /** Sends one request and waits for the kernel's acknowledgement; yields what came before it. */
  request(request: Request): Message[] {
    return this.#exchange(request, requestFlag.request | requestFlag.acknowledge | (request.flags ?? 0))
      .messages
  }

  /** Asks for a list, again if it changed while it was being made. */
  list(request: Request): Message[] {
    const flags = requestFlag.request | requestFlag.dump | (request.flags ?? 0)
    for (let attempt = 1; attempt < maximumListAttempts; attempt++) {
      const { messages, isInterrupted } = this.#exchange(request, flags)
      if (!isInterrupted) return messages
    }
    return this.#exchange(request, flags).messages
  }

  /** Opens a descriptor of the namespace that this socket belongs to; the caller closes it. */
  openNamespace(): number {
    const descriptor = ioctl(this.descriptor, getSocketNamespace, null)
    if (descriptor >= 0) return descriptor
    throw netlinkError({ operation: 'netns open', subject: 'socket', errno: errnoName(descriptor) })
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.descriptor)
  }

  /** Throws what a test wants to be thrown in the kernel's place. */
  requireNotRefused({ operation, subject }: RequestName): void {
    const errno = this.#refuse?.({ operation, subject })
    if (errno !== undefined) throw netlinkError({ operation, subject, errno })
  }

  #exchange(request: Request, flags: number): { messages: Message[]; isInterrupted: boolean } {
    this.requireNotRefused(request)
    const sequence = (this.#sequence = (this.#sequence + 1) >>> 0)
    const bytes = encodeRequest(request.type, flags, sequence, request.body)
    const sent = send(this.descriptor, bytes, bytes.length, 0)
    if (sent < 0) throw this.#failure(request, errnoName(sent))
    const messages: Message[] = []
    let isInterrupted = false
    for (;;) {
      const datagram = parseDatagram(this.#receive(request), sequence)
      messages.push(...datagram.messages)
      isInterrupted ||= datagram.isInterrupted
      const end = datagram.acknowledgement
      if (end === undefined) continue
      if (end.errno === 0) return { messages, isInterrupted }
      const attribute =
        end.attributeOffset === undefined ? undefined : attributeTypeAt(bytes, end.attributeOffset)
      throw netlinkError({
        operation: request.operation,
        subject: request.subject,
        errno: errnoName(end.errno),
        ...(end.kernelMessage === undefined ? {} : { kernelMessage: end.kernelMessage }),
        ...(attribute === undefined ? {} : { attribute }),
      })
    }
  }

  /** Receives one datagram, as a copy: what is parsed from it lives on. */
  #receive(request: Request): Buffer {
    for (;;) {
      const length = recv(this.descriptor, receiveBuffer, receiveBuffer.length, truncate)
      if (length > receiveBuffer.length) throw this.#failure(request, 'EMSGSIZE')
      if (length >= 0) return Buffer.from(receiveBuffer.subarray(0, length))
      const errno = errnoName(length)
      if (errno !== 'EINTR') throw this.#failure(request, errno)
    }
  }

  #failure(request: Request, errno: string): Error {
    return netlinkError({ operation: request.operation, subject: request.subject, errno })
  }
}

/** What arrived on an event socket: a datagram, word that some were lost, or nothing for now. */
export type Arrival =
  | { readonly kind: 'datagram'; readonly bytes: Buffer }
  | { readonly kind: 'overrun' }
  | { readonly kind: 'nothing' }

/** Opens a socket, in the calling thread's namespace, that receives the events of multicast groups (a mask). */
export function openEventSocket(protocol: number, groupMask: number, receiveBufferBytes: number): number {
  const descriptor = openSocket(protocol, nonBlocking)
  if (!setOption(descriptor, solSocket, socketOption.receiveBufferForce, receiveBufferBytes)) {
    setOption(descriptor, solSocket, socketOption.receiveBuffer, receiveBufferBytes)
  }
  const address = Buffer.alloc(12)
  address.writeUInt16LE(netlinkFamily, 0)
  address.writeUInt32LE(groupMask, 8)
  const bound = bind(descriptor, address, address.length)
  if (bound === 0) return descriptor
  closeSync(descriptor)
  throw netlinkError({
    operation: 'monitor',
    subject: `protocol ${protocol} groups 0x${groupMask.toString(16)}`,
    errno: errnoName(bound),
  })
}

/** Takes what has arrived on an event socket, without waiting. */
export function takeEvent(descriptor: number): Arrival {
  for (;;) {
    const length = recv(descriptor, receiveBuffer, receiveBuffer.length, truncate)
    if (length > receiveBuffer.length) return { kind: 'overrun' }
    if (length >= 0) return { kind: 'datagram', bytes: Buffer.from(receiveBuffer.subarray(0, length)) }
    const errno = errnoName(length)
    if (errno === 'EINTR') continue
    if (errno === 'EAGAIN') return { kind: 'nothing' }
    if (errno === 'ENOBUFS') return { kind: 'overrun' }
    throw netlinkError({ operation: 'monitor', subject: 'socket', errno })
  }
}

function openSocket(protocol: number, extraType = 0): number {
  const descriptor = socket(netlinkFamily, rawCloseOnExec | extraType, protocol)
  if (descriptor >= 0) return descriptor
  throw netlinkError({
    operation: 'socket',
    subject: `netlink protocol ${protocol}`,
    errno: errnoName(descriptor),
  })
}

function setOption(descriptor: number, level: number, name: number, value: number): boolean {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return setsockopt(descriptor, level, name, bytes, bytes.length) === 0
}
