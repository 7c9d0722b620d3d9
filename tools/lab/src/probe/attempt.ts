import { ProbeSocketError } from '../errors.ts'
import { decodeDnsAnswer, encodeDnsQuestion } from './dns-message.ts'
import { decodeEchoReply, encodeEchoRequest } from './echo-packet.ts'
import { readAnswer, requestLine } from './answer.ts'
import { interfaceIndex, probeGroups } from './listener.ts'
import { ProbeSocket, socketOptions, type Received, type SocketKind } from './probe-socket.ts'
import { keyOf, keyOfMember, type Sighting, type Sightings } from './sightings.ts'
import { addressBytes, familyOfText } from './socket-address.ts'

export const protocols = ['ping', 'tcp', 'udp', 'http', 'sctp', 'dns', 'multicast'] as const
export type Protocol = (typeof protocols)[number]

/** One question to the network. */
export interface Attempt {
  /** Path of the namespace that it is asked from; this process's own without one. */
  readonly netns?: string
  /** The address that it is sent from where that matters, which is for multicast. */
  readonly source?: string
  readonly target: string
  /** Without meaning for ping. */
  readonly port: number
  readonly protocol: Protocol
  /** Whether a listener of ours answers, so that more than a connection can be asked for. */
  readonly isOurs: boolean
  /** What the packets are marked with. */
  readonly dscp?: number
  /** The name that DNS is asked for. */
  readonly name?: string
  readonly timeoutMs: number
}

/** What became of an attempt. */
export type Outcome =
  | {
      readonly kind: 'reached'
      readonly ms: number
      /** What the listener saw, where it is ours. */
      readonly seen?: Sighting
      /** Hops that were left of the answer. */
      readonly answerTtl?: number
      readonly detail?: string
    }
  | { readonly kind: 'lost'; readonly reason: string; readonly seen?: Sighting }
  | { readonly kind: 'skipped'; readonly reason: string }

/** Errors by which a kernel says that it lacks a protocol. */
const unsupported = new Set(['EPROTONOSUPPORT', 'ESOCKTNOSUPPORT', 'EAFNOSUPPORT'])

/** A datagram that was not answered is sent again twice in the time given. */
const datagramsSent = 3

let lastToken = 0

/** Asks, and tells what came of it; an attempt never fails, that is an outcome. */
export async function runAttempt(attempt: Attempt, sightings: Sightings): Promise<Outcome> {
  const token = ++lastToken
  try {
    return await ask(attempt, token, sightings)
  } catch (error) {
    if (!(error instanceof ProbeSocketError)) throw error
    const { operation, errno } = error.details
    if (operation === 'socket' && unsupported.has(errno))
      return { kind: 'skipped', reason: `the kernel has no ${attempt.protocol} (${errno})` }
    return { kind: 'lost', reason: errno }
  }
}

function ask(attempt: Attempt, token: number, sightings: Sightings): Promise<Outcome> {
  switch (attempt.protocol) {
    case 'ping':
      return ping(attempt, token)
    case 'udp':
      return askDatagram(attempt, token, sightings)
    case 'dns':
      return askName(attempt, token)
    case 'multicast':
      return sendToGroup(attempt, token, sightings)
    case 'http':
      return fetchPage(attempt, token, sightings)
    case 'tcp':
    case 'sctp':
      return connectTo(attempt, attempt.protocol, token, sightings)
  }
}

async function ping(attempt: Attempt, token: number): Promise<Outcome> {
  const family = familyOfText(attempt.target)
  using socket = open(attempt, family === 'ipv4' ? 'icmp' : 'icmpv6')
  const echo = { identifier: token & 0xffff, sequence: (token >>> 16) + 1 }
  const request = encodeEchoRequest(family, echo)
  return await exchange(socket, attempt, {
    send: () => void socket.send(request, { address: attempt.target, port: 0 }),
    read({ data, from, ttl }, ms) {
      const reply = decodeEchoReply(family, data)
      const isOurs =
        reply?.identifier === echo.identifier &&
        reply.sequence === echo.sequence &&
        from?.address === attempt.target
      return isOurs ? { kind: 'reached', ms, ...(ttl === undefined ? {} : { answerTtl: ttl }) } : undefined
    },
  })
}

