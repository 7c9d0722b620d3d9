/** Gives the names of rows. They are a contract with the data path, with other tools and with upstream. */

/** Names of port groups and address sets may not hold a dash, since matches refer to them. */
function dotted(name: string): string {
  return name.replaceAll('-', '.')
}

export function routerPortName(vpc: string, subnet: string): string {
  return `${vpc}-${subnet}`
}

/** The port of a VPC's router to the router of another VPC. */
export function peerRouterPortName(vpc: string, remote: string): string {
  return `${vpc}-${remote}`
}

const bfdPortPrefix = 'bfd@'

/** The port of a VPC's router that is but the source of BFD sessions; also the name of the group of nodes that may host it. */
export function bfdPortName(vpc: string): string {
  return `${bfdPortPrefix}${vpc}`
}

export function isBfdPortName(name: string): boolean {
  return name.startsWith(bfdPortPrefix)
}

/** The switch's end of the connection to the router. */
export function switchRouterPortName(subnet: string, vpc: string): string {
  return `${subnet}-${vpc}`
}

/** The switch's port to the physical network. */
export function localnetPortName(subnet: string): string {
  return `localnet.${subnet}`
}

/** The port that stands for the source of a subnet's multicast queries; also the name of its IP object. */
export function querierPortName(subnet: string): string {
  return `mcast-querier.${subnet}`
}

/** The IP object of an underlay subnet's connection to the router of its VPC. */
export function interconnectionName(vpc: string, subnet: string): string {
  return `u2o-interconnection.${vpc}.${subnet}`
}

/** Whether this may be the IP object of a connection of the subnet, whichever its VPC. */
export function isInterconnectionName(name: string, subnet: string): boolean {
  return name.startsWith('u2o-interconnection.') && name.endsWith(`.${subnet}`)
}

/**
 * A pod's port in one of its networks; it is also the node agent's `iface-id` and the name of the IP object.
 *
 * @param provider of a further network; that of the first one is not part of the name
 */
export function podPortName(namespace: string, pod: string, provider = 'ovn'): string {
  return provider === 'ovn' ? `${pod}.${namespace}` : `${pod}.${namespace}.${provider}`
}

/** The other way round: the provider of the network in which a pod has a port. */
export function podPortProvider(namespace: string, pod: string, port: string): string {
  return port.slice(podPortName(namespace, pod).length + 1) || 'ovn'
}

export function nodePortName(node: string): string {
  return `node-${node}`
}

/**
 * The port of a Vip that has one of its own.
 *
 * @param namespace of the Vip's specification; empty where it has none
 * @param provider of the subnet; that of the first network is not part of the name
 */
export function vipPortName(namespace: string, vip: string, provider = 'ovn'): string {
  return podPortName(namespace, vip, provider)
}

/** The virtual port of an address of a subnet that its ports may take in turns. */
export function subnetVipPortName(subnet: string, address: string): string {
  return `${subnet}-vip-${address}`
}

/** Holds the addresses of an IPPool. */
export function ipPoolAddressSetName(pool: string): string {
  return dotted(pool)
}

/** Holds the ports of all pods of a node. */
export function nodePortGroupName(node: string): string {
  return dotted(`node.${node}`)
}

/** Holds the ports of the pods of a subnet with a distributed gateway that run on a node. */
export function subnetNodePortGroupName(subnet: string, node: string): string {
  return dotted(`${subnet}.${node}`)
}

export const denyAllSecurityGroup = 'kubeovn_deny_all'

/** Stands for the ports all of whose security groups are of tier 1. No SecurityGroup can be called so. */
export const baselineSecurityGroup = 'kubeovn_baseline'

const securityGroupPrefix = 'ovn.sg.'

/** Holds the ports that are in a security group. */
export function securityGroupPortGroupName(securityGroup: string): string {
  return dotted(`${securityGroupPrefix}${securityGroup}`)
}

