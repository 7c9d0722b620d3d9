import { readFileSync } from 'node:fs'
import { inNamespace } from '@kube-ovn/netlink'
import { ProbeSocketError } from '../errors.ts'
import { ProbeSocket, socketOptions } from './probe-socket.ts'
import { readToken, renderAnswer } from './answer.ts'
import { countStream, readRateRequest } from './rate.ts'
import { keyOf, keyOfMember, type SightingRecorder } from './sightings.ts'
import { addressBytes, familyOfText, type ProbeFamily } from './socket-address.ts'

/** Where a listener is. */
export interface ListenerPlan {
  /** Path of the network namespace; this process's own without one. */
  readonly netns?: string
  readonly address: string
  readonly port: number
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  /** Members of groups listen on the same port of every address, which takes the consent of both. */
  readonly hasGroups?: true
}

/**
 * Listens at an address of a namespace until disposed, writes down every request that carries a token, and answers it with what it saw;
 * HTTP with a page that has the address it came from as well. A stream that says so is measured (`rate.ts`).
 *
 * @returns undefined if something listens there already, whose business it is to answer
 */
export function openListener(plan: ListenerPlan, sightings: SightingRecorder): Disposable | undefined {
  const { netns, address, port, protocol } = plan
  const socket = ProbeSocket.open(netns, familyOfText(address), protocol)
  try {
    if (protocol !== 'udp' || plan.hasGroups === true) socket.setOption(socketOptions.reuseAddress, 1)
    socket.bind({ address, port })
    if (protocol === 'udp') return noteDatagrams(socket, sightings)
    socket.listen()
    return answerConnections(socket, sightings)
  } catch (error) {
    socket[Symbol.dispose]()
    if (error instanceof ProbeSocketError && error.details.errno === 'EADDRINUSE') return undefined
    throw error
  }
}

/** A member of a group, by the address of the interface that it joins with. */
export interface GroupPlan {
  readonly netns?: string
  readonly address: string
  readonly group: string
  readonly port: number
}

/** Joins a multicast group, writes down what is sent to it, and answers who sent it. */
export function openGroupListener(plan: GroupPlan, sightings: SightingRecorder): Disposable {
  const family = familyOfText(plan.address)
  const socket = ProbeSocket.open(plan.netns, family, 'udp')
  try {
    socket.setOption(socketOptions.reuseAddress, 1)
    socket.bind({ address: plan.group, port: plan.port })
    socket.setOption(socketOptions.joinGroup[family], membership(plan.netns, plan.group, plan.address))
    return noteDatagrams(socket, sightings, plan.address)
  } catch (error) {
    socket[Symbol.dispose]()
    throw error
  }
}

/** struct ip_mreqn names the interface by its address, struct ipv6_mreq by its number. */
function membership(netns: string | undefined, group: string, address: string): Buffer {
  if (familyOfText(address) === 'ipv4')
    return Buffer.concat([addressBytes(group), addressBytes(address), Buffer.alloc(4)])
  const index = Buffer.alloc(4)
  index.writeUInt32LE(interfaceIndex(netns, address))
  return Buffer.concat([addressBytes(group), index])
}

/** The number of the interface that has an IPv6 address. */
export function interfaceIndex(netns: string | undefined, address: string): number {
  const read = (): string => readFileSync('/proc/thread-self/net/if_inet6', 'utf8')
  const table = netns === undefined ? read() : inNamespace(netns, read)
  const wanted = addressBytes(address).toString('hex')
  const line = table.split('\n').find((candidate) => candidate.startsWith(wanted))
  return Number.parseInt(line?.split(/\s+/)[1] ?? '0', 16)
}

function noteDatagrams(socket: ProbeSocket, sightings: SightingRecorder, member?: string): Disposable {
  socket.onReadable(() => {
    const received = socket.receive()
    const token = readToken(received?.data)
    if (received?.from === undefined || token === undefined) return
    const { from, ttl, dscp } = received
    const seen = {
      source: from.address,
      sourcePort: from.port,
      ...(ttl === undefined ? {} : { ttl }),
      ...(dscp === undefined ? {} : { dscp }),
    }
    sightings.record(member === undefined ? keyOf(token) : keyOfMember(token, member), seen)
    const told = renderAnswer({ token, seen, ...(member === undefined ? {} : { member }) })
    answer(() => socket.send(Buffer.from(told), from))
  })
  return socket
}

function answerConnections(listening: ProbeSocket, sightings: SightingRecorder): Disposable {
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
      const durationMs = readRateRequest(request)
      if (durationMs !== undefined) {
        countStream(socket, request.length, durationMs)
        return
      }
      const token = readToken(request)
      const seen = { source: from.address, sourcePort: from.port }
      if (token !== undefined) sightings.record(keyOf(token), seen)
      answerStream(socket, request, from.address, token === undefined ? '' : renderAnswer({ token, seen }))
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

function answerStream(socket: ProbeSocket, request: Buffer, source: string, told: string): void {
  if (request.length === 0) return
  const isHttp = request.subarray(0, 4).toString('latin1') === 'GET '
  const header = told === '' ? '' : `Kube-Ovn-Probe: ${told.trimEnd()}\r\n`
  const page = `HTTP/1.0 200 OK\r\n${header}Content-Length: ${source.length + 1}\r\n\r\n${source}\n`
  if (isHttp) answer(() => socket.send(Buffer.from(page)))
  else if (told !== '') answer(() => socket.send(Buffer.from(told)))
}

/** An answer that the kernel refuses to send is one that does not arrive: the asker tells. */
function answer(send: () => void): void {
  try {
    send()
  } catch (error) {
    if (!(error instanceof ProbeSocketError)) throw error
  }
}

/** Groups of the administratively scoped ranges that nothing else uses here (RFC 2365, RFC 4291). */
export const probeGroups: Record<ProbeFamily, string> = { ipv4: '239.255.77.77', ipv6: 'ff15::7777' }
