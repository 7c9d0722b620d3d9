import { decodeAddress, encodeAddress } from '@kube-ovn/netlink'
import { ByteReader, uint16, uint32, uint8 } from './byte-reader.ts'

/** Where a route comes from, in the order of preference. */
export const origins = ['igp', 'egp', 'incomplete'] as const
type Origin = (typeof origins)[number]

/** A part of the way that a route came: numbers in order, or a set of them. */
interface AsSegment {
  readonly kind: 'set' | 'sequence'
  readonly numbers: readonly number[]
}

/** What is said of all routes of an UPDATE. */
export interface PathAttributes {
  readonly origin: Origin
  readonly asPath: readonly AsSegment[]
  /** Of IPv4 routes that stand at the end of the message; those of other families have theirs beside them. */
  readonly nextHop?: string | undefined
  readonly med?: number | undefined
  readonly localPreference?: number | undefined
  /** As `65000:1` (RFC 1997). */
  readonly communities?: readonly string[] | undefined
  /** As `65000:1:2` (RFC 8092). */
  readonly largeCommunities?: readonly string[] | undefined
}

/** Types of attributes. */
export const attributeType = {
  origin: 1,
  asPath: 2,
  nextHop: 3,
  med: 4,
  localPreference: 5,
  communities: 8,
  mpReach: 14,
  mpUnreach: 15,
  as4Path: 17,
  largeCommunities: 32,
} as const

const flag = { optional: 0x80, transitive: 0x40, extendedLength: 0x10 } as const
const wellKnown = flag.transitive
export const optional = flag.optional
const optionalTransitive = flag.optional | flag.transitive
const asTrans = 23_456

/** An attribute with its flags and its length, which takes two bytes from 256 on. */
export function encodeAttribute(flags: number, type: number, value: Buffer): Buffer {
  const isLong = value.length > 0xff
  return Buffer.concat([
    uint8(isLong ? flags | flag.extendedLength : flags),
    uint8(type),
    isLong ? uint16(value.length) : uint8(value.length),
    value,
  ])
}

/** All but the routes of other families, in the order of their types (RFC 4271, section 5). */
export function encodePathAttributes(path: PathAttributes, hasFourOctetAs: boolean): Buffer {
  const { origin, asPath, nextHop, med, localPreference, communities, largeCommunities } = path
  const isShortened = !hasFourOctetAs && asPath.some(({ numbers }) => numbers.some((as) => as > 0xffff))
  return Buffer.concat([
    encodeAttribute(wellKnown, attributeType.origin, uint8(origins.indexOf(origin))),
    encodeAttribute(wellKnown, attributeType.asPath, encodeAsPath(asPath, hasFourOctetAs)),
    ...(nextHop === undefined
      ? []
      : [encodeAttribute(wellKnown, attributeType.nextHop, encodeAddress('next hop', nextHop))]),
    ...(med === undefined ? [] : [encodeAttribute(optional, attributeType.med, uint32(med))]),
    ...(localPreference === undefined
      ? []
      : [encodeAttribute(wellKnown, attributeType.localPreference, uint32(localPreference))]),
    ...numbersAttribute(attributeType.communities, communities, uint16),
    ...(isShortened
      ? [encodeAttribute(optionalTransitive, attributeType.as4Path, encodeAsPath(asPath, true))]
      : []),
    ...numbersAttribute(attributeType.largeCommunities, largeCommunities, uint32),
  ])
}

/** Bytes of an attribute, whose flags and length have been seen to be right. */
export type AttributeDecoder = (value: Buffer, hasFourOctetAs: boolean) => Partial<PathAttributes> | undefined

/** Reads attributes by type; `undefined` is the answer to what is malformed. */
export const attributeDecoders: Readonly<Record<number, AttributeDecoder>> = {
  [attributeType.origin]: (value) => {
    const origin = value.length === 1 ? origins[value.readUInt8()] : undefined
    return origin === undefined ? undefined : { origin }
  },
  [attributeType.asPath]: (value, hasFourOctetAs) => {
    const asPath = decodeAsPath(value, hasFourOctetAs)
    return asPath === undefined ? undefined : { asPath }
  },
  [attributeType.nextHop]: (value) => (value.length === 4 ? { nextHop: decodeAddress(value) } : undefined),
  [attributeType.med]: (value) => (value.length === 4 ? { med: value.readUInt32BE() } : undefined),
  [attributeType.localPreference]: (value) =>
    value.length === 4 ? { localPreference: value.readUInt32BE() } : undefined,
  [attributeType.communities]: (value) => {
    const communities = groups(value, 2, 2)
    return communities === undefined ? undefined : { communities }
  },
  [attributeType.largeCommunities]: (value) => {
    const largeCommunities = groups(value, 4, 3)
    return largeCommunities === undefined ? undefined : { largeCommunities }
  },
}

function encodeAsPath(path: readonly AsSegment[], hasFourOctetAs: boolean): Buffer {
  return Buffer.concat(
    path.flatMap(({ kind, numbers }) => [
      uint8(kind === 'set' ? 1 : 2),
      uint8(numbers.length),
      ...numbers.map((as) => (hasFourOctetAs ? uint32(as) : uint16(as > 0xffff ? asTrans : as))),
    ]),
  )
}

function decodeAsPath(value: Buffer, hasFourOctetAs: boolean): readonly AsSegment[] | undefined {
  const segments: AsSegment[] = []
  const width = hasFourOctetAs ? 4 : 2
  let at = 0
  while (at < value.length) {
    const [type, count = 0] = value.subarray(at, at + 2)
    const end = at + 2 + count * width
    if ((type !== 1 && type !== 2) || count === 0 || end > value.length) return undefined
    const numbers = Array.from({ length: count }, (_, index) =>
      value.readUIntBE(at + 2 + index * width, width),
    )
    segments.push({ kind: type === 1 ? 'set' : 'sequence', numbers })
    at = end
  }
  return segments
}

function numbersAttribute(
  type: number,
  texts: readonly string[] | undefined,
  encode: (value: number) => Buffer,
): readonly Buffer[] {
  if (texts === undefined || texts.length === 0) return []
  const numbers = texts.flatMap((text) => text.split(':').map((part) => encode(Number(part))))
  return [encodeAttribute(optionalTransitive, type, Buffer.concat(numbers))]
}

/** Groups of numbers as texts with colons. */
function groups(value: Buffer, width: number, count: number): readonly string[] | undefined {
  if (value.length === 0 || value.length % (width * count) !== 0) return undefined
  const reader = new ByteReader(value, () => new RangeError('no more bytes'))
  const texts: string[] = []
  while (reader.left > 0)
    texts.push(Array.from({ length: count }, () => reader.take(width).readUIntBE(0, width)).join(':'))
  return texts
}