/** Whether a port group may be that of a security group, by its name. */
export function isSecurityGroupPortGroup(name: string): boolean {
  return name.startsWith(securityGroupPrefix)
}

/** Holds the addresses of the ports in a security group. @param group name of its port group */
export function securityGroupAddressSetName(group: string, family: 4 | 6): string {
  return `${group}.associated.v${family}`
}

/** Holds the prefixes of all overlay subnets of a VPC. */
export function overlayCidrsAddressSetName(vpc: string, family: 4 | 6): string {
  return `${dotted(vpc)}.u2o_overlay_cidrs.ip${family}`
}

/** Holds the nodes' own addresses, for pods of an underlay subnet: these are reached by the physical network. */
export function interconnectionNodesAddressSetName(subnet: string, family: 4 | 6): string {
  return `${dotted(subnet)}.u2o_exclude_ip.ip${family}`
}

/** Holds the nodes' own addresses. Nothing that a user names has an underscore. */
export function nodeAddressSetName(family: 4 | 6): string {
  return `kube_ovn_nodes_ip${family}`
}

/** The address set that OVN keeps for the addresses of a port group's ports (ovn-nb(5), Port_Group). */
export function portGroupAddressSetName(portGroup: string, family: 4 | 6): string {
  return `${portGroup}_ip${family}`
}

/** What the name of a NetworkPolicy is in names of rows and in marks: one that begins with a digit could not be referred to. */
export function networkPolicyName(policy: string): string {
  return /^[a-zA-Z]/.test(policy) ? policy : `np${policy}`
}

/** Holds the ports that a NetworkPolicy is for. */
export function networkPolicyGroupName(namespace: string, policy: string): string {
  return dotted(`${networkPolicyName(policy)}.${namespace}`)
}

/**
 * The name of a group whose plain name somebody else has. Nothing that a user names has an underscore: who calls a namespace or a SecurityGroup after a
 * uid has no group of that object.
 *
 * @param uid of the object that it is for
 */
export function uniqueGroupName(name: string, uid: string): string {
  return dotted(`${name}_${uid}`)
}

export type PolicyDirection = 'ingress' | 'egress'

/**
 * Holds addresses that a rule of a policy is about.
 *
 * @param group name of the policy's port group
 * @param rule its place, or `all` where there is none
 */
export function policyAddressSetName(
  group: string,
  direction: PolicyDirection,
  verdict: 'allow' | 'except',
  family: 4 | 6,
  rule: number | 'all',
): string {
  return `${group}.${direction}.${verdict}.IPv${family}.${rule}`
}

/** Which kind of policy of an administrator: AdminNetworkPolicy, BaselineAdminNetworkPolicy or ClusterNetworkPolicy. */
export type AdminPolicyKind = 'anp' | 'banp' | 'cnp'

/** As {@link networkPolicyName}. */
export function adminPolicyName(kind: AdminPolicyKind, policy: string): string {
  return /^[a-zA-Z]/.test(policy) ? policy : `${kind === 'cnp' ? 'cnp' : 'anp'}${policy}`
}

/** Holds the ports that a policy of an administrator is for. */
export function adminPolicyGroupName(kind: AdminPolicyKind, policy: string): string {
  return dotted(adminPolicyName(kind, policy))
}

/**
 * Holds the addresses that a rule of such a policy is about.
 *
 * @param group name of the policy's port group
 * @param name of the rule, any text; mostly none
 */
export function adminPolicyAddressSetName(
  group: string,
  direction: PolicyDirection,
  rule: number,
  name: string,
  family: 4 | 6,
): string {
  const dots = name.replaceAll(/[^\w.]/g, '.')
  // Else `b.ingress.0.c` of the policy `a` would be `c` of the policy `a.ingress.0.b`.
  const own = /\.(in|e)gress\.\d+\./.test(`.${dots}`) ? dots.replaceAll('.', '_') : dots
  return `${group}.${direction}.${rule}.${own}.IPv${family}`
}

