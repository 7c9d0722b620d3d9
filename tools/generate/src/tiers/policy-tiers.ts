import { aclPriority, aclTier } from '@kube-ovn/ovn-names'

/** Rules that stand together in a tier. */
export interface TierRow {
  /** Priority of an ACL of the first of them. */
  readonly first: number
  /** What the priority of an object takes off of it. */
  readonly less?: string
  readonly rules: string
}

export interface PolicyTier {
  readonly tier: number
  readonly title: string
  readonly rows: readonly TierRow[]
}

const { adminPolicies, baselinePolicy, securityGroupRules } = aclPriority

/** The rules of all policies, in the order in which they are asked. */
export const policyTiers: readonly PolicyTier[] = [
  tierOf(aclTier.firewall, 'first, outside', [
    { first: aclPriority.firewallInside, rules: 'inside of the cluster: passed on' },
    { first: aclPriority.firewallRules, rules: 'EgressFirewall passes on, or denies' },
  ]),
  tierOf(aclTier.admin, 'next', [
    { first: aclPriority.adminNodes, rules: 'a node to its own Pods' },
    { first: adminPolicies, less: '100 p', rules: 'AdminNetworkPolicy' },
    { first: adminPolicies, less: '25 p', rules: 'ClusterNetworkPolicy, tier Admin' },
  ]),
  tierOf(aclTier.policy, 'then', [
    { first: securityGroupRules, less: 'p', rules: 'SecurityGroup, tier 0' },
    { first: aclPriority.nodes, rules: 'a node and its own Pods' },
    { first: aclPriority.nodes, rules: 'join network to a private Subnet' },
    { first: aclPriority.securityGroupBase, rules: 'ARP, DHCP … of security groups' },
    { first: aclPriority.sameSecurityGroup, rules: 'members of a security group' },
    { first: aclPriority.denyAll, rules: 'other traffic of security groups' },
    { first: aclPriority.policyAllow, rules: 'NetworkPolicy allows' },
    { first: aclPriority.policyDeny, rules: 'NetworkPolicy denies' },
    { first: aclPriority.eastWest, rules: 'allowEWTraffic of a Subnet' },
    { first: aclPriority.privateAllow, rules: 'allowSubnets of a private Subnet' },
    { first: aclPriority.privateDrop, rules: 'other traffic to it' },
  ]),
  tierOf(aclTier.baseline, 'at last', [
    { first: adminPolicies, less: '25 p', rules: 'ClusterNetworkPolicy, tier Baseline' },
    { first: securityGroupRules, less: 'p', rules: 'SecurityGroup, tier 1' },
    { first: aclPriority.securityGroupBase, rules: 'ARP, DHCP … of security groups' },
    { first: aclPriority.sameSecurityGroup, rules: 'members of a security group' },
    { first: aclPriority.denyAll, rules: 'other traffic of security groups' },
    { first: baselinePolicy, rules: 'BaselineAdminNetworkPolicy' },
    { first: aclPriority.followed, rules: 'Pods with an EgressFirewall: answers' },
  ]),
]

function tierOf(tier: number, when: string, rows: readonly TierRow[]): PolicyTier {
  return { tier, title: `tier ${tier}, asked ${when}`, rows: rows.toSorted((a, b) => b.first - a.first) }
}
