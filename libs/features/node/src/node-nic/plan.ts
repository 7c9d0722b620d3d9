import type { AddressInfo } from '@kube-ovn/netlink'

/** What has to be done to the addresses of a link. */
export interface AddressPlan {
  readonly add: readonly string[]
  readonly remove: readonly string[]
}

/** Compares addresses. Link-local ones that are not wanted stay: the kernel makes them, and they hurt nobody. */
export function planAddresses(wanted: readonly string[], actual: readonly AddressInfo[]): AddressPlan {
  const present = new Set(actual.filter((address) => !address.isDuplicate).map((address) => address.cidr))
  return {
    add: wanted.filter((cidr) => !present.has(cidr)),
    remove: actual
      .map((address) => address.cidr)
      .filter((cidr) => !wanted.includes(cidr) && !cidr.startsWith('fe80:') && !cidr.startsWith('169.254.')),
  }
}
