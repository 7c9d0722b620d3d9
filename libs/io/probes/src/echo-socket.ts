import { encodeAddress, errnoName, inNamespace, libcFunction, ReadableDescriptor } from '@kube-ovn/netlink'
import type { Clock } from '@kube-ovn/time'
import { arrivalMs, dateArrivals, kernelClockMs } from './arrival.ts'
import { EchoFailedError, EchoSocketDeniedError } from './errors.ts'
import { echoRequest, sequenceOfReply, writeSequence, type EchoFamily } from './icmp-echo.ts'

/** Numbers of Linux. */
const addressFamily = { ipv4: 2, ipv6: 10 } as const
const protocol = { ipv4: 1, ipv6: 58 } as const
const datagramCloseOnExecNonBlocking = 2 | 0o2000000 | 0o4000
/** struct sockaddr_in and sockaddr_in6: where the address begins, how long it is, and how long they are. */
const addressOffset = { ipv4: 4, ipv6: 8 } as const
const addressBytes = { ipv4: 4, ipv6: 16 } as const
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

/** The kernel keeps some hundred answers: while more are asked in one turn of the loop, those that have come are taken in between. */
const sendsPerRead = 32

/** What is due within this time is sent in one turn of the loop, because waking up costs more than a packet. */
const tickMs = 10

/** A packet says nothing of whom it is for when it was not sent because others fill the queues. */
const noRoom: ReadonlySet<string> = new Set(['EAGAIN', 'ENOBUFS'])

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

/** Whom to ask. */
export interface EchoTarget {
  readonly address: string
  /** For each answer, from its own request. */
  readonly timeoutMs: number
}

/** How addresses are asked. */
export interface EchoOptions {
  /** Packets for each address. */
  readonly count: number
  /** Between two packets to one address. */
  readonly intervalMs: number
  /** Between the first packets to two addresses. */
  readonly betweenMs: number
}

export interface EchoResult {
  /** Without those that this host had no room for, as where hundreds wait for the MAC addresses of neighbours that are gone. */
  readonly sent: number
  /** Of each answer that came in time, in ms. */
  readonly roundTripMs: readonly number[]
  /** Why packets could not be sent, e.g. ENETUNREACH; where there is no way to whom they are for they count as sent, and as lost. */
  readonly errno: string | undefined
}

interface Asked {
  readonly timeoutMs: number
  readonly roundTripMs: number[]
  /** Those that this host had no room for. */
  unsent: number
  errno: string | undefined
}

interface Waiting {
  readonly sweep: Sweep
  readonly index: number
  readonly sentMs: number
  /** The same by the kernel's clock. */
  readonly sentAtMs: number
  readonly deadlineMs: number
}

/** All that one call asks. */
interface Sweep {
  readonly asked: readonly Asked[]
  /** Their addresses as the kernel has them, one after the other. */
  readonly addresses: Buffer
  /** Packets without an answer so far whose time is not over. */
  waiting: number
  isSent: boolean
  readonly done: () => void
}

/**
 * Asks addresses of one family for echoes, by a datagram socket of ICMP ("ping socket"): no right is needed but that the group
 * of the process is in `net.ipv4.ping_group_range`, and nothing is forked.
 *
 * One socket and one timer serve any number of addresses: what a packet costs is what a node pays thousands of times a minute.
 *
 * @see icmp(7)
 */
export class EchoSocket implements Disposable {
  readonly #family: EchoFamily
  readonly #clock: Clock
  readonly #readable: ReadableDescriptor
  readonly #request: Buffer
  readonly #to: Buffer
  /** By sequence number, in the order in which they were sent. */
  readonly #waiting = new Map<number, Waiting>()
  #sequence = 0

  /** @throws EchoSocketDeniedError, EchoFailedError */
  constructor({ family, clock, netns }: EchoSocketOptions) {
    this.#family = family
    this.#clock = clock
    this.#request = echoRequest(family)
    this.#to = Buffer.alloc(addressLength[family])
    this.#to.writeUInt16LE(addressFamily[family], 0)
    const descriptor = netns === undefined ? open(family) : inNamespace(netns, () => open(family))
    dateArrivals(descriptor)
    this.#readable = new ReadableDescriptor(descriptor, () => this.#receive(), false)
  }

