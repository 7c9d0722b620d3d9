import type { FixedSource, SubnetNatRules } from '../subnet-facts.ts'

/** What the node's packet filter depends on. Prefixes and addresses are text of both families. */
export interface HostFirewallSnapshot {
  /** Prefixes of overlay subnets of the default VPC. */
  readonly subnets: readonly string[]
  /** Those of them whose traffic to the outside gets the node's address. */
  readonly natOutgoing: readonly string[]
  /** Exceptions to that, by subnet. */
  readonly natRules: readonly SubnetNatRules[]
  /** What leaves the cluster from here with an address of its own. */
  readonly fixedSources: readonly FixedSource[]
  /** Prefixes of Service addresses. */
  readonly services: readonly string[]
  /** Addresses of all other nodes. */
  readonly otherNodes: readonly string[]
  /** This node's own addresses, at most one of each family. */
  readonly nodeAddresses: readonly string[]
}
