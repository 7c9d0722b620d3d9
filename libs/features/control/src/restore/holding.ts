import type { AddressRecord } from '@kube-ovn/ipam'

/** A record of addresses, and where it was found. */
export interface Holding extends AddressRecord {
  readonly source: 'IP object' | 'Pod' | 'Node' | 'Vip' | 'logical switch port'
}