/** Holds the ports of the pods of a namespace that has an EgressFirewall. No policy's name has an underscore. */
export function firewallGroupName(namespace: string): string {
  return dotted(`egress_firewall.${namespace}`)
}

/** Holds the addresses of the nodes that a rule of an EgressFirewall is about. @param group name of its port group */
export function firewallAddressSetName(group: string, rule: number, family: 4 | 6): string {
  return `${group}.${rule}.IPv${family}`
}

/** Holds the prefixes that are inside of the cluster for EgressFirewalls. */
export function clusterAddressSetName(family: 4 | 6): string {
  return `egress_firewall_inside.IPv${family}`
}

/** Bounds how often what an ACL of a policy decides is logged. */
export function policyMeterName(group: string, direction: AclDirection): string {
  return `${group}_${direction}_meter`
}

/** Bounds how often what an EgressFirewall does is logged. @param group name of its port group */
export function firewallMeterName(group: string): string {
  return `${group}_meter`
}

/** Bounds how often what a private subnet drops is logged. */
export function privateSubnetMeterName(subnet: string): string {
  return `${subnet}${privateSubnetMeterEnd}`
}

/** No meter of a policy ends with it. */
export const privateSubnetMeterEnd = '_private_meter'

/** Seen from the port: `to-lport` is what it receives (ovn-nb(5), ACL). */
export type AclDirection = 'to-lport' | 'from-lport'

/** Longest name of an ACL, characters (ovn-nb(5), ACL, name). */
const longestAclName = 63

/** The name of an ACL by which the log tells of it: that of what it is about, or the beginning of a long one. */
export function aclName(of: string): string {
  return of.length <= longestAclName ? of : `${of.slice(0, longestAclName - 3)}...`
}

/** A load balancer of a VPC that is not the default one. */
export function vpcLoadBalancerName(
  vpc: string,
  protocol: 'tcp' | 'udp' | 'sctp',
  hasAffinity: boolean,
): string {
  return `vpc-${vpc}-${protocol}-${hasAffinity ? 'sess-' : ''}load`
}

/**
 * The variable of a chassis that has the backends of an entry of a Service, without the circumflex that marks it where it is used.
 *
 * OVN takes letters, digits, underscores and dots for its name (ovn-sb(5), Logical_Flow). Names of Services and namespaces have neither
 * underscores nor dots.
 */
export function backendsVariable(entry: {
  readonly namespace: string
  readonly service: string
  readonly address: string
  readonly port: number
  readonly protocol: string
}): string {
  const { namespace, service, address, port, protocol } = entry
  const words = [namespace, service, address].map((word) => word.replace(/[^a-z0-9]/g, '_'))
  return ['lb', ...words, port, protocol].join('.')
}

/** The variable of a chassis that has the address of its node, as {@link backendsVariable}. No variable of a Service begins alike. */
export function nodeAddressVariable(family: 4 | 6): string {
  return `node.v${family}`
}

/** A load balancer of one Service: several where its ports have different protocols, or some of its backends differ from node to node. */
export function serviceBalancerName(
  namespace: string,
  service: string,
  { protocol, nodes }: { readonly protocol: 'tcp' | 'udp' | 'sctp'; readonly nodes: 4 | 6 | undefined },
): string {
  return `${namespace}/${service}/${protocol}${nodes === undefined ? '' : `/nodes-v${nodes}`}`
}

export function isServiceBalancerName(name: string): boolean {
  return /^[^/]+\/[^/]+\/(?:tcp|udp|sctp)(?:\/nodes-v[46])?$/.test(name)
}

const balancerGroupPrefix = 'kube-ovn/services/'

/** The group of the load balancers of all Services of a VPC. */
export function balancerGroupName(vpc: string): string {
  return `${balancerGroupPrefix}${vpc}`
}

/** None of a group that is not ours. */
export function vpcOfBalancerGroup(name: string): string | undefined {
  return name.startsWith(balancerGroupPrefix) ? name.slice(balancerGroupPrefix.length) : undefined
}
