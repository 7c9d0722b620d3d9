/** Reads numbers in network order from the front of bytes; who reads beyond the end gets the error that the caller has for it. */
export class ByteReader {
  readonly #bytes: Buffer
  readonly #short: () => Error
  #at = 0

  constructor(bytes: Buffer, short: () => Error) {
    this.#bytes = bytes
    this.#short = short
  }

  get left(): number {
    return this.#bytes.length - this.#at
  }

  uint8(): number {
    return this.take(1).readUInt8()
  }

  uint16(): number {
    return this.take(2).readUInt16BE()
  }

  uint32(): number {
    return this.take(4).readUInt32BE()
  }

  /** The next bytes, not copied. */
  take(length: number): Buffer {
    if (length > this.left) throw this.#short()
    const start = this.#at
    this.#at += length
    return this.#bytes.subarray(start, this.#at)
  }

  /** All that is left. */
  rest(): Buffer {
    return this.take(this.left)
  }

  /** A reader of the next bytes, with the same error. */
  part(length: number): ByteReader {
    return new ByteReader(this.take(length), this.#short)
  }
}

export function uint8(value: number): Buffer {
  return Buffer.from([value & 0xff])
}

export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
