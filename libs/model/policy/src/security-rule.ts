import type { Cidr, Family, Ip } from '@kube-ovn/ip'
import type { Transport } from '@kube-ovn/ovn-match'

/** What a rule of a security group does with the traffic that it is about. */
export type SecurityAction = 'allow-related' | 'drop' | 'pass'

/** First and last number that count. */
export type PortRange = readonly [from: number, to: number]

/** A rule of a security group, read. */
export interface SecurityRule {
  /** Where it stands, e.g. `spec.ingressRules[0]`. */
  readonly field: string
  readonly priority: number
  readonly action: SecurityAction
  readonly family: Family
  readonly remote:
    | { readonly kind: 'address'; readonly address: Ip | Cidr }
    | { readonly kind: 'group'; readonly group: string }
  /** Addresses of the port itself; absent for all. */
  readonly local: Ip | Cidr | undefined
  readonly traffic:
    | { readonly protocol: 'all' | 'icmp' }
    | { readonly protocol: Transport; readonly to: PortRange; readonly from: PortRange | undefined }
}
