import { formatIp, type DualStackIp, type Family } from '@kube-ovn/ip'
import { nodePortName } from '@kube-ovn/ovn-names'
import type { ControlWorld } from '../world.ts'

/** A node's address in the nodes' own subnet. */
export function joinAddress(
  node: string,
  family: Family,
  { ipam }: Pick<ControlWorld, 'ipam'>,
): string | undefined {
  return leasedAddress(ipam.lease(nodePortName(node)), family)
}

/** The address of a family that somebody has, as text. */
export function leasedAddress(lease: DualStackIp | undefined, family: Family): string | undefined {
  const address = family === 4 ? lease?.v4 : lease?.v6
  return address === undefined ? undefined : formatIp(address)
}
