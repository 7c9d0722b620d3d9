import { randomUUID } from 'node:crypto'
import { ProbeSocketError } from '../errors.ts'
import { ProbeSocket, socketOptions } from './probe-socket.ts'
import { familyOfText } from './socket-address.ts'

/** How fast a stream went from one namespace to another. */
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
    const timer = setTimeout(() => {
      const ms = performance.now() - started
      resolve({ mbps: (bytes * 8) / 1000 / ms, bytes, ms })
    }, durationMs)
    const orFail = (act: () => void) => () => {
      try {
        act()
      } catch (error) {
        clearTimeout(timer)
        reject(error instanceof Error ? error : new Error(String(error)))
      }
    }
    receiver.onReadable(
      orFail(() => {
        bytes += receiver.receive()?.data.length ?? 0
      }),
    )
    sender.onWritable(orFail(() => void sender.send(chunk)))
  })
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
