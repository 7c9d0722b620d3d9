/** What the kernel tells about a packet beside its content. */
export interface PacketMarks {
  /** Time to live, or hop limit, that was left when it arrived. */
  readonly ttl?: number
  /** The upper six bits of the traffic class. */
  readonly dscp?: number
}

const headerBytes = 16

/** Level and type of the messages that are understood (ip(7), ipv6(7)). */
const ttlMessages = new Set(['0/2', '41/52'])
const trafficClassMessages = new Set(['0/1', '41/67'])

/** Reads a chain of struct cmsghdr (cmsg(3), 64 bit), each padded to 8 bytes. */
export function parseControlMessages(control: Buffer): PacketMarks {
  let marks: PacketMarks = {}
  for (let offset = 0; offset + headerBytes <= control.length;) {
    const length = Number(control.readBigUInt64LE(offset))
    if (length < headerBytes || offset + length > control.length) break
    const kind = `${control.readInt32LE(offset + 8)}/${control.readInt32LE(offset + 12)}`
    // IP_TOS comes as one byte, the others as an int; all are below 256.
    const value = control.readUInt8(offset + headerBytes)
    if (ttlMessages.has(kind)) marks = { ...marks, ttl: value }
    if (trafficClassMessages.has(kind)) marks = { ...marks, dscp: value >> 2 }
    offset += Math.ceil(length / 8) * 8
  }
  return marks
}
