import { refusalOf } from '@kube-ovn/errors'
import { familyOf, formatIp, parseIpv4, parseIpv6, parseMac, tryParseMac } from '@kube-ovn/ip'
import type { Ip } from '@kube-ovn/ip'
import type { AllocateRequest, Lease } from '@kube-ovn/ipam'
import { vipType, type Vip } from '@kube-ovn/kube-api'
import {
  addressesOfVip,
  readAddresses,
  requestOf,
  vipNic,
  vipOwner,
  writtenTypeOfVip,
} from '@kube-ovn/domains-control/addresses'
import { VipFixedError, VipInvalidError } from './errors.ts'

/** Types that a Vip may be of. */
export type KnownVipType = (typeof vipType)[keyof typeof vipType]

const knownTypes: readonly string[] = Object.values(vipType)

function isKnownType(type: string): type is KnownVipType {
  return knownTypes.includes(type)
}

/** The type that a Vip is of: the one that it had when it got its addresses, or else the one it asks for. */
export function typeOf(vip: Vip): KnownVipType {
  const value = writtenTypeOfVip(vip)
  if (isKnownType(value)) return value
  throw new VipInvalidError({
    vip: vip.metadata.name,
    field: 'spec.type',
    value,
    cure: `write ${vipType.switchLb} or ${vipType.hostVm}, or leave it empty`,
  })
}

/**
 * Says what to ask for: exactly what the Vip had, or else what its specification names; the rest is drawn.
 *
 * @throws VipInvalidError that names the field
 */
export function requestFor(vip: Vip, type: KnownVipType): Omit<AllocateRequest, 'subnet'> {
  const { metadata, spec } = vip
  const { name } = metadata
  const base = { nic: vipNic(name), owner: vipOwner(name) }
  // Its MAC address is the router's.
  const hasOwnMac = type !== vipType.switchLb
  const had = addressesOfVip(vip)
  if (had !== undefined) {
    const request = requestOf(had)
    return { ...base, ...request, mac: hasOwnMac ? request.mac : false }
  }
  const v4 = named(name, 'spec.v4ip', spec?.v4ip, parseIpv4)
  const v6 = named(name, 'spec.v6ip', spec?.v6ip, parseIpv6)
  const mac = named(name, 'spec.macAddress', spec?.macAddress, parseMac)
  return {
    ...base,
    ...(v4 === undefined && v6 === undefined ? {} : { static: { v4, v6 } }),
    mac: hasOwnMac ? mac : false,
  }
}

function named<T>(
  vip: string,
  field: string,
  value: string | undefined,
  parse: (text: string, field: string) => T,
): T | undefined {
  if (value === undefined || value === '') return undefined
  try {
    return parse(value, field)
  } catch (error) {
    throw new VipInvalidError({ vip, ...refusalOf(error), field, value }, { cause: error })
  }
}

/** Finds what was changed in the specification of a Vip that has its addresses; it keeps what it has. */
export function changeOf(vip: Vip, lease: Lease): VipFixedError | undefined {
  const { metadata, spec = {}, status = {} } = vip
  const given = (ip: Ip | undefined): string => (ip === undefined ? '' : formatIp(ip))
  const type = status.type ?? ''
  const facts: readonly (readonly [string, string | undefined, string])[] = [
    ['spec.subnet', spec.subnet, lease.subnet],
    ['spec.v4ip', spec.v4ip, given(lease.v4)],
    ['spec.v6ip', canonical(spec.v6ip), given(lease.v6)],
    ['spec.macAddress', tryParseMac(spec.macAddress ?? '') ?? spec.macAddress, lease.mac ?? ''],
  ]
  const wrong = facts.find(([field, value = '', has]) => {
    // What is empty is filled in, and the MAC address of the router is nobody's to choose.
    if (value === '' || value === has) return false
    return field !== 'spec.macAddress' || lease.mac !== undefined
  })
  if (wrong !== undefined) {
    const [field, value = '', has] = wrong
    return new VipFixedError({ vip: metadata.name, field, value, has })
  }
  // Before the first status is written, the type is what the specification says.
  return addressesOfVip(vip) === undefined || (spec.type ?? '') === type
    ? undefined
    : new VipFixedError({ vip: metadata.name, field: 'spec.type', value: spec.type ?? '', has: type })
}

function canonical(text: string | undefined): string | undefined {
  const read = readAddresses([text], undefined)?.addresses
  const ip = read?.v4 ?? read?.v6
  return ip === undefined || familyOf(ip) === 4 ? text : formatIp(ip)
}
