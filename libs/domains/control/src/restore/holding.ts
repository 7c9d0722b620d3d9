import type { AddressRecord } from '@kube-ovn/ipam'

/** A record of addresses, and where it was found. */
export interface Holding extends AddressRecord {
  readonly source: 'IP object' | 'Pod' | 'Node' | 'Vip' | 'OvnEip' | 'logical switch port'
  /** Somebody asks for the addresses in an IP object that was never granted: all others come before it. */
  readonly isAsked?: boolean
}
