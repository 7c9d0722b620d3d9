/** Types of ICMP and ICMPv6 (RFC 792, RFC 4443). */
const echoType = {
  ipv4: { request: 8, reply: 0 },
  ipv6: { request: 128, reply: 129 },
} as const

export type EchoFamily = keyof typeof echoType

/** Header of an echo message, and what we put behind it. */
const headerBytes = 8
const payload = Buffer.from('kube-ovn')

/**
 * Makes an echo request for a datagram socket of ICMP: the kernel writes identifier and checksum.
 *
 * @param sequence 16 bits
 */
export function encodeEchoRequest(family: EchoFamily, sequence: number): Buffer {
  const message = Buffer.alloc(headerBytes + payload.length)
  message.writeUInt8(echoType[family].request, 0)
  message.writeUInt16BE(sequence, 6)
  payload.copy(message, headerBytes)
  return message
}

/** Reads the sequence number of an echo reply; `undefined` for what is none, or is no answer to what we send. */
export function sequenceOfReply(family: EchoFamily, message: Buffer): number | undefined {
  if (message.length < headerBytes || message.readUInt8(0) !== echoType[family].reply) return undefined
  return message.subarray(headerBytes).equals(payload) ? message.readUInt16BE(6) : undefined
}