  /** Sends some packets to each address and waits for the answers. Results are in the order of the addresses. */
  async ping(
    targets: readonly EchoTarget[],
    { count, intervalMs, betweenMs }: EchoOptions,
  ): Promise<readonly EchoResult[]> {
    const asked = targets.map(({ timeoutMs }): Asked => ({
      timeoutMs,
      roundTripMs: [],
      unsent: 0,
      errno: undefined,
    }))
    const addresses = Buffer.concat(targets.map(({ address }) => encodeAddress('address', address)))
    const { promise, resolve } = Promise.withResolvers<void>()
    const sweep: Sweep = {
      ...{ asked, addresses, waiting: 0 },
      ...{ isSent: false, done: resolve },
    }
    /** Of the first packets, of the second and so on: whom the next one is for. */
    const next = Array.from({ length: count }, () => 0)
    const dueMs = (nth: number): number => (next[nth] ?? 0) * betweenMs + nth * intervalMs
    const startMs = this.#clock.monotonic()
    let timer: Disposable | undefined
    const end = (): void => {
      // Where the loop was held up, answers that came in time are read now.
      this.#receive()
      this.#giveUp(sweep)
      const leftMs = this.#leftMs(sweep)
      if (leftMs === undefined) resolve()
      else timer = this.#clock.setTimer(Math.max(leftMs, tickMs), end)
    }
    const tick = (): void => {
      const elapsedMs = this.#clock.monotonic() - startMs
      let waitMs = Number.POSITIVE_INFINITY
      for (let nth = 0; nth < count; nth++) {
        for (; (next[nth] ?? 0) < asked.length; next[nth] = (next[nth] ?? 0) + 1) {
          if (dueMs(nth) > elapsedMs) {
            waitMs = Math.min(waitMs, dueMs(nth) - elapsedMs)
            break
          }
          this.#ask(sweep, next[nth] ?? 0)
        }
      }
      sweep.isSent = waitMs === Number.POSITIVE_INFINITY
      if (sweep.isSent) return end()
      this.#receive()
      this.#giveUp(sweep)
      timer = this.#clock.setTimer(Math.max(waitMs, tickMs), tick)
    }
    tick()
    await promise
    timer?.[Symbol.dispose]()
    for (const [sequence, waiting] of this.#waiting)
      if (waiting.sweep === sweep) this.#waiting.delete(sequence)
    return asked.map(({ roundTripMs, unsent, errno }) => ({ sent: count - unsent, roundTripMs, errno }))
  }

  [Symbol.dispose](): void {
    this.#readable[Symbol.dispose]()
  }

  #ask(sweep: Sweep, index: number): void {
    const asked = sweep.asked[index]
    if (asked === undefined) return
    const sequence = this.#nextSequence()
    writeSequence(this.#request, sequence)
    const [bytes, offset] = [addressBytes[this.#family], addressOffset[this.#family]]
    sweep.addresses.copy(this.#to, offset, index * bytes, (index + 1) * bytes)
    const [sentMs, sentAtMs] = [this.#clock.monotonic(), kernelClockMs()]
    const { descriptor } = this.#readable
    const answer = sendTo(descriptor, this.#request, this.#request.length, 0, this.#to, this.#to.length)
    if (answer < 0) {
      const errno = errnoName(answer)
      asked.errno ??= errno
      if (noRoom.has(errno)) asked.unsent++
      return
    }
    const deadlineMs = sentMs + asked.timeoutMs
    this.#waiting.set(sequence, { sweep, index, sentMs, sentAtMs, deadlineMs })
    sweep.waiting++
    if (sequence % sendsPerRead === 0) this.#receive()
  }

  /** Numbers that wait for an answer are passed over. */
  #nextSequence(): number {
    do this.#sequence = (this.#sequence + 1) & 0xffff
    while (this.#waiting.has(this.#sequence) && this.#waiting.size < 0xffff)
    return this.#sequence
  }

  /** Forgets whose time is over: their numbers are wanted again. */
  #giveUp(sweep: Sweep): void {
    const nowMs = this.#clock.monotonic()
    for (const [sequence, waiting] of this.#waiting) {
      if (waiting.sweep !== sweep || waiting.deadlineMs > nowMs) continue
      this.#waiting.delete(sequence)
      sweep.waiting--
    }
  }

  /** Until the next of those without an answer is given up; `undefined` when there is none. */
  #leftMs(sweep: Sweep): number | undefined {
    const deadlines = Iterator.from(this.#waiting.values()).filter((waiting) => waiting.sweep === sweep)
    const next = deadlines.reduce((least, { deadlineMs }) => Math.min(least, deadlineMs), Infinity)
    return next === Infinity ? undefined : next - this.#clock.monotonic()
  }

  /** Reads all that has come. */
  #receive(): void {
    const { descriptor } = this.#readable
    for (;;) {
      fromLength.writeUInt32LE(fromBuffer.length)
      const length = receiveFrom(descriptor, receiveBuffer, receiveBuffer.length, 0, fromBuffer, fromLength)
      if (length < 0) {
        if (errnoName(length) === 'EINTR') continue
        return
      }
      const sequence = sequenceOfReply(this.#family, receiveBuffer, length)
      const waiting = sequence === undefined ? undefined : this.#waiting.get(sequence)
      if (sequence === undefined || waiting === undefined || !this.#isFrom(waiting)) continue
      const { sweep, index, sentMs, deadlineMs } = waiting
      const cameMs = sentMs + this.#roundTripMs(waiting)
      this.#waiting.delete(sequence)
      sweep.waiting--
      if (cameMs <= deadlineMs) sweep.asked[index]?.roundTripMs.push(cameMs - sentMs)
      if (sweep.isSent && sweep.waiting === 0) sweep.done()
    }
  }

  /** Until what was read last came, or was read where the kernel's clock has been set meanwhile. */
  #roundTripMs({ sentMs, sentAtMs }: Waiting): number {
    const elapsedMs = this.#clock.monotonic() - sentMs
    const roundTripMs = (arrivalMs(this.#readable.descriptor) ?? Infinity) - sentAtMs
    return roundTripMs > 0 && roundTripMs < elapsedMs ? roundTripMs : elapsedMs
  }

  /** Whether what was read last comes from who was asked. */
  #isFrom({ sweep, index }: Waiting): boolean {
    const [bytes, offset] = [addressBytes[this.#family], addressOffset[this.#family]]
    const [from, to] = [index * bytes, (index + 1) * bytes]
    return fromBuffer.compare(sweep.addresses, from, to, offset, offset + bytes) === 0
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
