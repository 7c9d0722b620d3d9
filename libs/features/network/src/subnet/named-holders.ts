import type { ControlWorld } from '@kube-ovn/domains-control'

/** How many holders are named; the others are as good as these to find out why. */
const namedHolders = 3

/** Names who has addresses, in one line however many there are. */
export function nameHolders(holders: readonly string[]): string {
  const named = holders.slice(0, namedHolders).join(', ')
  return holders.length > namedHolders ? `${named} and others` : named
}

/** Who has addresses of a subnet, in alphabetical order. */
export function ownersIn(subnet: string, ipam: Pick<ControlWorld['ipam'], 'leases'>): readonly string[] {
  return [...new Set([...ipam.leases(subnet)].map(({ owner }) => owner))].sort()
}
