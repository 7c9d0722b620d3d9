/** Priorities of Logical_Router_Policy rows, from the most to the least specific. */
export const routerPolicyPriority = {
  /** The destination is a subnet of the router: routed inside, never sent to a gateway. */
  subnetDestination: 31000,
  /** From an underlay subnet to itself, where its connection leads to overlay subnets alone. */
  underlayItself: 30060,
  /** Everything else that leaves such a subnet: by the gateway of the physical network. */
  underlayExit: 30050,
  /** The destination is a node's own address, or a node-local DNS address: by way of the node's join port. */
  nodeDestination: 30000,
  /** To or from an underlay subnet that is connected to the router: not sent to a gateway, or to Services by way of nodes. */
  interconnection: 29400,
  /** Everything else that leaves a pod with a gateway of its own. */
  podGateway: 29250,
  /** Everything else that leaves a subnet: by way of its gateway node. */
  subnetGateway: 29000,
} as const

/** Priorities of ACL rows. */
export const aclPriority = {
  /** Everything that comes into a private subnet. */
  privateDrop: 1000,
  /** What comes into it from itself, and from the prefixes that it allows. */
  privateAllow: 1001,
  /** From the nodes into a private subnet, and between a node and its own pods: probes. Above all that policies say. */
  nodes: 3000,
  /** Within a subnet whose own rules do not hold there. */
  eastWest: 1900,
  /** The port group of ports whose security groups allow nothing. */
  denyAll: 2003,
  /** What ports need to be reached at all, whatever their security groups say: ARP, neighbour discovery, DHCP, VRRP. */
  securityGroupBase: 2005,
  /** Between members of a security group, and past the rest of tier 2 for ports whose groups are all of tier 1. */
  sameSecurityGroup: 2004,
  /** A rule of a security group is as much below this as its own priority says. */
  securityGroupRules: 18484,
  /** What NetworkPolicies allow. */
  policyAllow: 2001,
  /** What pods that NetworkPolicies are for may not do. */
  policyDeny: 2000,
  /** The first rule of the first policy of an administrator; the others are below it. */
  adminPolicies: 30000,
  /** From a node to its own pods, where a policy of an administrator denies everybody: probes. */
  adminNodes: 30001,
  /** The first rule of an EgressFirewall; the others are below it. */
  firewallRules: 10000,
  /** Inside of the cluster, before these. */
  firewallInside: 10001,
  /** What nobody decides about, of pods with an EgressFirewall: OVN follows their connections. */
  followed: 1,
  /** The first rule of the policy that holds where no NetworkPolicy says anything. */
  baselinePolicy: 1800,
  /** What nobody says anything about in a tier, below all that somebody may say there: it is passed on to the next one. */
  passedOn: 0,
  /** The same for ports of a policy of an administrator, so that the rows are told from those of NetworkPolicies. */
  adminPassedOn: 1,
} as const

/** Tiers of ACL rows (ovn-nb(5), ACL, tier). A verdict in a lower tier ends the evaluation. */
export const aclTier = {
  /** Before everybody else: what it does not drop is theirs to decide. */
  firewall: 0,
  admin: 1,
  policy: 2,
  baseline: 3,
} as const
