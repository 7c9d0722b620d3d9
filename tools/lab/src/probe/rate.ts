import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { ProbeSocketError } from '../errors.ts'
import { ProbeSocket, socketOptions } from './probe-socket.ts'
import { familyOfText } from './socket-address.ts'

/** How fast a stream went. */
export interface Rate {
  readonly mbps: number
  readonly bytes: number
  readonly ms: number
}

/** What is sent at once; the kernel takes less when its buffer is full. */
const chunk = Buffer.from(randomUUID().repeat(1500))

/**
 * Sends over TCP for a time as fast as the receiver takes it, and counts what has arrived by the end.
 *
 * Both ends are sockets of this process, so on a small machine it is the upper bound of what a pod gets, minus this process's own work.
 *
 * @throws {ProbeSocketError} if there is no connection within the time
 */
export async function measureRate(
  from: { readonly netns: string },
  to: { readonly netns: string; readonly address: string; readonly port: number },
  durationMs: number,
): Promise<Rate> {
  const family = familyOfText(to.address)
  using listening = ProbeSocket.open(to.netns, family, 'tcp')
  listening.setOption(socketOptions.reuseAddress, 1)
  listening.bind(to)
  listening.listen()
  using sender = ProbeSocket.open(from.netns, family, 'tcp')
  sender.connect(to)
  await Promise.race([sender.untilConnected(), timeOut(durationMs, to.address)])
  using receiver = await acceptedBy(listening)
  return await new Promise<Rate>((resolve, reject) => {
    let bytes = 0
    const started = performance.now()
    const timer = setTimeout(() => resolve(rateOf(bytes, performance.now() - started)), durationMs)
    const orFail = (act: () => void) =>
      orReject((error) => {
        clearTimeout(timer)
        reject(error)
      }, act)
    receiver.onReadable(
      orFail(() => {
        bytes += receiver.receive()?.data.length ?? 0
      }),
    )
    sender.onWritable(orFail(() => void sender.send(chunk)))
  })
}

const ratePattern = /^kube-ovn-probe-rate (\d{1,6})\n/

/** How long a stream is to be counted, if that is what its first bytes ask for; ms. */
export function readRateRequest(first: Buffer): number | undefined {
  const durationMs = ratePattern.exec(first.subarray(0, 64).toString('latin1'))?.[1]
  return durationMs === undefined ? undefined : Number(durationMs)
}

/** Counts what a stream brings for a time, and says to its sender how much that was. */
export function countStream(socket: ProbeSocket, alreadyBytes: number, durationMs: number): void {
  let bytes = alreadyBytes
  let isCounting = true
  const started = performance.now()
  const timer = setTimeout(() => {
    isCounting = false
    const ms = performance.now() - started
    tolerant(() => void socket.send(Buffer.from(`${JSON.stringify(rateOf(bytes, ms))}\n`)))
  }, durationMs)
  socket.onReadable(() =>
    tolerant(() => {
      const received = socket.receive()
      if (received === undefined) return
      if (isCounting) bytes += received.data.length
      if (received.data.length > 0) return
      clearTimeout(timer)
      socket[Symbol.dispose]()
    }),
  )
}

/** A stream that was cut has nobody to be told. */
function tolerant(act: () => void): void {
  try {
    act()
  } catch (error) {
    if (!(error instanceof ProbeSocketError)) throw error
  }
}

const rate = z.object({ mbps: z.number(), bytes: z.number(), ms: z.number() })

function rateOf(bytes: number, ms: number): Rate {
  return { mbps: (bytes * 8) / 1000 / ms, bytes, ms }
}

/**
 * Sends over TCP to a listener of ours as fast as it takes it, and returns what the listener counted.
 *
 * @throws {ProbeSocketError} if there is no connection, or no answer within twice the time
 */
export async function askRate(
  to: { readonly address: string; readonly port: number },
  durationMs: number,
): Promise<Rate> {
  using socket = ProbeSocket.open(undefined, familyOfText(to.address), 'tcp')
  socket.connect(to)
  await Promise.race([socket.untilConnected(), timeOut(durationMs, to.address)])
  socket.send(Buffer.from(`kube-ovn-probe-rate ${durationMs}\n`))
  await new Promise<void>((resolve, reject) => {
    setTimeout(resolve, durationMs)
    socket.onWritable(orReject(reject, () => void socket.send(chunk)))
  })
  const answer = new Promise<Rate>((resolve, reject) => {
    let text = ''
    socket.onReadable(
      orReject(reject, () => {
        text += socket.receive()?.data.toString('latin1') ?? ''
        if (text.includes('\n')) resolve(rate.parse(JSON.parse(text)))
      }),
    )
  })
  return await Promise.race([answer, timeOut(durationMs, to.address)])
}

function orReject(reject: (error: Error) => void, act: () => void): () => void {
  return () => {
    try {
      act()
    } catch (error) {
      reject(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

function acceptedBy(listening: ProbeSocket): Promise<ProbeSocket> {
  return new Promise((resolve) => {
    listening.onReadable(() => {
      const accepted = listening.accept()
      if (accepted !== undefined) resolve(accepted.socket)
    })
  })
}

function timeOut(ms: number, subject: string): Promise<never> {
  return new Promise((_resolve, reject) => {
    const details = { operation: 'connect', subject, errno: 'ETIMEDOUT' }
    setTimeout(() => reject(new ProbeSocketError('a probe could not use its socket', details)), ms).unref()
  })
}