async function askDatagram(attempt: Attempt, token: number, sightings: Sightings): Promise<Outcome> {
  using socket = open(attempt, 'udp')
  const request = Buffer.from(requestLine(token))
  socket.connect({ address: attempt.target, port: attempt.port })
  const outcome = await exchange(socket, attempt, {
    send: () => void socket.send(request),
    read({ data, ttl }, ms) {
      const told = readAnswer(data.toString('latin1'))
      return told?.token === token
        ? { kind: 'reached', ms, seen: told.seen, ...(ttl === undefined ? {} : { answerTtl: ttl }) }
        : undefined
    },
  })
  return withSighting(outcome, sightings.take(keyOf(token)))
}

async function askName(attempt: Attempt, token: number): Promise<Outcome> {
  using socket = open(attempt, 'udp')
  const id = token & 0xffff
  const name = attempt.name ?? 'kubernetes.default.svc.cluster.local'
  const question = encodeDnsQuestion(id, name, familyOfText(attempt.target) === 'ipv4' ? 'A' : 'AAAA')
  socket.connect({ address: attempt.target, port: attempt.port })
  return await exchange(socket, attempt, {
    send: () => void socket.send(question),
    read({ data }, ms) {
      const answer = decodeDnsAnswer(data)
      if (answer?.id !== id) return undefined
      return answer.code === 0
        ? { kind: 'reached', ms, detail: answer.addresses.join(' ') }
        : { kind: 'lost', reason: `DNS answered with code ${answer.code}` }
    },
  })
}

/** It is reached when the target's listener has seen it, here, or says so itself: other members may, too. */
async function sendToGroup(attempt: Attempt, token: number, sightings: Sightings): Promise<Outcome> {
  const family = familyOfText(attempt.target)
  using socket = open(attempt, 'udp')
  const source = attempt.source ?? ''
  const device = family === 'ipv4' ? addressBytes(source) : interfaceIndex(attempt.netns, source)
  socket.setOption(socketOptions.multicastInterface[family], device)
  socket.setOption(socketOptions.multicastHops[family], 4)
  const request = Buffer.from(requestLine(token))
  const key = keyOfMember(token, attempt.target)
  try {
    return await sendRepeatedly(attempt, {
      send: () => void socket.send(request, { address: probeGroups[family], port: attempt.port }),
      listen(settle) {
        sightings.notify(key, (seen) => settle((ms) => ({ kind: 'reached', ms, seen })))
        socket.onReadable(() =>
          settle((ms) => {
            const told = readAnswer(socket.receive()?.data.toString('latin1') ?? '')
            const isMeant = told?.token === token && told.member === attempt.target
            return isMeant ? { kind: 'reached', ms, seen: told.seen } : undefined
          }),
        )
      },
    })
  } finally {
    sightings.forget(key)
  }
}

async function connectTo(
  attempt: Attempt,
  kind: 'tcp' | 'sctp',
  token: number,
  sightings: Sightings,
): Promise<Outcome> {
  using socket = open(attempt, kind)
  const connected = await connectWithin(socket, attempt)
  if (!attempt.isOurs || connected.kind !== 'reached') return connected
  const line = requestLine(token)
  const answer = await readStream(socket, line, attempt.timeoutMs, (text) => text.includes('\n'))
  const told = readAnswer(answer)
  const seen = sightings.take(keyOf(token)) ?? told?.seen
  if (told?.token === token) return withSighting(connected, seen)
  const reason = answer === '' ? 'connected, no answer' : 'connected, the answer is not ours'
  return withSighting({ kind: 'lost', reason }, seen)
}

async function fetchPage(attempt: Attempt, token: number, sightings: Sightings): Promise<Outcome> {
  using socket = open(attempt, 'tcp')
  const connected = await connectWithin(socket, attempt)
  if (connected.kind !== 'reached') return connected
  const page = attempt.isOurs ? `/kube-ovn-probe/${token}` : '/'
  const request = `GET ${page} HTTP/1.0\r\nHost: probe\r\n\r\n`
  const end = attempt.isOurs ? '\r\n\r\n' : '\r\n'
  const answer = await readStream(socket, request, attempt.timeoutMs, (text) => text.includes(end))
  const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(answer)?.[1])
  const seen = sightings.take(keyOf(token)) ?? readAnswer(answer)?.seen
  if (status >= 200 && status < 400) return withSighting({ ...connected, detail: `HTTP ${status}` }, seen)
  const reason = Number.isNaN(status) ? 'connected, no answer' : `HTTP ${status}`
  return withSighting({ kind: 'lost', reason }, seen)
}

function open(attempt: Attempt, kind: SocketKind): ProbeSocket {
  const family = familyOfText(attempt.target)
  const socket = ProbeSocket.open(attempt.netns, family, kind)
  if (attempt.dscp !== undefined) socket.setOption(socketOptions.trafficClass[family], attempt.dscp << 2)
  return socket
}

