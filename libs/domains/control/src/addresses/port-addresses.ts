import { formatIp } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'

/**
 * Prints what a port sends from: its MAC address and its IP addresses, separated by blanks.
 *
 * @see ovn-nb(5), Logical_Switch_Port, addresses
 */
export function portAddresses(lease: Lease): string {
  return [lease.mac, lease.v4, lease.v6]
    .filter((address) => address !== undefined)
    .map((address) => (typeof address === 'string' ? address : formatIp(address)))
    .join(' ')
}
