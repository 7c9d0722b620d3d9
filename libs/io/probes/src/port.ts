import { errorCode } from '@kube-ovn/errors'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'

/** An address and a port to try. */
export interface PortTarget {
  readonly protocol: 'tcp' | 'udp'
  readonly address: string
  readonly port: number
}

/** What came of it. `error` is the reason of a refusal, in the system's word, or `ETIMEDOUT`. */
export type PortResult =
  { readonly isOpen: true; readonly tookMs: number } | { readonly isOpen: false; readonly error: string }

/** What a listener is asked by UDP. */
export const question = Buffer.from('health check')

/** Tries a port: TCP by a connection, UDP by a datagram that has to be answered with another one. */
export async function tryPort(target: PortTarget, timeoutMs: number): Promise<PortResult> {
  const startedMs = performance.now()
  const error = await (target.protocol === 'tcp' ? tryTcp(target, timeoutMs) : tryUdp(target, timeoutMs))
  return error === undefined
    ? { isOpen: true, tookMs: performance.now() - startedMs }
    : { isOpen: false, error }
}

function tryTcp({ address, port }: PortTarget, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, autoSelectFamily: false })
    function end(error: string | undefined): void {
      clearTimeout(timer)
      socket.destroy()
      resolve(error)
    }
    const timer = setTimeout(() => end(timedOut), timeoutMs)
    socket.once('connect', () => end(undefined))
    socket.on('error', (error) => end(reasonOf(error)))
  })
}

function tryUdp({ address, port }: PortTarget, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
    let isOver = false
    function end(error: string | undefined): void {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      socket.close()
      resolve(error)
    }
    const timer = setTimeout(() => end(timedOut), timeoutMs)
    socket.once('message', () => end(undefined))
    socket.on('error', (error) => end(reasonOf(error)))
    // A connected socket is told that nobody listens there.
    socket.connect(port, address, (error?: Error) => {
      if (error !== undefined && error !== null) end(reasonOf(error))
      else if (!isOver) socket.send(question, (failure) => failure !== null && end(reasonOf(failure)))
    })
  })
}

const timedOut = 'ETIMEDOUT'

function reasonOf(error: Error): string {
  return errorCode(error) ?? error.message
}
