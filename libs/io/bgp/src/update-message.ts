import { decodeAddress, encodeAddress } from '@kube-ovn/netlink'
import { afiOf, familyOfAfi, unicast, type AddressFamily } from './address-family.ts'
import { ByteReader, uint16, uint8 } from './byte-reader.ts'
import { BgpMessageError } from './errors.ts'
import { errorCode, updateError } from './notification.ts'
import {
  attributeDecoders,
  attributeType,
  encodeAttribute,
  encodePathAttributes,
  optional,
  type PathAttributes,
} from './path-attributes.ts'
import { decodePrefixes, encodePrefix } from './prefix.ts'

/** Routes of a family with their next hop, as RFC 4760 carries them. */
interface Reachable {
  readonly family: AddressFamily
  readonly nextHop: string
  readonly prefixes: readonly string[]
}

interface Unreachable {
  readonly family: AddressFamily
  readonly prefixes: readonly string[]
}

/** What is announced, and what is no more. */
export interface UpdateMessage {
  readonly type: 'update'
  /** IPv4 prefixes that are withdrawn. */
  readonly withdrawn: readonly string[]
  /** Absent where nothing is announced. */
  readonly path: PathAttributes | undefined
  /** IPv4 prefixes, with the next hop of the path. */
  readonly announced: readonly string[]
  readonly reachable: Reachable | undefined
  readonly unreachable: Unreachable | undefined
  /** Attributes that are malformed, by type: what the message announces counts as withdrawn (RFC 7606). */
  readonly malformed: readonly number[]
}

const noRoutes = {
  withdrawn: [],
  path: undefined,
  announced: [],
  reachable: undefined,
  unreachable: undefined,
  malformed: [],
} as const

/** Makes an UPDATE of what is given. */
export function updateOf(parts: Partial<Omit<UpdateMessage, 'type' | 'malformed'>>): UpdateMessage {
  return { type: 'update', ...noRoutes, ...parts }
}

/** What says that all routes of a family have been told (RFC 4724, section 2). */
export function endOfRib(family: AddressFamily): UpdateMessage {
  return family === 'ipv4' ? updateOf({}) : updateOf({ unreachable: { family, prefixes: [] } })
}

/** The family whose routes have all been told, when that is what the message says. */
export function endedFamily(message: UpdateMessage): AddressFamily | undefined {
  const { withdrawn, announced, reachable, unreachable, path, malformed } = message
  if (withdrawn.length + announced.length + malformed.length > 0 || reachable !== undefined) return undefined
  if (unreachable !== undefined) return unreachable.prefixes.length === 0 ? unreachable.family : undefined
  return path === undefined ? 'ipv4' : undefined
}

export function encodeUpdate(message: UpdateMessage, hasFourOctetAs: boolean): Buffer {
  const { withdrawn, path, announced, reachable, unreachable } = message
  const withdrawnBytes = Buffer.concat(withdrawn.map(encodePrefix))
  const attributes = Buffer.concat([
    ...(reachable === undefined
      ? []
      : [encodeAttribute(optional, attributeType.mpReach, encodeReachable(reachable))]),
    ...(unreachable === undefined
      ? []
      : [encodeAttribute(optional, attributeType.mpUnreach, encodeUnreachable(unreachable))]),
    ...(path === undefined ? [] : [encodePathAttributes(path, hasFourOctetAs)]),
  ])
  return Buffer.concat([
    ...[uint16(withdrawnBytes.length), withdrawnBytes],
    ...[uint16(attributes.length), attributes],
    ...announced.map(encodePrefix),
  ])
}

/**
 * Reads an UPDATE. Attributes that nobody here knows are passed over, and so are routes of families that are not spoken.
 *
 * @throws BgpMessageError where it can not be told which prefixes it is about
 */
export function decodeUpdate(body: Buffer, hasFourOctetAs: boolean): UpdateMessage {
  const reader = new ByteReader(body, malformedList)
  const withdrawn = decodePrefixes('ipv4', reader.part(reader.uint16()), badNetwork)
  const attributes = reader.part(reader.uint16())
  const found = decodeAttributes(attributes, hasFourOctetAs)
  const announced = decodePrefixes('ipv4', reader, badNetwork)
  return { type: 'update', withdrawn, announced, ...found }
}

