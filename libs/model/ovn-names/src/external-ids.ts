/** Keys of `external_ids` that the project writes and reads. */
export const externalId = {
  vendor: 'vendor',
  /** `<feature>/<key>`: who keeps the row. */
  owner: 'owner',
  /** `<kind>/<natural key>`: what the row is. */
  id: 'id',
  logicalSwitch: 'ls',
  logicalRouter: 'lr',
  /** Of a gateway chassis: the port that it may host. */
  routerPort: 'lrp',
  /** Of a chassis: the group that it is in. */
  chassisGroup: 'group',
  parent: 'parent',
  pod: 'pod',
  /** Of options of DHCP: the port that alone has them. */
  port: 'port',
  /** Of options of DHCP: `IPv4` or `IPv6`. */
  protocol: 'protocol',
  node: 'node',
  subnet: 'subnet',
  vpc: 'vpc',
  ipPool: 'ippool',
  networkPolicy: 'np',
  /** Of rows of an administrator's policy, by its kind. */
  adminPolicy: 'anp',
  baselinePolicy: 'banp',
  clusterPolicy: 'cnp',
  /** Of rows of an EgressFirewall: its namespace. */
  egressFirewall: 'egress_firewall',
  securityGroup: 'sg',
  type: 'type',
  /** Of a port to the physical network: the prefixes of its subnet. Upstream's build of OVN reads them. */
  ipv4Network: 'ipv4_network',
  ipv6Network: 'ipv6_network',
  addressFamily: 'address-family',
  /** Addresses beside its own that a port may send from, separated by commas. */
  vips: 'vips',
  hasVips: 'attach-vips',
  /** Of a port, separated by slashes; empty where they were looked for and there are none. */
  securityGroups: 'security_groups',
  /** Of a health check: the subnet of the backends that are asked. */
  checkedSubnet: 'switch_lb_subnet',
  isLocalDnsCache: 'isLocalDnsCache',
  /** Of a policy that leads traffic of an underlay subnet. */
  isU2ORoutePolicy: 'isU2ORoutePolicy',
  /** One of a connection that leads to overlay subnets alone. */
  isU2OOverlayOnly: 'isU2OOverlayOnlyRoutePolicy',
  /** One that leads to Services by way of nodes, where OVN does not balance. */
  isU2OWithoutBalancer: 'isU2ONoLBRoutePolicy',
  /** Of a port group for such policies. */
  isU2O: 'u2o',
  serviceCidr: 'svcCidr',
  isOverlayCidrs: 'isU2OOverlayCIDRs',
  version: 'kube-ovn-version',
} as const

/** The value of `external_ids:vendor` of every row that upstream or this project writes. */
export const vendor = 'kube-ovn'

const associated = 'associated_sg_'

/** A reserved name: ports in a VPC other than the default one say that they are not in it, unless they are. */
export const defaultSecurityGroup = 'default-securitygroup'

/** The key by which a port says whether it is in a security group: `true`, or `false` once it has left it. */
export function securityGroupMark(securityGroup: string): string {
  return `${associated}${securityGroup}`
}

/** The security groups that a port says to be in, or to have left. */
export function markedSecurityGroups(ids: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(ids).flatMap((key) => (key.startsWith(associated) ? [key.slice(associated.length)] : []))
}
