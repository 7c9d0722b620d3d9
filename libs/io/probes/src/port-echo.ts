import { createSocket } from 'node:dgram'
import { createServer, isIPv6 } from 'node:net'
import { once } from 'node:events'
import { errorCode } from '@kube-ovn/errors'
import { question } from './port.ts'

export interface PortEchoOptions {
  readonly address: string
  readonly tcpPort: number
  readonly udpPort: number
}

/** Ports that are bound. */
export interface PortEcho extends AsyncDisposable {
  readonly tcpPort: number
  readonly udpPort: number
}

/** No question: two who answered each other would never end, and one packet with a forged source would begin it. */
const answer = Buffer.from('ok')

/**
 * Lets others try ports here: TCP is taken and closed, who asks by UDP as a probe does is answered. Rejects when a port cannot be bound.
 *
 * `::` takes both families, where the host has IPv6.
 */
export async function answerPorts(options: PortEchoOptions): Promise<PortEcho> {
  try {
    return await bindPorts(options)
  } catch (error) {
    const lacksIpv6 = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes(errorCode(error) ?? '')
    if (options.address === '::' && lacksIpv6) return bindPorts({ ...options, address: '0.0.0.0' })
    throw error
  }
}

async function bindPorts({ address, tcpPort, udpPort }: PortEchoOptions): Promise<PortEcho> {
  await using stack = new AsyncDisposableStack()
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.destroySoon()
  })
  server.listen(tcpPort, address)
  await once(server, 'listening')
  stack.defer(() => void server.close())
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  stack.defer(() => void socket.close())
  socket.on('message', (message, from) => {
    // Port 0 stands for nobody to be answered (RFC 768), and Node throws when it is to send there.
    if (message.equals(question) && from.port !== 0)
      socket.send(answer, from.port, from.address, () => undefined)
  })
  socket.bind(udpPort, address)
  await once(socket, 'listening')
  const bound = server.address()
  const owned = stack.move()
  return {
    tcpPort: typeof bound === 'object' && bound !== null ? bound.port : tcpPort,
    udpPort: socket.address().port,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
