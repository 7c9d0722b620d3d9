/** The address families that are spoken: IPv4 and IPv6, unicast. */
export type AddressFamily = 'ipv4' | 'ipv6'

/** Numbers of families (RFC 4760), in network order: AFI. */
export const afiOf = { ipv4: 1, ipv6: 2 } as const satisfies Record<AddressFamily, number>

/** SAFI of unicast. */
export const unicast = 1

/** The family of the numbers of a message; `undefined` for one that is not spoken. */
export function familyOfAfi(afi: number, safi: number): AddressFamily | undefined {
  if (safi !== unicast) return undefined
  return afi === afiOf.ipv4 ? 'ipv4' : afi === afiOf.ipv6 ? 'ipv6' : undefined
}

/** Of an address or a prefix, as text. */
export function familyOfText(text: string): AddressFamily {
  return text.includes(':') ? 'ipv6' : 'ipv4'
}
