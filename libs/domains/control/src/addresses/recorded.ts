import { hasControllerFinalizer, ipLabel } from '@kube-ovn/annotations'
import { familyOf, tryParseIp, tryParseMac } from '@kube-ovn/ip'
import type { DualStackIp, Ip as Address, Mac } from '@kube-ovn/ip'
import type { AllocateRequest } from '@kube-ovn/ipam'
import type { Ip } from '@kube-ovn/kube-api'

/** Addresses that somebody wrote down. */
export interface RecordedAddresses {
  readonly addresses: DualStackIp
  readonly mac: Mac | undefined
}

/** Reads what was written down; `undefined` when there is no address in it. What is malformed does not count. */
export function readAddresses(
  texts: readonly (string | undefined)[],
  mac: string | undefined,
): RecordedAddresses | undefined {
  const ips = texts.flatMap((text) => tryParseIp(text ?? '') ?? [])
  if (ips.length === 0) return undefined
  return { addresses: byFamily(ips), mac: tryParseMac(mac ?? '') }
}

function byFamily(ips: readonly Address[]): DualStackIp {
  const v4 = ips.find((ip) => typeof ip === 'number')
  const v6 = ips.find((ip) => typeof ip === 'bigint')
  return { v4, v6 }
}

/** Asks for exactly these addresses: where there is one of one family only, none of the other is drawn. */
export function requestOf({
  addresses,
  mac,
}: RecordedAddresses): Pick<AllocateRequest, 'static' | 'mac' | 'family'> {
  const [first, second] = [addresses.v4, addresses.v6].filter((address) => address !== undefined)
  const family = first === undefined || second !== undefined ? undefined : familyOf(first)
  return { static: addresses, mac, family }
}

/** Reads the addresses of an IP object. */
export function addressesOf({ spec }: Ip): RecordedAddresses | undefined {
  return readAddresses([spec?.v4IpAddress, spec?.v6IpAddress], spec?.macAddress)
}

/**
 * Whether a user made the IP object, to reserve addresses for a pod: it outlives that pod.
 *
 * Ours say `ip_reserved: "false"` from the beginning. One without the label that was never granted is new.
 */
export function isReservation(ip: Ip): boolean {
  const label = ip.metadata.labels?.[ipLabel.isReserved]
  return label === undefined ? !isGranted(ip) : label === 'true'
}

/** Whether a controller has given the addresses: it holds the IP object by a finalizer since. */
export function isGranted({ metadata }: Ip): boolean {
  return hasControllerFinalizer(metadata.finalizers)
}
