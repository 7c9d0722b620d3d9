import { RangeSet, type AddressSpace, type Ip, type IpRange } from '@kube-ovn/ip'

/** What a subnet offers in one family. Never changes; a change of the subnet makes a new one. */
export interface FamilyLayout<A extends Ip> {
  readonly space: AddressSpace<A>
  /** As a user writes it, for messages. */
  readonly cidr: string
  /** All addresses of the CIDR. */
  readonly block: IpRange<A>
  /** What ports may have. */
  readonly usable: RangeSet<A>
  /** Usable addresses that are not drawn: the excluded ones and the gateway. */
  readonly reserved: RangeSet<A>
  readonly gateway: A | undefined
}

/** Lays out one family; what lies outside the usable range is clipped. */
export function layOut<A extends Ip>(
  space: AddressSpace<A>,
  cidr: string,
  block: IpRange<A>,
  usable: IpRange<A>,
  gateway: A | undefined,
  excluded: readonly IpRange<A>[],
): FamilyLayout<A> {
  const usableSet = RangeSet.in(space, [usable])
  const reserved = RangeSet.in(space, excluded)
  if (gateway !== undefined) reserved.add(gateway)
  return { space, cidr, block, usable: usableSet, reserved: reserved.intersect(usableSet), gateway }
}

export function sameLayout<A extends Ip>(a: FamilyLayout<A>, b: FamilyLayout<A>): boolean {
  return (
    a.block.first === b.block.first &&
    a.block.last === b.block.last &&
    a.gateway === b.gateway &&
    a.reserved.equals(b.reserved)
  )
}
