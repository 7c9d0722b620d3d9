import { ipBytes, isIpv6, macBytes, type Ip, type Mac } from '@kube-ovn/ip'

/** A flow that sends what is for an address and port, and came in by one port of the bridge, out by another one, to a MAC address. */
export interface LeadingFlow {
  /** Tells whose it is. */
  readonly cookie: bigint
  readonly priority: number
  /** Number of the port by which packets come in. */
  readonly inPort: number
  readonly protocol: 'tcp' | 'udp'
  /** Destination. */
  readonly address: Ip
  readonly port: number
  /** MAC address that the packets get. */
  readonly mac: Mac
  /** Number of the port by which they go out. */
  readonly outPort: number
}

/** A flow as it is told and compared: `match` says which packets it is about, all together what it does with them. */
export interface Flow {
  readonly cookie: bigint
  readonly priority: number
  /** Fields with their values, in hexadecimal digits, in the order of the fields. */
  readonly match: string
  /** In hexadecimal digits. */
  readonly instructions: string
}

/** Of the class 0x8000, OpenFlow's own. */
const field = {
  inPort: 0,
  ethernetDestination: 3,
  ethernetType: 5,
  protocol: 10,
  ipv4Destination: 12,
  tcpDestination: 14,
  udpDestination: 16,
  ipv6Destination: 27,
} as const
const basicClass = 0x8000

const instruction = { applyActions: 4 } as const
const action = { output: 0, setField: 25 } as const
const ethernetType = { ipv4: 0x0800, ipv6: 0x86dd } as const
const protocolNumber = { tcp: 6, udp: 17 } as const

/** Prints a flow as the bridge tells of it. */
export function flowOf({
  cookie,
  priority,
  inPort,
  protocol,
  address,
  port,
  mac,
  outPort,
}: LeadingFlow): Flow {
  const isV6 = isIpv6(address)
  const match = [
    entry(field.inPort, uint(inPort, 4)),
    entry(field.ethernetType, uint(isV6 ? ethernetType.ipv6 : ethernetType.ipv4, 2)),
    entry(field.protocol, uint(protocolNumber[protocol], 1)),
    entry(isV6 ? field.ipv6Destination : field.ipv4Destination, ipBytes(address)),
    entry(protocol === 'tcp' ? field.tcpDestination : field.udpDestination, uint(port, 2)),
  ]
  const setField = padded(
    Buffer.concat([uint(action.setField, 2), uint(16, 2), entry(field.ethernetDestination, macBytes(mac))]),
  )
  const output = Buffer.concat([uint(action.output, 2), uint(16, 2), uint(outPort, 4), Buffer.alloc(8)])
  const actions = Buffer.concat([setField, output])
  const instructions = Buffer.concat([
    ...[uint(instruction.applyActions, 2), uint(8 + actions.length, 2), Buffer.alloc(4)],
    actions,
  ])
  return {
    ...{ cookie, priority },
    match: sortedMatch(Buffer.concat(match)),
    instructions: instructions.toString('hex'),
  }
}

/** Fields in the order of their numbers: a bridge has another one than who writes. */
export function sortedMatch(bytes: Buffer): string {
  const entries: Buffer[] = []
  for (let at = 0; at + 4 <= bytes.length;) {
    const end = at + 4 + bytes.readUInt8(at + 3)
    entries.push(bytes.subarray(at, end))
    at = end
  }
  return Buffer.concat(entries.sort((a, b) => a.readUInt32BE(0) - b.readUInt32BE(0))).toString('hex')
}

/** Zeros up to a multiple of eight bytes. */
export function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)])
}

export function uint(value: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  bytes.writeUIntBE(value, 0, length)
  return bytes
}

function entry(number: number, value: Buffer): Buffer {
  return Buffer.concat([uint(basicClass, 2), uint(number * 2, 1), uint(value.length, 1), value])
}
