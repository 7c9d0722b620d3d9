import { sleep } from '@kube-ovn/time'
import {
  decodeAddress,
  encodeAddress,
  errnoName,
  inNamespace,
  libcFunction,
  ReadableDescriptor,
} from '@kube-ovn/netlink'
import type { Clock } from '@kube-ovn/time'
import { EchoFailedError, EchoSocketDeniedError } from './errors.ts'
import { encodeEchoRequest, sequenceOfReply, type EchoFamily } from './icmp-echo.ts'

/** Numbers of Linux. */
const addressFamily = { ipv4: 2, ipv6: 10 } as const
const protocol = { ipv4: 1, ipv6: 58 } as const
const datagramCloseOnExecNonBlocking = 2 | 0o2000000 | 0o4000
/** struct sockaddr_in and sockaddr_in6: where the address begins, and how long they are. */
const addressOffset = { ipv4: 4, ipv6: 8 } as const
const addressLength = { ipv4: 16, ipv6: 28 } as const

const openSocket = libcFunction<[domain: number, type: number, protocol: number]>(
  'int socket(int domain, int type, int protocol)',
)
const sendTo = libcFunction<
  [fd: number, bytes: Buffer, length: number, flags: number, to: Buffer, toLength: number]
>('intptr_t sendto(int fd, const void *bytes, size_t length, int flags, const void *to, uint32_t toLength)')
const receiveFrom = libcFunction<
  [fd: number, bytes: Buffer, length: number, flags: number, from: Buffer, fromLength: Buffer]
>('intptr_t recvfrom(int fd, void *bytes, size_t length, int flags, void *from, void *fromLength)')

/** The socket holds about 256 answers: while many are sent in one turn of the loop, those that have come are taken in between. */
const sendsPerRead = 64

/** Larger than any answer to what we send. */
const receiveBuffer = Buffer.alloc(256)
const fromBuffer = Buffer.alloc(addressLength.ipv6)
const fromLength = Buffer.alloc(4)

export interface EchoSocketOptions {
  readonly family: EchoFamily
  readonly clock: Clock
  /** Path of the network namespace; default is the one that this process is in. */
  readonly netns?: string | undefined
}

/** How an address is asked. */
export interface EchoOptions {
  readonly count: number
  /** Between two packets. */
  readonly intervalMs: number
  /** For each answer, from its own request. */
  readonly timeoutMs: number
}

export interface EchoResult {
  readonly sent: number
  /** Of each answer that came in time, in ms. */
  readonly roundTripMs: readonly number[]
  /** Why packets could not be sent, e.g. ENETUNREACH; they count as sent, and as lost. */
  readonly errno: string | undefined
}

interface Waiting {
  readonly address: string
  readonly sentMs: number
  answered(roundTripMs: number): void
}

/**
 * Asks addresses of one family for echoes, by a datagram socket of ICMP ("ping socket"): no right is needed but that the group
 * of the process is in `net.ipv4.ping_group_range`, and nothing is forked.
 *
 * One socket serves any number of addresses at a time.
 *
 * @see icmp(7)
 */
export class EchoSocket implements Disposable {
  readonly #family: EchoFamily
  readonly #clock: Clock
  readonly #readable: ReadableDescriptor
  readonly #waiting = new Map<number, Waiting>()
  #sequence = 0
  #sinceRead = 0

  /** @throws EchoSocketDeniedError, EchoFailedError */
  constructor({ family, clock, netns }: EchoSocketOptions) {
    this.#family = family
    this.#clock = clock
    const descriptor = netns === undefined ? open(family) : inNamespace(netns, () => open(family))
    this.#readable = new ReadableDescriptor(descriptor, () => this.#receive(), false)
  }

  /** Sends some packets to an address and waits for the answers. */
  async ping(address: string, { count, intervalMs, timeoutMs }: EchoOptions): Promise<EchoResult> {
    const to = socketAddress(this.#family, address)
    const name = decodeAddress(encodeAddress('address', address))
    const roundTripMs: number[] = []
    let errno: string | undefined
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        if (index > 0) await sleep(this.#clock, index * intervalMs)
        const answer = await this.#ask(to, name, timeoutMs)
        if (typeof answer === 'number') roundTripMs.push(answer)
        else errno ??= answer
      }),
    )
    return { sent: count, roundTripMs, errno }
  }

  [Symbol.dispose](): void {
    this.#readable[Symbol.dispose]()
  }

  /** Answers the round trip, in ms; or why nothing was sent, or `undefined` when no answer came. */
  #ask(to: Buffer, address: string, timeoutMs: number): Promise<number | string | undefined> {
    return new Promise((resolve) => {
      const sequence = this.#nextSequence()
      const request = encodeEchoRequest(this.#family, sequence)
      const sentMs = this.#clock.monotonic()
      const answer = sendTo(this.#readable.descriptor, request, request.length, 0, to, to.length)
      if (answer < 0) {
        resolve(errnoName(answer))
        return
      }
      this.#sinceRead = (this.#sinceRead + 1) % sendsPerRead
      const timer = this.#clock.setTimer(timeoutMs, () => {
        this.#waiting.delete(sequence)
        resolve(undefined)
      })
      this.#waiting.set(sequence, {
        address,
        sentMs,
        answered: (roundTripMs) => {
          this.#waiting.delete(sequence)
          timer[Symbol.dispose]()
          resolve(roundTripMs)
        },
      })
      if (this.#sinceRead === 0) this.#receive()
    })
  }

  /** Numbers that wait for an answer are passed over. */
  #nextSequence(): number {
    do this.#sequence = (this.#sequence + 1) & 0xffff
    while (this.#waiting.has(this.#sequence) && this.#waiting.size < 0xffff)
    return this.#sequence
  }

  /** Reads all that has come: answers are dated when they are read, so none may wait for another turn of the loop. */
  #receive(): void {
    for (;;) {
      fromLength.writeUInt32LE(fromBuffer.length)
      const { descriptor } = this.#readable
      const length = receiveFrom(descriptor, receiveBuffer, receiveBuffer.length, 0, fromBuffer, fromLength)
      if (length < 0) {
        if (errnoName(length) === 'EINTR') continue
        return
      }
      const sequence = sequenceOfReply(this.#family, receiveBuffer.subarray(0, length))
      const waiting = sequence === undefined ? undefined : this.#waiting.get(sequence)
      if (waiting === undefined) continue
      const offset = addressOffset[this.#family]
      const from = decodeAddress(fromBuffer.subarray(offset, offset + (this.#family === 'ipv4' ? 4 : 16)))
      if (from === waiting.address) waiting.answered(this.#clock.monotonic() - waiting.sentMs)
    }
  }
}

function open(family: EchoFamily): number {
  const descriptor = openSocket(addressFamily[family], datagramCloseOnExecNonBlocking, protocol[family])
  if (descriptor < 0) {
    const errno = errnoName(descriptor)
    if (errno === 'EACCES' || errno === 'EPERM') throw new EchoSocketDeniedError({ family, errno })
    throw new EchoFailedError({ operation: 'socket', family, errno })
  }
  return descriptor
}

function socketAddress(family: EchoFamily, address: string): Buffer {
  const bytes = Buffer.alloc(addressLength[family])
  bytes.writeUInt16LE(addressFamily[family], 0)
  encodeAddress('address', address).copy(bytes, addressOffset[family])
  return bytes
}
