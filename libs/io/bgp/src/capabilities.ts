import { afiOf, familyOfAfi, unicast, type AddressFamily } from './address-family.ts'
import { uint16, uint32, uint8, type ByteReader } from './byte-reader.ts'

/** Codes of capabilities (RFC 5492 and its registry). */
const code = {
  multiprotocol: 1,
  routeRefresh: 2,
  extendedNextHop: 5,
  gracefulRestart: 64,
  fourOctetAs: 65,
} as const

/** What is said about restarts (RFC 4724). */
interface GracefulRestart {
  /** Whether who says it has just been restarted, and waits for nobody's end of RIB. */
  readonly isRestarting: boolean
  /** How long its routes are to be kept after the connection is gone, 0 to 4095 s. */
  readonly timeS: number
  /** The families for which it can restart, and whether packets went on meanwhile. */
  readonly families: ReadonlyMap<AddressFamily, { readonly keptForwarding: boolean }>
}

/** What a speaker says in its OPEN that it can do. */
export interface Capabilities {
  /** Which of the families that there are here it speaks (RFC 4760); `undefined` where it says nothing of families at all. */
  readonly families: readonly AddressFamily[] | undefined
  readonly routeRefresh: boolean
  /** Whether it takes IPv4 routes with IPv6 next hops (RFC 8950). */
  readonly extendedNextHop: boolean
  /** Its AS number where it knows numbers of four bytes (RFC 6793). */
  readonly fourOctetAs: number | undefined
  readonly gracefulRestart: GracefulRestart | undefined
}

export const noCapabilities: Capabilities = {
  families: undefined,
  routeRefresh: false,
  extendedNextHop: false,
  fourOctetAs: undefined,
  gracefulRestart: undefined,
}

/** The families that a speaker speaks: IPv4 where it knows of none. */
export function familiesOf({ families }: Pick<Capabilities, 'families'>): readonly AddressFamily[] {
  return families ?? ['ipv4']
}

/** The list of capabilities as it stands in the parameter of an OPEN. */
export function encodeCapabilities(capabilities: Capabilities): Buffer {
  const { families, routeRefresh, extendedNextHop, fourOctetAs, gracefulRestart } = capabilities
  return Buffer.concat([
    ...(families ?? []).map((family) =>
      capability(code.multiprotocol, uint16(afiOf[family]), uint8(0), uint8(unicast)),
    ),
    ...(routeRefresh ? [capability(code.routeRefresh)] : []),
    ...(extendedNextHop
      ? [capability(code.extendedNextHop, uint16(afiOf.ipv4), uint16(unicast), uint16(afiOf.ipv6))]
      : []),
    ...(gracefulRestart === undefined ? [] : [encodeGracefulRestart(gracefulRestart)]),
    ...(fourOctetAs === undefined ? [] : [capability(code.fourOctetAs, uint32(fourOctetAs))]),
  ])
}

/**
 * Reads a list of capabilities. Those of a wrong length count as not being there, as those do that nobody here knows; one that is said
 * twice counts as often where that makes a difference (RFC 5492, section 4).
 *
 * @throws the error of the reader for one that is longer than the list
 */
export function decodeCapabilities(reader: ByteReader): Capabilities {
  let families: ReadonlySet<AddressFamily> | undefined
  let found = noCapabilities
  while (reader.left > 0) {
    const number = reader.uint8()
    const value = reader.part(reader.uint8())
    if (number === code.multiprotocol && value.left === 4) {
      const afi = value.uint16()
      value.take(1)
      const family = familyOfAfi(afi, value.uint8())
      families = new Set([...(families ?? []), ...(family === undefined ? [] : [family])])
    } else if (number === code.routeRefresh && value.left === 0) found = { ...found, routeRefresh: true }
    else if (number === code.extendedNextHop && value.left % 6 === 0)
      found = { ...found, extendedNextHop: found.extendedNextHop || hasExtendedNextHop(value) }
    else if (number === code.fourOctetAs && value.left === 4)
      found = { ...found, fourOctetAs: value.uint32() }
    else if (number === code.gracefulRestart && value.left >= 2 && (value.left - 2) % 4 === 0)
      found = { ...found, gracefulRestart: decodeGracefulRestart(value) }
  }
  return { ...found, families: families && [...families] }
}

function capability(number: number, ...value: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(value)
  return Buffer.concat([uint8(number), uint8(bytes.length), bytes])
}

function encodeGracefulRestart({ isRestarting, timeS, families }: GracefulRestart): Buffer {
  return capability(
    code.gracefulRestart,
    uint16((isRestarting ? 0x8000 : 0) | (timeS & 0xfff)),
    ...[...families].flatMap(([family, { keptForwarding }]) => [
      uint16(afiOf[family]),
      uint8(unicast),
      uint8(keptForwarding ? 0x80 : 0),
    ]),
  )
}

function decodeGracefulRestart(value: ByteReader): GracefulRestart {
  const first = value.uint16()
  const families = new Map<AddressFamily, { readonly keptForwarding: boolean }>()
  while (value.left > 0) {
    const family = familyOfAfi(value.uint16(), value.uint8())
    const flags = value.uint8()
    if (family !== undefined) families.set(family, { keptForwarding: (flags & 0x80) !== 0 })
  }
  return { isRestarting: (first & 0x8000) !== 0, timeS: first & 0xfff, families }
}

function hasExtendedNextHop(value: ByteReader): boolean {
  let isThere = false
  while (value.left > 0) {
    const [afi, safi, nextHop] = [value.uint16(), value.uint16(), value.uint16()]
    isThere ||= afi === afiOf.ipv4 && safi === unicast && nextHop === afiOf.ipv6
  }
  return isThere
}
