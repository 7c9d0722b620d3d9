import type { Family } from '@kube-ovn/ip'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import { rowTable } from '@kube-ovn/tables'
import { subnets } from '../sources.ts'
import { aspectOf } from './aspect.ts'
import { parseDhcpOptions, type DhcpOptions } from './dhcp-options.ts'
import { inSubnet } from './errors.ts'

/** What users say of the answers to requests of a Subnet's ports, by family. */
export type DhcpWishes = Readonly<Record<Family, DhcpOptions>>

/**
 * Reads what is answered by DHCP; nothing where it is off.
 *
 * @throws SubnetInvalidError
 */
export function resolveDhcp(subnet: string, spec: SubnetSpec): DhcpWishes | undefined {
  if (spec.enableDHCP !== true) return undefined
  const { dhcpV4Options: v4 = '', dhcpV6Options: v6 = '' } = spec
  return inSubnet(subnet, () => ({
    4: parseDhcpOptions(v4, 4, 'spec.dhcpV4Options'),
    6: parseDhcpOptions(v6, 6, 'spec.dhcpV6Options'),
  }))
}

/** What Subnets answer by DHCP, of those that do. */
export const dhcps = rowTable({ name: 'dhcps', of: subnets, row: aspectOf(resolveDhcp) })
