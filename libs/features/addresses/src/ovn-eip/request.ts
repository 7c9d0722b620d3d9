import { refusalOf } from '@kube-ovn/errors'
import { formatIp, parseIpv4, parseIpv6, parseMac, tryParseIp, tryParseMac } from '@kube-ovn/ip'
import type { AllocateRequest, Lease } from '@kube-ovn/ipam'
import { ovnEipType, type OvnEip } from '@kube-ovn/kube-api'
import {
  addressesOfEip,
  askedSubnetOfEip,
  eipNic,
  eipOwner,
  requestOf,
  writtenTypeOfEip,
} from '@kube-ovn/domains-control/addresses'
import type { ControlSettings } from '@kube-ovn/domains-control'
import { OvnEipFixedError, OvnEipInvalidError } from './errors.ts'

/** Types that an OvnEip may be of. */
export type KnownEipType = (typeof ovnEipType)[keyof typeof ovnEipType]

const knownTypes: readonly string[] = Object.values(ovnEipType)

function isKnownType(type: string): type is KnownEipType {
  return knownTypes.includes(type)
}

/** The type that an OvnEip is of: the one that it had when it got its addresses, or else the one it asks for. */
export function eipTypeOf(eip: OvnEip): KnownEipType {
  const value = writtenTypeOfEip(eip) || ovnEipType.nat
  if (isKnownType(value)) return value
  const cure = `write ${ovnEipType.nat}, ${ovnEipType.routerPort} or ${ovnEipType.nodePort}`
  throw new OvnEipInvalidError({ eip: eip.metadata.name, field: 'spec.type', value, cure })
}

/**
 * Says what to ask for: exactly what the OvnEip had, or else what its specification names; the rest is drawn.
 *
 * @throws OvnEipInvalidError that names the field
 */
export function eipRequest(eip: OvnEip): Omit<AllocateRequest, 'subnet'> {
  const { metadata, spec } = eip
  const { name } = metadata
  const base = { nic: eipNic(name), owner: eipOwner(name) }
  const had = addressesOfEip(eip)
  if (had !== undefined) return { ...base, ...requestOf(had) }
  const asked = <T>(field: string, value: string | undefined, parse: (text: string) => T): T | undefined => {
    if (value === undefined || value === '') return undefined
    try {
      return parse(value)
    } catch (error) {
      throw new OvnEipInvalidError({ eip: name, ...refusalOf(error), field, value }, { cause: error })
    }
  }
  const v4 = asked('spec.v4Ip', spec?.v4Ip, (text) => parseIpv4(text))
  const v6 = asked('spec.v6Ip', spec?.v6Ip, (text) => parseIpv6(text))
  const mac = asked('spec.macAddress', spec?.macAddress, (text) => parseMac(text))
  return { ...base, ...(v4 === undefined && v6 === undefined ? {} : { static: { v4, v6 } }), mac }
}

/** Finds what was changed in the specification of an OvnEip that has its addresses; it keeps what it has. */
export function eipChange(
  eip: OvnEip,
  lease: Lease,
  type: string | undefined,
  settings: ControlSettings,
): OvnEipFixedError | undefined {
  const { metadata, spec = {} } = eip
  const facts: readonly (readonly [field: string, asked: string | undefined, has: string | undefined])[] = [
    ['spec.externalSubnet', askedSubnetOfEip(eip, { settings }), lease.subnet],
    ['spec.type', spec.type, type],
    ['spec.v4Ip', inCanon(spec.v4Ip), lease.v4 === undefined ? undefined : formatIp(lease.v4)],
    ['spec.v6Ip', inCanon(spec.v6Ip), lease.v6 === undefined ? undefined : formatIp(lease.v6)],
    ['spec.macAddress', tryParseMac(spec.macAddress ?? '') ?? spec.macAddress, lease.mac],
  ]
  // What is empty is filled in.
  const wrong = facts.find(([, asked = '', has]) => asked !== '' && asked !== has)
  if (wrong === undefined) return undefined
  const [field, value = '', has = ''] = wrong
  return new OvnEipFixedError({ eip: metadata.name, field, value, has })
}

function inCanon(text: string | undefined): string | undefined {
  const ip = tryParseIp(text ?? '')
  return ip === undefined ? text : formatIp(ip)
}