async function connectWithin(socket: ProbeSocket, attempt: Attempt): Promise<Outcome> {
  const started = performance.now()
  socket.connect({ address: attempt.target, port: attempt.port })
  const outcome = await within<Outcome>(attempt.timeoutMs, (settle) => {
    socket.untilConnected().then(
      () => settle({ kind: 'reached', ms: performance.now() - started }),
      (error: unknown) => settle({ kind: 'lost', reason: reasonOf(error) }),
    )
  })
  return outcome ?? { kind: 'lost', reason: 'no answer' }
}

/**
 * Writes a request and reads what comes back until there is enough of it, the peer has closed, or the time is up.
 *
 * @returns what was read, which may be nothing
 */
async function readStream(
  socket: ProbeSocket,
  request: string,
  timeoutMs: number,
  isEnough: (text: string) => boolean,
): Promise<string> {
  let text = ''
  await within<true>(timeoutMs, (settle) => {
    socket.onReadable(() => {
      try {
        const received = socket.receive()
        if (received === undefined) return
        text += received.data.toString('latin1')
        if (received.data.length === 0 || isEnough(text)) settle(true)
      } catch (error) {
        if (!(error instanceof ProbeSocketError)) throw error
        settle(true)
      }
    })
    if (request !== '') socket.send(Buffer.from(request))
  })
  return text
}

/** Connects a stream and reads it to its end. Undefined if there is no connection, or nothing is read, in time. */
export async function readFrom(
  target: Pick<Attempt, 'netns' | 'target' | 'port'>,
  request: string,
  timeoutMs: number,
): Promise<string | undefined> {
  try {
    const attempt: Attempt = { ...target, protocol: 'tcp', isOurs: false, timeoutMs }
    using socket = open(attempt, 'tcp')
    if ((await connectWithin(socket, attempt)).kind !== 'reached') return undefined
    const text = await readStream(socket, request, timeoutMs, () => false)
    return text === '' ? undefined : text
  } catch (error) {
    if (error instanceof ProbeSocketError) return undefined
    throw error
  }
}

interface Exchange {
  send(): void
  /** @returns undefined if it is not the answer */
  read(received: Received, ms: number): Outcome | undefined
}

/** Sends datagrams until one is answered. */
function exchange(socket: ProbeSocket, attempt: Attempt, { send, read }: Exchange): Promise<Outcome> {
  return sendRepeatedly(attempt, {
    send,
    listen: (settle) =>
      socket.onReadable(() =>
        settle((ms) => {
          const received = socket.receive()
          return received === undefined ? undefined : read(received, ms)
        }),
      ),
  })
}

interface Repetition {
  send(): void
  /** Begins to listen; `settle` is given what makes an outcome of what was heard, if it is one, and of the time since the last packet. */
  listen(settle: (outcome: (ms: number) => Outcome | undefined) => void): void
}

/** Sends again in the time given, until something is heard. A refusal, which the kernel tells with the next call, is an outcome. */
async function sendRepeatedly(attempt: Attempt, { send, listen }: Repetition): Promise<Outcome> {
  let sentAt = 0
  let timer: NodeJS.Timeout | undefined
  const outcome = await within<Outcome>(attempt.timeoutMs, (settle) => {
    const decide = (act: () => Outcome | undefined): void => {
      try {
        const found = act()
        if (found !== undefined) settle(found)
      } catch (error) {
        settle({ kind: 'lost', reason: reasonOf(error) })
      }
    }
    const sendOnce = (): void =>
      decide(() => {
        sentAt = performance.now()
        send()
        return undefined
      })
    listen((outcome) => decide(() => outcome(performance.now() - sentAt)))
    timer = setInterval(sendOnce, attempt.timeoutMs / datagramsSent)
    sendOnce()
  })
  clearInterval(timer)
  return outcome ?? { kind: 'lost', reason: 'no answer' }
}

function within<T>(timeoutMs: number, start: (settle: (value: T) => void) => void): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), timeoutMs)
    start((value) => {
      clearTimeout(timer)
      resolve(value)
    })
  })
}

/** @throws whatever is not the kernel's word */
function reasonOf(error: unknown): string {
  if (error instanceof ProbeSocketError) return error.details.errno
  throw error
}

function withSighting(outcome: Outcome, seen: Sighting | undefined): Outcome {
  if (seen === undefined || outcome.kind === 'skipped') return outcome
  if (outcome.kind === 'lost' && outcome.reason === 'no answer')
    return { kind: 'lost', reason: 'the request arrived, its answer did not', seen }
  return { ...outcome, seen }
}
