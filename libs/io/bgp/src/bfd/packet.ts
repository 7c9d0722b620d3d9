/** States of RFC 5880, section 4.1, by their number. */
const bfdStates = ['admin-down', 'down', 'init', 'up'] as const
export type BfdState = (typeof bfdStates)[number]

/** Why a session changed to its state the last time (RFC 5880, section 4.1), as far as it is told here. */
export const diagnostic = { none: 0, timeExpired: 1, neighborDown: 3, administrativelyDown: 7 } as const

/** A control packet. */
export interface BfdPacket {
  readonly diagnostic: number
  readonly state: BfdState
  readonly poll: boolean
  readonly final: boolean
  readonly demand: boolean
  readonly multiplier: number
  readonly myDiscriminator: number
  /** 0 as long as it is not known. */
  readonly yourDiscriminator: number
  readonly desiredMinTxUs: number
  readonly requiredMinRxUs: number
}

const version = 1
const packetBytes = 24
const flag = { poll: 0x20, final: 0x10, authentication: 0x04, demand: 0x02, multipoint: 0x01 } as const

export function encodeBfdPacket(packet: BfdPacket): Buffer {
  const bytes = Buffer.alloc(packetBytes)
  const flags =
    (packet.poll ? flag.poll : 0) | (packet.final ? flag.final : 0) | (packet.demand ? flag.demand : 0)
  bytes.writeUInt8((version << 5) | packet.diagnostic, 0)
  bytes.writeUInt8((bfdStates.indexOf(packet.state) << 6) | flags, 1)
  bytes.writeUInt8(packet.multiplier, 2)
  bytes.writeUInt8(packetBytes, 3)
  bytes.writeUInt32BE(packet.myDiscriminator, 4)
  bytes.writeUInt32BE(packet.yourDiscriminator, 8)
  bytes.writeUInt32BE(packet.desiredMinTxUs, 12)
  bytes.writeUInt32BE(packet.requiredMinRxUs, 16)
  // No echo: the last four bytes stay 0.
  return bytes
}

/** Reads a packet; `undefined` for one that must be passed over (RFC 5880, section 6.8.6). Nothing is authenticated here. */
export function decodeBfdPacket(bytes: Buffer): BfdPacket | undefined {
  if (bytes.length < packetBytes) return undefined
  const first = bytes.readUInt8(0)
  const second = bytes.readUInt8(1)
  const length = bytes.readUInt8(3)
  const state = bfdStates[second >> 6]
  const packet = {
    ...{ diagnostic: first & 0x1f, multiplier: bytes.readUInt8(2) },
    ...{ poll: (second & flag.poll) !== 0, final: (second & flag.final) !== 0 },
    demand: (second & flag.demand) !== 0,
    ...{ myDiscriminator: bytes.readUInt32BE(4), yourDiscriminator: bytes.readUInt32BE(8) },
    ...{ desiredMinTxUs: bytes.readUInt32BE(12), requiredMinRxUs: bytes.readUInt32BE(16) },
  }
  const isRefused =
    first >> 5 !== version ||
    length < packetBytes ||
    length > bytes.length ||
    (second & (flag.authentication | flag.multipoint)) !== 0 ||
    packet.multiplier === 0 ||
    packet.myDiscriminator === 0 ||
    (packet.poll && packet.final)
  if (isRefused || state === undefined) return undefined
  // Who is up or on the way there has heard from us.
  if (packet.yourDiscriminator === 0 && state !== 'down' && state !== 'admin-down') return undefined
  return { ...packet, state }
}
