/** Types of ICMP and ICMPv6 (RFC 792, RFC 4443). */
const echoType = {
  ipv4: { request: 8, reply: 0 },
  ipv6: { request: 128, reply: 129 },
} as const

export type EchoFamily = keyof typeof echoType

/** Header of an echo message, and what we put behind it. */
const headerBytes = 8
const payload = Buffer.from('kube-ovn')

const sequenceAt = 6

/** Makes an echo request for a datagram socket of ICMP: the kernel writes identifier and checksum. Its sequence number is 0. */
export function echoRequest(family: EchoFamily): Buffer {
  const message = Buffer.alloc(headerBytes + payload.length)
  message.writeUInt8(echoType[family].request, 0)
  payload.copy(message, headerBytes)
  return message
}

/**
 * Gives a request another number.
 *
 * @param sequence 16 bits
 */
export function writeSequence(request: Buffer, sequence: number): void {
  request.writeUInt16BE(sequence, sequenceAt)
}

/**
 * Reads the sequence number of an echo reply; `undefined` for what is none, or is no answer to what we send.
 *
 * @param length of the message; what is behind it in the buffer is not looked at
 */
export function sequenceOfReply(family: EchoFamily, message: Buffer, length: number): number | undefined {
  if (length < headerBytes || message.readUInt8(0) !== echoType[family].reply) return undefined
  return message.compare(payload, 0, payload.length, headerBytes, length) === 0
    ? message.readUInt16BE(sequenceAt)
    : undefined
}
