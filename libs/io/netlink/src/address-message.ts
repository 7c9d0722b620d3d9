import { attribute, parseAttributes, readText, u32 } from './attributes.ts'
import { addressFamily, decodeAddress, encodeAddress, encodePrefix, familyOf } from './inet.ts'
import { routeScope } from './numbers.ts'
import type { AddressInfo, AddressRequest } from './types.ts'

/** RTM_* of linux/rtnetlink.h. */
export const addressType = { created: 20, removed: 21, get: 22 } as const

/** IFA_* of linux/if_addr.h. */
const ifa = { address: 1, local: 2, label: 3, broadcast: 4, flags: 8 } as const

/** IFA_F_* of linux/if_addr.h. */
const addressFlag = {
  noDad: 0x02,
  dadFailed: 0x08,
  tentative: 0x40,
  permanent: 0x80,
  noPrefixRoute: 0x200,
} as const

const headerBytes = 8

export function encodeAddressList(index: number): Buffer {
  return addressHeader(0, 0, 0, index)
}

export function encodeAddressRequest(index: number, cidr: string, options: AddressRequest): Buffer {
  const { family, address, length } = encodePrefix('cidr', cidr)
  const flags =
    (options.noDad === true && family === 'ipv6' ? addressFlag.noDad : 0) |
    (options.noPrefixRoute === true ? addressFlag.noPrefixRoute : 0)
  return Buffer.concat([
    addressHeader(addressFamily[family], length, options.scope ?? defaultScope(address), index),
    attribute(ifa.local, address),
    attribute(ifa.address, address),
    ...(flags === 0 ? [] : [attribute(ifa.flags, u32(flags))]),
    ...(options.broadcast === undefined
      ? []
      : [attribute(ifa.broadcast, encodeAddress('broadcast', options.broadcast))]),
  ])
}

export function encodeAddressRemoval(index: number, cidr: string): Buffer {
  const { family, address, length } = encodePrefix('cidr', cidr)
  return Buffer.concat([
    addressHeader(addressFamily[family], length, 0, index),
    attribute(ifa.local, address),
    attribute(ifa.address, address),
  ])
}

/** Reads a struct ifaddrmsg and its attributes; `undefined` for families other than IPv4 and IPv6. */
export function parseAddress(body: Buffer): AddressInfo | undefined {
  const family = familyOf(body.readUInt8(0))
  const found = parseAttributes(body.subarray(headerBytes))
  const address = found.get(ifa.address)
  // IPv6 names the local address only on point-to-point links; on those IFA_ADDRESS is the other end.
  const local = found.get(ifa.local) ?? address
  if (family === undefined || local === undefined) return undefined
  const flags = found.get(ifa.flags)?.readUInt32LE(0) ?? body.readUInt8(2)
  const broadcast = found.get(ifa.broadcast)
  const label = found.get(ifa.label)
  return {
    family,
    index: body.readUInt32LE(4),
    cidr: `${decodeAddress(local)}/${body.readUInt8(1)}`,
    scope: body.readUInt8(3),
    flags,
    isTentative: (flags & addressFlag.tentative) !== 0,
    isDuplicate: (flags & addressFlag.dadFailed) !== 0,
    isPermanent: (flags & addressFlag.permanent) !== 0,
    ...(address === undefined || address.equals(local) ? {} : { peer: decodeAddress(address) }),
    ...(broadcast === undefined ? {} : { broadcast: decodeAddress(broadcast) }),
    ...(label === undefined ? {} : { label: readText(label) }),
  }
}

/** struct ifaddrmsg: family, prefix length, flags, scope, index. */
function addressHeader(family: number, length: number, scope: number, index: number): Buffer {
  const bytes = Buffer.alloc(headerBytes)
  bytes.writeUInt8(family, 0)
  bytes.writeUInt8(length, 1)
  bytes.writeUInt8(scope, 3)
  bytes.writeUInt32LE(index, 4)
  return bytes
}

/** The scope that ip(8) chooses. IPv6 finds its own. */
function defaultScope(address: Buffer): number {
  return address.length === 4 && address[0] === 127 ? routeScope.host : routeScope.universe
}
