/** A record of IPFIX, as far as it is read: numbers of information elements, and what they say. */
export type IpfixRecord = ReadonlyMap<number, Buffer>

/** Numbers of information elements that IANA gave. */
export const informationElement = {
  destinationIpv4: 12,
  destinationIpv6: 28,
  observationPointId: 138,
  observationDomainId: 149,
} as const

interface Field {
  readonly element: number
  /** 65535 where each record says it. */
  readonly length: number
}

const [ownVersion, templateSet, firstDataSet, variable] = [10, 2, 256, 65_535]

/**
 * Reads messages of one exporter. What comes before its template is not known.
 *
 * @see RFC 7011
 */
export class IpfixDecoder {
  readonly #templates = new Map<number, readonly Field[]>()

  /** The records of a message, with the domain of its header among what they say. @throws Error for what is none */
  read(message: Buffer): readonly IpfixRecord[] {
    if (message.readUInt16BE(0) !== ownVersion || message.readUInt16BE(2) !== message.length)
      throw new Error('this is no message of IPFIX')
    const domain = message.subarray(12, 16)
    const records: IpfixRecord[] = []
    for (let at = 16; at < message.length; at += message.readUInt16BE(at + 2)) {
      const set = message.subarray(at + 4, at + message.readUInt16BE(at + 2))
      const id = message.readUInt16BE(at)
      if (id === templateSet) this.#learn(set)
      const fields = this.#templates.get(id)
      if (id >= firstDataSet && fields !== undefined) records.push(...recordsIn(set, fields, domain))
    }
    return records
  }

  #learn(set: Buffer): void {
    for (let at = 0; at + 4 <= set.length;) {
      const [id, count] = [set.readUInt16BE(at), set.readUInt16BE(at + 2)]
      at += 4
      const fields: Field[] = []
      for (let index = 0; index < count; index++) {
        const [element, length] = [set.readUInt16BE(at), set.readUInt16BE(at + 2)]
        const isOfEnterprise = element >= 0x80_00
        // Elements of enterprises have numbers of their own.
        fields.push({ element: isOfEnterprise ? -1 : element, length })
        at += isOfEnterprise ? 8 : 4
      }
      this.#templates.set(id, fields)
    }
  }
}

function* recordsIn(set: Buffer, fields: readonly Field[], domain: Buffer): Iterable<IpfixRecord> {
  const least = fields.reduce((sum, { length }) => sum + (length === variable ? 1 : length), 0)
  // What is shorter than any record fills the set up.
  for (let at = 0; at + Math.max(1, least) <= set.length;) {
    const record = new Map([[informationElement.observationDomainId as number, domain]])
    for (const { element, length } of fields) {
      let size = length
      if (length === variable) {
        size = set.readUInt8(at++)
        if (size === 255) {
          size = set.readUInt16BE(at)
          at += 2
        }
      }
      if (element >= 0) record.set(element, set.subarray(at, at + size))
      at += size
    }
    yield record
  }
}