function decodeAttributes(
  reader: ByteReader,
  hasFourOctetAs: boolean,
): Pick<UpdateMessage, 'path' | 'reachable' | 'unreachable' | 'malformed'> {
  const seen = new Set<number>()
  const malformed: number[] = []
  let path: Partial<PathAttributes> = {}
  let reachable: Reachable | undefined
  let unreachable: Unreachable | undefined
  while (reader.left > 0) {
    const { type, value } = nextAttribute(reader)
    if (value === undefined) {
      // What is behind it can not be found; of routes in an attribute that is cut, nobody knows which they are.
      if (type === attributeType.mpReach || type === attributeType.mpUnreach) throw malformedList()
      malformed.push(type)
      break
    }
    if (seen.has(type)) {
      // RFC 7606, section 3 g: of the others the first counts.
      if (type === attributeType.mpReach || type === attributeType.mpUnreach) throw malformedList()
      continue
    }
    seen.add(type)
    if (type === attributeType.mpReach) reachable = decodeReachable(value)
    else if (type === attributeType.mpUnreach) unreachable = decodeUnreachable(value)
    else {
      const decoder = attributeDecoders[type]
      if (decoder === undefined) continue
      const decoded = decoder(value, hasFourOctetAs)
      if (decoded === undefined) malformed.push(type)
      else path = { ...path, ...decoded }
    }
  }
  const { origin, asPath } = path
  const isComplete = origin !== undefined && asPath !== undefined
  return { path: isComplete ? { ...path, origin, asPath } : undefined, reachable, unreachable, malformed }
}

/** Cuts an attribute off, without its value where the list ends before it (RFC 7606, section 4); type 0 is none. */
function nextAttribute(reader: ByteReader): { readonly type: number; readonly value: Buffer | undefined } {
  const flags = reader.uint8()
  const type = reader.left > 0 ? reader.uint8() : 0
  const isLong = (flags & 0x10) !== 0
  if (reader.left < (isLong ? 2 : 1)) return { type, value: undefined }
  const length = isLong ? reader.uint16() : reader.uint8()
  return { type, value: length > reader.left ? undefined : reader.take(length) }
}

function encodeReachable({ family, nextHop, prefixes }: Reachable): Buffer {
  const hop = encodeAddress('next hop', nextHop)
  return Buffer.concat([
    ...[uint16(afiOf[family]), uint8(unicast), uint8(hop.length), hop, uint8(0)],
    ...prefixes.map(encodePrefix),
  ])
}

function decodeReachable(value: Buffer): Reachable | undefined {
  const reader = new ByteReader(value, badAttribute)
  const family = familyOfAfi(reader.uint16(), reader.uint8())
  const hop = reader.take(reader.uint8())
  reader.take(1)
  if (family === undefined) return undefined
  // An IPv6 next hop may have a link-local address behind the global one, and a VPN's would have eight bytes more.
  if (hop.length !== 4 && hop.length !== 16 && hop.length !== 32) throw badAttribute()
  const nextHop = decodeAddress(hop.subarray(0, Math.min(16, hop.length)))
  return { family, nextHop, prefixes: decodePrefixes(family, reader, badNetwork) }
}

function encodeUnreachable({ family, prefixes }: Unreachable): Buffer {
  return Buffer.concat([uint16(afiOf[family]), uint8(unicast), ...prefixes.map(encodePrefix)])
}

function decodeUnreachable(value: Buffer): Unreachable | undefined {
  const reader = new ByteReader(value, badAttribute)
  const family = familyOfAfi(reader.uint16(), reader.uint8())
  if (family === undefined) return undefined
  return { family, prefixes: decodePrefixes(family, reader, badNetwork) }
}

function malformedList(): BgpMessageError {
  return new BgpMessageError(errorCode.update, updateError.malformedAttributes)
}

function badAttribute(): BgpMessageError {
  return new BgpMessageError(errorCode.update, updateError.badAttributeLength)
}

function badNetwork(): BgpMessageError {
  return new BgpMessageError(errorCode.update, updateError.badNetwork)
}
