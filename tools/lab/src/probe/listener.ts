import { readFileSync } from 'node:fs'
import { inNamespace } from '@kube-ovn/netlink'
import { ProbeSocketError } from '../errors.ts'
import { ProbeSocket, socketOptions } from './probe-socket.ts'
import { keyOf, keyOfMember, type Sightings } from './sightings.ts'
import { addressBytes, familyOfText, type ProbeFamily } from './socket-address.ts'

/** Where a listener is. */
export interface ListenerPlan {
  /** Path of the network namespace. */
  readonly netns: string
  readonly address: string
  readonly port: number
  readonly protocol: 'tcp' | 'udp' | 'sctp'
}

const tokenPattern = /kube-ovn-probe[ /](\d+)/

/** What a request says, so that its listener can tell which one it is. */
export function tokenLine(token: number): string {
  return `kube-ovn-probe ${token}\n`
}

/**
 * Listens at an address of a namespace until disposed, writes down every request that carries a token, and answers it: a datagram and a
 * line with the same again, HTTP with the address it came from.
 *
 * @returns undefined if something listens there already, whose business it is to answer
 */
export function openListener(plan: ListenerPlan, sightings: Sightings): Disposable | undefined {
  const { netns, address, port, protocol } = plan
  const socket = ProbeSocket.open(netns, familyOfText(address), protocol)
  try {
    if (protocol !== 'udp') socket.setOption(socketOptions.reuseAddress, 1)
    socket.bind({ address, port })
    if (protocol === 'udp') return noteDatagrams(socket, sightings, keyOf, true)
    socket.listen()
    return answerConnections(socket, sightings)
  } catch (error) {
    socket[Symbol.dispose]()
    if (error instanceof ProbeSocketError && error.details.errno === 'EADDRINUSE') return undefined
    throw error
  }
}

/** Joins a multicast group with the interface that has an address, and writes down what is sent to it. */
export function openGroupListener(
  plan: { readonly netns: string; readonly address: string; readonly group: string; readonly port: number },
  sightings: Sightings,
): Disposable {
  const family = familyOfText(plan.address)
  const socket = ProbeSocket.open(plan.netns, family, 'udp')
  try {
    socket.setOption(socketOptions.reuseAddress, 1)
    socket.bind({ address: plan.group, port: plan.port })
    socket.setOption(socketOptions.joinGroup[family], membership(plan.netns, plan.group, plan.address))
    return noteDatagrams(socket, sightings, (token) => keyOfMember(token, plan.address), false)
  } catch (error) {
    socket[Symbol.dispose]()
    throw error
  }
}

/** struct ip_mreqn names the interface by its address, struct ipv6_mreq by its number. */
function membership(netns: string, group: string, address: string): Buffer {
  if (familyOfText(address) === 'ipv4')
    return Buffer.concat([addressBytes(group), addressBytes(address), Buffer.alloc(4)])
  const index = Buffer.alloc(4)
  index.writeUInt32LE(interfaceIndex(netns, address))
  return Buffer.concat([addressBytes(group), index])
}

/** The number of the interface that has an IPv6 address. */
export function interfaceIndex(netns: string, address: string): number {
  const table = inNamespace(netns, () => readFileSync('/proc/thread-self/net/if_inet6', 'utf8'))
  const wanted = addressBytes(address).toString('hex')
  const line = table.split('\n').find((candidate) => candidate.startsWith(wanted))
  return Number.parseInt(line?.split(/\s+/)[1] ?? '0', 16)
}

function noteDatagrams(
  socket: ProbeSocket,
  sightings: Sightings,
  key: (token: number) => string,
  isAnswered: boolean,
): Disposable {
  socket.onReadable(() => {
    const received = socket.receive()
    const token = readToken(received?.data)
    if (received?.from === undefined || token === undefined) return
    const { data, from, ttl, dscp } = received
    sightings.record(key(token), {
      source: from.address,
      sourcePort: from.port,
      ...(ttl === undefined ? {} : { ttl }),
      ...(dscp === undefined ? {} : { dscp }),
    })
    if (isAnswered) answer(() => socket.send(data, from))
  })
  return socket
}

function answerConnections(listening: ProbeSocket, sightings: Sightings): Disposable {
  const connections = new Set<ProbeSocket>()
  listening.onReadable(() => {
    const accepted = listening.accept()
    if (accepted === undefined) return
    const { socket, from } = accepted
    connections.add(socket)
    socket.onReadable(() => {
      const request = takeRequest(socket)
      if (request === undefined) {
        connections.delete(socket)
        socket[Symbol.dispose]()
        return
      }
      const token = readToken(request)
      if (token !== undefined) sightings.record(keyOf(token), { source: from.address, sourcePort: from.port })
      answerStream(socket, request, from.address)
    })
  })
  return {
    [Symbol.dispose]() {
      for (const connection of connections) connection[Symbol.dispose]()
      listening[Symbol.dispose]()
    },
  }
}

/** The end of a stream and a connection that was cut are the same to a listener. */
function takeRequest(socket: ProbeSocket): Buffer | undefined {
  try {
    const received = socket.receive()
    return received === undefined || received.data.length > 0
      ? (received?.data ?? Buffer.alloc(0))
      : undefined
  } catch (error) {
    if (error instanceof ProbeSocketError) return undefined
    throw error
  }
}

function answerStream(socket: ProbeSocket, request: Buffer, source: string): void {
  if (request.length === 0) return
  const isHttp = request.subarray(0, 4).toString('latin1') === 'GET '
  const page = `HTTP/1.0 200 OK\r\nContent-Length: ${source.length + 1}\r\n\r\n${source}\n`
  answer(() => socket.send(isHttp ? Buffer.from(page) : request))
}

/** An answer that the kernel refuses to send is one that does not arrive: the asker tells. */
function answer(send: () => void): void {
  try {
    send()
  } catch (error) {
    if (!(error instanceof ProbeSocketError)) throw error
  }
}

function readToken(data: Buffer | undefined): number | undefined {
  const token = tokenPattern.exec(data?.subarray(0, 512).toString('latin1') ?? '')?.[1]
  return token === undefined ? undefined : Number(token)
}

/** Groups of the administratively scoped ranges that nothing else uses here (RFC 2365, RFC 4291). */
export const probeGroups: Record<ProbeFamily, string> = { ipv4: '239.255.77.77', ipv6: 'ff15::7777' }
