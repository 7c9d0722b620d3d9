export {
  compareIps,
  familyOf,
  formatIp,
  ipBytes,
  isIpv4,
  isIpv6,
  offsetIp,
  parseIp,
  parseIpv4,
  parseIpv6,
  tryParseIp,
  tryParseIpv4,
  tryParseIpv6,
  urlHost,
} from './address.ts'
export type { Family, Ip, Ipv4, Ipv6 } from './address.ts'
export { AddressList } from './address-list.ts'
export type { AddressSpan } from './address-list.ts'
export { ipv4Space, ipv6Space } from './address-space.ts'
export type { AddressSpace } from './address-space.ts'
export {
  blockRange,
  cidrOf,
  cidrText,
  contains,
  firstAddress,
  lastAddress,
  networkText,
  overlaps,
  parseCidr,
  sameNetwork,
  tryParseCidr,
  usableCount,
  usableRange,
} from './cidr.ts'
export type { Cidr, CidrV4, CidrV6, IpRange } from './cidr.ts'
export { CidrIndex } from './cidr-index.ts'
export { formatCidrList, formatIpList, parseCidrList, parseIpList } from './dual-stack.ts'
export type { DualStack, DualStackCidr, DualStackIp } from './dual-stack.ts'
export * from './errors.ts'
export { formatMac, linkLocalOf, localMac, macBytes, macFromName, parseMac, tryParseMac } from './mac.ts'
export type { Mac } from './mac.ts'
export { RangeSet } from './range-set.ts'
export {
  checkLength,
  isIpv4Range,
  mostEntries,
  parseIpRange,
  parseRangeSets,
  tryParseIpRange,
} from './range-text.ts'
export type { RangeSets } from './range-text.ts'
