/** Keys of `external_ids` that the project writes and reads. */
export const externalId = {
  vendor: 'vendor',
  /** `<feature>/<key>`: who keeps the row. */
  owner: 'owner',
  /** `<kind>/<natural key>`: what the row is. */
  id: 'id',
  logicalSwitch: 'ls',
  logicalRouter: 'lr',
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
  securityGroup: 'sg',
  type: 'type',
  addressFamily: 'address-family',
  /** Addresses beside its own that a port may send from, separated by commas. */
  vips: 'vips',
  hasVips: 'attach-vips',
  /** Of a port, separated by slashes; empty where they were looked for and there are none. */
  securityGroups: 'security_groups',
  /** Whether a port is in the security group of those that ask for none; `false` in a VPC other than the default one. */
  inDefaultSecurityGroup: 'associated_sg_default-securitygroup',
  isLocalDnsCache: 'isLocalDnsCache',
  isOverlayCidrs: 'isU2OOverlayCIDRs',
  version: 'kube-ovn-version',
} as const

/** The value of `external_ids:vendor` of every row that upstream or this project writes. */
export const vendor = 'kube-ovn'
