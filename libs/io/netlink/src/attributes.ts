/**
 * Netlink attributes: type, length, value, padded to four bytes, nested.
 *
 * Integers are in host order, which is little-endian on every machine that this project supports (amd64, arm64).
 *
 * @see netlink(7), linux/netlink.h
 */

const headerBytes = 4
const nestedFlag = 0x8000
const typeMask = 0x3fff

export function u8(value: number): Buffer {
  return Buffer.from([value])
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value >>> 0)
  return bytes
}

/** A C string with its terminating zero. */
export function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'utf8')
}

export function attribute(type: number, value: Buffer): Buffer {
  const length = headerBytes + value.length
  const bytes = Buffer.alloc(align(length))
  bytes.writeUInt16LE(length, 0)
  bytes.writeUInt16LE(type, 2)
  value.copy(bytes, headerBytes)
  return bytes
}

export function nested(type: number, attributes: readonly Buffer[]): Buffer {
  return attribute(type | nestedFlag, Buffer.concat(attributes))
}

/** Reads a run of attributes. Of several with one type the last wins; ones cut short by the end are left out. */
export function parseAttributes(bytes: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>()
  for (const { type, value } of eachAttribute(bytes)) found.set(type, value)
  return found
}

/** Yields attributes in order, for lists where types repeat. */
export function* eachAttribute(bytes: Buffer): Generator<{ type: number; value: Buffer }> {
  let offset = 0
  while (offset + headerBytes <= bytes.length) {
    const length = bytes.readUInt16LE(offset)
    if (length < headerBytes || offset + length > bytes.length) return
    const type = bytes.readUInt16LE(offset + 2) & typeMask
    yield { type, value: bytes.subarray(offset + headerBytes, offset + length) }
    offset += align(length)
  }
}

/** Reads a string up to its zero or its end; the kernel sends both forms. */
export function readText(value: Buffer): string {
  const end = value.indexOf(0)
  return value.toString('utf8', 0, end < 0 ? value.length : end)
}

export function align(length: number): number {
  return (length + 3) & ~3
}
