import {
  apiVersion,
  type DnsNameResolver,
  type EgressFirewall,
  type Ip,
  type IpPool,
  type IpPoolSpec,
  type IpPoolStatus,
  type IpSpec,
  type OvnEip,
  type OvnEipSpec,
  type SecurityGroup,
  type SecurityGroupSpec,
  type ProviderNetwork,
  type ProviderNetworkSpec,
  type Subnet,
  type SubnetSpec,
  type SubnetStatus,
  type LbRuleStatus,
  type RouterLbRule,
  type RouterLbRuleSpec,
  type SwitchLbRule,
  type SwitchLbRuleSpec,
  type Vip,
  type VipSpec,
  type VipStatus,
  type Vlan,
  type VlanSpec,
  type Vpc,
  type VpcDns,
  type VpcDnsSpec,
  type VpcSpec,
} from '@kube-ovn/kube-api'

export interface SubnetFields extends SubnetSpec {
  readonly name?: string
  readonly finalizers?: readonly string[]
  readonly deletionTimestamp?: string
  readonly status?: SubnetStatus
}

/** A subnet as a user writes it: fields of the spec beside a name. */
export function subnet(fields: SubnetFields = {}): Subnet {
  const { name = 'subnet', finalizers, deletionTimestamp, status, ...spec } = fields
  return {
    apiVersion,
    kind: 'Subnet',
    metadata: {
      name,
      ...(finalizers === undefined ? {} : { finalizers }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec: { cidrBlock: '10.1.0.0/16', ...spec },
    ...(status === undefined ? {} : { status }),
  }
}

export interface VpcFields extends VpcSpec {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
}

/** A VPC as a user writes it: fields of the spec beside a name. */
export function vpc(fields: VpcFields): Vpc {
  const { name, labels, creationTimestamp, deletionTimestamp, ...spec } = fields
  return {
    apiVersion,
    kind: 'Vpc',
    metadata: {
      name,
      ...(labels === undefined ? {} : { labels }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
    spec,
  }
}

export interface VlanFields extends Partial<VlanSpec> {
  readonly name: string
}

/** A VLAN as a user writes it: fields of the spec beside a name. */
export function vlan({ name, provider = 'quay', ...spec }: VlanFields): Vlan {
  return { apiVersion, kind: 'Vlan', metadata: { name }, spec: { provider, ...spec } }
}

export interface ProviderNetworkFields extends Partial<ProviderNetworkSpec> {
  readonly name: string
}

/** A physical network as a user writes it: fields of the spec beside a name. */
export function providerNetwork(fields: ProviderNetworkFields): ProviderNetwork {
  const { name, defaultInterface = 'eth1', ...spec } = fields
  return { apiVersion, kind: 'ProviderNetwork', metadata: { name }, spec: { defaultInterface, ...spec } }
}

export interface IpFields extends IpSpec {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
}

/** An IP object: fields of the spec beside a name. */
export function ip(fields: IpFields): Ip {
  const { name, labels, ...spec } = fields
  return { apiVersion, kind: 'IP', metadata: { name, ...(labels === undefined ? {} : { labels }) }, spec }
}

export interface VipFields extends VipSpec {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly status?: VipStatus
}

/** A Vip as a user writes it: fields of the spec beside a name. */
export function vip(fields: VipFields = {}): Vip {
  const { name = 'vip', labels, finalizers, status, ...spec } = fields
  return {
    apiVersion,
    kind: 'Vip',
    metadata: metadataOf({ name, labels, finalizers }),
    spec,
    ...(status === undefined ? {} : { status }),
  }
}

export interface OvnEipFields extends OvnEipSpec {
  readonly name?: string
}

/** An OvnEip as a user writes it: fields of the spec beside a name. */
export function ovnEip({ name = 'eip', ...spec }: OvnEipFields = {}): OvnEip {
  return { apiVersion, kind: 'OvnEip', metadata: { name }, spec }
}

export interface SwitchLbRuleFields extends SwitchLbRuleSpec {
  readonly name?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly uid?: string
  readonly creationTimestamp?: string
  readonly status?: LbRuleStatus
}

/** A SwitchLBRule as a user writes it: port 80 of 1.1.1.1 leads to port 8080 of Pods with the label app=web, unless it says otherwise. */
export function switchLbRule(fields: SwitchLbRuleFields = {}): SwitchLbRule {
  const { name = 'rule', annotations, uid, creationTimestamp, status, ...spec } = fields
  const { endpoints, selector = endpoints === undefined ? ['app:web'] : undefined } = spec
  return {
    apiVersion,
    kind: 'SwitchLBRule',
    metadata: {
      name,
      ...(annotations === undefined ? {} : { annotations }),
      ...(uid === undefined ? {} : { uid }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: {
      vip: '1.1.1.1',
      namespace: 'default',
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
      ...(selector === undefined ? {} : { selector }),
    },
    ...(status === undefined ? {} : { status }),
  }
}

export interface RouterLbRuleFields extends RouterLbRuleSpec {
  readonly name?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly status?: LbRuleStatus
}

/** A RouterLBRule as a user writes it: port 80 of OvnEip `eip` leads to port 8080 of Pods of Vpc red with the label app=web, unless it says otherwise. */
export function routerLbRule(fields: RouterLbRuleFields = {}): RouterLbRule {
  const { name = 'rule', annotations, status, ...spec } = fields
  const { endpoints, selector = endpoints === undefined ? ['app:web'] : undefined } = spec
  return {
    apiVersion,
    kind: 'RouterLBRule',
    metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      ovnEip: 'eip',
      vpc: 'red',
      namespace: 'default',
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
      ...(selector === undefined ? {} : { selector }),
    },
    ...(status === undefined ? {} : { status }),
  }
}

export interface VpcDnsFields extends VpcDnsSpec {
  readonly name?: string
  readonly uid?: string
  readonly creationTimestamp?: string
}

/** A VpcDns as a user writes it: fields of the spec beside a name. */
export function vpcDns(fields: VpcDnsFields = {}): VpcDns {
  const { name = 'dns', uid, creationTimestamp, ...spec } = fields
  return {
    apiVersion,
    kind: 'VpcDns',
    metadata: {
      name,
      ...(uid === undefined ? {} : { uid }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { vpc: 'blue', subnet: 'blue-a', ...spec },
  }
}

export interface IpPoolFields extends IpPoolSpec {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly deletionTimestamp?: string
  readonly creationTimestamp?: string
  readonly status?: IpPoolStatus
}

/** An IPPool as a user writes it: fields of the spec beside a name. */
export function ipPool(fields: IpPoolFields): IpPool {
  const { name = 'pool', labels, finalizers, deletionTimestamp, creationTimestamp, status, ...spec } = fields
  return {
    apiVersion,
    kind: 'IPPool',
    metadata: {
      ...metadataOf({ name, labels, finalizers }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec,
    ...(status === undefined ? {} : { status }),
  }
}

function metadataOf(fields: {
  readonly name: string
  readonly labels: Readonly<Record<string, string>> | undefined
  readonly finalizers: readonly string[] | undefined
}): Vip['metadata'] {
  const { name, labels, finalizers } = fields
  return {
    name,
    ...(labels === undefined ? {} : { labels }),
    ...(finalizers === undefined ? {} : { finalizers }),
  }
}

export interface SecurityGroupFields extends SecurityGroupSpec {
  readonly name: string
}

export interface EgressFirewallFields {
  readonly namespace?: string
  readonly name?: string
  readonly egress: NonNullable<EgressFirewall['spec']>['egress']
}

/** A DNSNameResolver: its domain, and the addresses that were answered for that. */
export function dnsNameResolver({
  name,
  domain,
  ips,
}: {
  readonly name: string
  readonly domain: string
  readonly ips: readonly string[]
}): DnsNameResolver {
  const answered = { ttlSeconds: 30, lastLookupTime: '2029-12-31T23:59:00Z' }
  return {
    apiVersion,
    kind: 'DNSNameResolver',
    metadata: { name },
    spec: { name: domain },
    status: {
      resolvedNames: [{ dnsName: domain, resolvedAddresses: ips.map((ip) => ({ ip, ...answered })) }],
    },
  }
}

/** An EgressFirewall, which is called `default` unless it is to have no effect. */
export function egressFirewall({
  namespace = 'default',
  name = 'default',
  egress,
}: EgressFirewallFields): EgressFirewall {
  return {
    apiVersion: 'k8s.ovn.org/v1',
    kind: 'EgressFirewall',
    metadata: { namespace, name },
    spec: { egress },
  }
}

/** A security group: fields of the spec beside a name. */
export function securityGroup({ name, ...spec }: SecurityGroupFields): SecurityGroup {
  return { apiVersion, kind: 'SecurityGroup', metadata: { name }, spec }
}
