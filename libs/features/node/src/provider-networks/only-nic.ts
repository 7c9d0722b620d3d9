import type { HostLink } from '../host-links.ts'
import type { VlanChoice } from './snapshot.ts'

type Link = Pick<HostLink, 'index' | 'name' | 'addresses' | 'defaultRoutes' | 'vlanOf'>

/** A NIC that is to be connected, with the VLAN interfaces of it that go along. */
interface Moved {
  readonly nic: Link | undefined
  readonly vlans: Pick<VlanChoice, 'preservesAll' | 'named'>
}

/**
 * Families in which a node would reach nobody, or be reached by nobody, without this NIC: the node's address or a default route is on it, and no
 * default route leads by another one.
 */
export function missedWithout(
  { nic, vlans }: Moved,
  links: readonly Link[],
  nodeAddresses: readonly string[],
): readonly string[] {
  if (nic === undefined) return []
  const isMoved = (link: Link): boolean =>
    link.index === nic.index ||
    (link.vlanOf === nic.index && (vlans.preservesAll || vlans.named.includes(link.name)))
  // VLAN interfaces that stay are of no use without the NIC either.
  const others = links.filter((link) => link.index !== nic.index && link.vlanOf !== nic.index)
  const moved = links.filter(isMoved)
  const own = moved
    .flatMap(({ addresses }) => addresses.map(withoutLength))
    .filter((address) => nodeAddresses.includes(address))
  return families
    .filter(
      ({ family, isOf }) =>
        (own.some(isOf) || moved.some(({ defaultRoutes }) => defaultRoutes.includes(family))) &&
        !others.some(({ defaultRoutes }) => defaultRoutes.includes(family)),
    )
    .map(({ name }) => name)
}

const families = [
  { family: 'ipv4', name: 'IPv4', isOf: (address: string) => !address.includes(':') },
  { family: 'ipv6', name: 'IPv6', isOf: (address: string) => address.includes(':') },
] as const

function withoutLength(cidr: string): string {
  return cidr.split('/')[0] ?? ''
}
