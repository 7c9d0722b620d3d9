import { formatIp, type Ipv4, type Ipv6 } from '@kube-ovn/ip'

/** Record types (RFC 1035, RFC 3596). */
const recordTypes = { A: 1, AAAA: 28 } as const

export type DnsRecordType = keyof typeof recordTypes

export interface DnsAnswer {
  readonly id: number
  /** 0 is NOERROR, 3 NXDOMAIN. */
  readonly code: number
  readonly addresses: readonly string[]
}

/** Writes a question for the addresses of a name, as a stub resolver asks it. */
export function encodeDnsQuestion(id: number, name: string, type: DnsRecordType): Buffer {
  const header = Buffer.alloc(12)
  header.writeUInt16BE(id, 0)
  // Recursion desired.
  header.writeUInt16BE(0x0100, 2)
  header.writeUInt16BE(1, 4)
  const labels = name
    .split('.')
    .filter((label) => label !== '')
    .map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, recordTypes[type], 0, 1])])
}

/**
 * Reads the addresses in a response.
 *
 * @returns undefined for what is not a response
 */
export function decodeDnsAnswer(message: Buffer): DnsAnswer | undefined {
  if (message.length < 12 || (message.readUInt16BE(2) & 0x8000) === 0) return undefined
  const questions = message.readUInt16BE(4)
  const answers = message.readUInt16BE(6)
  let offset = 12
  for (let index = 0; index < questions; index++) offset = afterName(message, offset) + 4
  const addresses: string[] = []
  for (let index = 0; index < answers && offset < message.length; index++) {
    offset = afterName(message, offset)
    if (offset + 10 > message.length) break
    const type = message.readUInt16BE(offset)
    const length = message.readUInt16BE(offset + 8)
    const data = message.subarray(offset + 10, offset + 10 + length)
    if (type === recordTypes.A && data.length === 4) addresses.push(formatIp(data.readUInt32BE(0) as Ipv4))
    if (type === recordTypes.AAAA && data.length === 16)
      addresses.push(formatIp(((data.readBigUInt64BE(0) << 64n) | data.readBigUInt64BE(8)) as Ipv6))
    offset += 10 + length
  }
  return { id: message.readUInt16BE(0), code: message.readUInt16BE(2) & 0x000f, addresses }
}

/** Steps over a name: labels until an empty one, or a pointer of two bytes. */
function afterName(message: Buffer, start: number): number {
  let offset = start
  for (;;) {
    const length = message.at(offset) ?? 0
    if (length >= 0xc0) return offset + 2
    if (length === 0) return offset + 1
    offset += length + 1
  }
}
