import { attribute, eachAttribute, parseAttributes } from './attributes.ts'
import { NetlinkError } from './errors.ts'
import { decodeAddress } from './inet.ts'
import { inNamespace } from './namespace.ts'
import { RoutingSocket } from './socket.ts'
import type { NamespaceReference } from './types.ts'

/** NETLINK_NETFILTER. */
const netfilterProtocol = 12
/** NFNL_SUBSYS_CTNETLINK, in the upper byte of a message's type (linux/netfilter/nfnetlink.h). */
const conntrackSubsystem = 1 << 8
/** IPCTNL_MSG_CT_* of linux/netfilter/nfnetlink_conntrack.h. */
const messageType = { get: conntrackSubsystem | 1, remove: conntrackSubsystem | 2 } as const
/** CTA_*, CTA_TUPLE_*, CTA_IP_*, CTA_PROTO_* of the same. */
const flowAttribute = { original: 1, reply: 2, zone: 18 } as const
const tupleAttribute = { ip: 1, protocol: 2 } as const
const ipAttribute = { v4Source: 1, v4Destination: 2, v6Source: 3, v6Destination: 4 } as const
const protocolAttribute = { number: 1, sourcePort: 2, destinationPort: 3 } as const
const nestedFlag = 0x8000
const udp = 17

/** struct nfgenmsg: family, version, resource. */
const headerBytes = 4

export interface FlowEnd {
  readonly address: string
  readonly port: number
}

/** A flow of UDP that the kernel follows. */
export interface Flow {
  /** Where its first packet was sent. */
  readonly destination: FlowEnd
  /** Where it came to, which is who answers. */
  readonly answeredBy: FlowEnd
  /** By which the kernel knows it. */
  readonly family: number
  readonly original: Buffer
}

/** The flows that the kernel of a namespace follows (conntrack). */
export interface Flows extends Disposable {
  /** Those of UDP that belong to nobody in particular (zone 0). */
  listUdp(): readonly Flow[]
  /** Has the next packet of a flow be looked at as if it were the first; that it is gone already is fine. */
  forget(flow: Flow): void
}

/** @see linux/netfilter/nfnetlink_conntrack.h */
export function openFlows(options: { readonly netns?: NamespaceReference } = {}): Flows {
  const open = (): RoutingSocket => new RoutingSocket(undefined, netfilterProtocol)
  const socket = options.netns === undefined ? open() : inNamespace(options.netns, open)
  return {
    listUdp() {
      const body = Buffer.alloc(headerBytes)
      const names = { operation: 'conntrack list', subject: 'udp' } as const
      return socket
        .list({ ...names, type: messageType.get, body })
        .flatMap(({ body: found }) => parseFlow(found))
    },
    forget({ family, original, destination }) {
      const header = Buffer.alloc(headerBytes)
      header.writeUInt8(family, 0)
      const subject = `${destination.address} ${destination.port}`
      try {
        socket.request({
          ...{ operation: 'conntrack delete', subject, type: messageType.remove },
          body: Buffer.concat([header, attribute(flowAttribute.original | nestedFlag, original)]),
        })
      } catch (error) {
        if (!(error instanceof NetlinkError) || error.details.errno !== 'ENOENT') throw error
      }
    },
    [Symbol.dispose]: () => socket[Symbol.dispose](),
  }
}

function parseFlow(body: Buffer): readonly Flow[] {
  const attributes = parseAttributes(body.subarray(headerBytes))
  const original = attributes.get(flowAttribute.original)
  const reply = attributes.get(flowAttribute.reply)
  if (original === undefined || reply === undefined || attributes.has(flowAttribute.zone)) return []
  const first = parseTuple(original)
  const answer = parseTuple(reply)
  if (first?.protocol !== udp || answer === undefined) return []
  const family = body.readUInt8(0)
  return [{ family, original, destination: first.destination, answeredBy: answer.source }]
}

interface Tuple {
  readonly protocol: number
  readonly source: FlowEnd
  readonly destination: FlowEnd
}

function parseTuple(bytes: Buffer): Tuple | undefined {
  const parts = new Map([...eachAttribute(bytes)].map(({ type, value }) => [type, parseAttributes(value)]))
  const ip = parts.get(tupleAttribute.ip)
  const transport = parts.get(tupleAttribute.protocol)
  const source = ip?.get(ipAttribute.v4Source) ?? ip?.get(ipAttribute.v6Source)
  const destination = ip?.get(ipAttribute.v4Destination) ?? ip?.get(ipAttribute.v6Destination)
  const protocol = transport?.get(protocolAttribute.number)?.readUInt8(0)
  const sourcePort = transport?.get(protocolAttribute.sourcePort)?.readUInt16BE(0)
  const port = transport?.get(protocolAttribute.destinationPort)?.readUInt16BE(0)
  if (source === undefined || destination === undefined || protocol === undefined) return undefined
  return {
    protocol,
    source: { address: decodeAddress(source), port: sourcePort ?? 0 },
    destination: { address: decodeAddress(destination), port: port ?? 0 },
  }
}
