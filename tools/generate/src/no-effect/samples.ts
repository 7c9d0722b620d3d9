import type { JsonSchema } from '@kube-ovn/kube-api'

/**
 * Values that mean something in the scene, by kind and field. What is not named here is given a value of its type, which
 * shows for what is only switched on or off, and for what nobody reads.
 */
export const fieldSamples: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  Subnet: {
    cidrBlock: ['10.9.0.0/24'],
    gateway: ['10.1.0.9,fd00:1::9'],
    excludeIps: [['10.1.0.2..10.1.0.9']],
    vpc: ['vpc-1'],
    provider: ['camera.shop'],
    namespaces: [['depot']],
    namespaceSelectors: [
      [{ matchLabels: { team: 'depot' } }],
      [{ matchExpressions: [{ key: 'team', operator: 'In', values: ['depot'] }] }],
    ],
    gatewayType: ['centralized'],
    gatewayNode: ['n1'],
    gatewayNodeSelectors: [[{ matchLabels: { 'kubernetes.io/hostname': 'n2' } }]],
    vips: [['10.1.0.70']],
    mtu: [1400],
    enableLb: [false],
    enableIPv6RA: [false],
    enableDHCP: [false],
    dhcpV4Options: ['lease_time=60'],
    dhcpV6Options: ['dns_server=fd00::53'],
    u2oInterconnectionIP: ['10.6.0.71'],
    vlan: ['dock'],
    externalEgressGateway: ['172.18.0.99'],
    protocol: ['IPv4'],
    natOutgoing: [false],
    natOutgoingPolicyRules: [[{ action: 'forward', match: { srcIPs: '10.1.0.9' } }]],
  },
  Vpc: {
    defaultSubnet: ['wheel'],
    namespaces: [['shop']],
    staticRoutes: [[{ cidr: '10.9.0.0/16', nextHopIP: '10.5.0.9' }]],
    policyRoutes: [[{ priority: 10, match: 'ip4.src == 10.5.0.9', action: 'drop' }]],
    vpcPeerings: [[{ remoteVpc: 'ovn-cluster', localConnectIP: '169.254.0.1/30' }]],
    extraExternalSubnets: [['green']],
  },
  Vlan: { provider: ['quay'], providerInterfaceName: ['quay'] },
  ProviderNetwork: {
    nodeSelector: [{ matchLabels: { team: 'depot' } }],
    excludeNodes: [['n1']],
    defaultInterface: ['eth9'],
    customInterfaces: [[{ interface: 'eth9', nodes: ['n1'] }]],
  },
  DNSNameResolver: { name: ['www.example.org.'] },
  IP: {
    podName: ['web'],
    namespace: ['depot'],
    subnet: ['green'],
    v4IpAddress: ['10.1.0.51'],
    v6IpAddress: ['fd00:1::51'],
    macAddress: ['00:00:5e:00:53:51'],
    ipAddress: ['10.1.0.51,fd00:1::51'],
    nodeName: ['n2'],
  },
  IPPool: {
    subnet: ['green'],
    ips: [['10.1.0.120..10.1.0.130']],
    namespaces: [['shop']],
  },
  EgressFirewall: {
    egress: [[{ type: 'Allow', to: { cidrSelector: '10.9.0.0/16' } }]],
  },
  SecurityGroup: {
    tier: [1],
    ingressRules: [
      [
        {
          ipVersion: 'ipv4',
          priority: 1,
          policy: 'allow',
          remoteType: 'address',
          remoteAddress: '10.9.0.0/16',
        },
      ],
    ],
    egressRules: [
      [
        {
          ipVersion: 'ipv4',
          priority: 1,
          policy: 'allow',
          remoteType: 'address',
          remoteAddress: '10.9.0.0/16',
        },
      ],
    ],
  },
  Vip: {
    namespace: ['depot'],
    subnet: ['green'],
    type: ['kube_host_vm_vip'],
    v4ip: ['10.1.0.65'],
    v6ip: ['fd00:1::65'],
    macAddress: ['00:00:5e:00:53:65'],
    selector: [['app:db']],
    attachSubnets: [['green']],
  },
  OvnEip: {
    externalSubnet: ['green'],
    v4Ip: ['10.6.0.65'],
    v6Ip: ['fd00:6::65'],
    macAddress: ['00:00:5e:00:53:66'],
    type: ['nat'],
  },
  SwitchLBRule: {
    vip: ['9.9.9.9'],
    namespace: ['depot'],
    selector: [['app:db']],
    endpoints: [['10.1.0.9']],
    sessionAffinity: ['ClientIP'],
    ports: [[{ port: 90 }]],
  },
  RouterLBRule: {
    ovnEip: ['gate-1'],
    vpc: ['sea'],
    namespace: ['depot'],
    selector: [['app:db']],
    endpoints: [['10.1.0.9']],
    sessionAffinity: ['ClientIP'],
    ports: [[{ port: 90 }]],
  },
  VpcDns: { vpc: ['sea'], subnet: ['blue'], replicas: [3], corefile: ['mine'] },
}

const outside = { natOutgoing: false, externalEgressGateway: '172.18.0.99', policyRoutingTableID: 1001 }

/** What other fields say where a field means something only together with them, by kind and field. */
export const fieldCompanions: Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>
> = {
  ProviderNetwork: { autoCreateVlanSubinterfaces: { defaultInterface: 'eth1.100' } },
  Vpc: { extraExternalSubnets: { enableExternal: true } },
  Subnet: {
    gatewayType: { gatewayNode: 'n1' },
    gatewayNode: { gatewayType: 'centralized' },
    gatewayNodeSelectors: { gatewayType: 'centralized' },
    enableEcmp: { gatewayType: 'centralized', gatewayNode: 'n1' },
    externalEgressGateway: { ...outside, externalEgressGateway: '' },
    u2oInterconnectionIP: { u2oInterconnection: true },
    policyRoutingPriority: outside,
    disableGatewayCheck: { vlan: 'dock', mtu: 1400 },
    policyRoutingTableID: { ...outside, policyRoutingTableID: 1002 },
  },
}

/** Fields that mean something on one object of the scene alone, by kind. */
export const objectOfField: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Subnet: { logicalGateway: 'dock', u2oInterconnection: 'dock', u2oInterconnectionIP: 'dock' },
}

/** Texts that mean something in the scene, by annotation without what stands before the slash. */
export const annotationSamples: Readonly<Record<string, readonly string[]>> = {
  ip_address: ['10.1.0.77,fd00:1::77'],
  mac_address: ['00:00:5e:00:53:77'],
  logical_switch: ['green'],
  ip_family: ['ipv4'],
  ip_pool: ['pool', '10.1.0.78'],
  port_vips: ['10.1.0.88'],
  north_gateway: ['10.0.0.9'],
  vip: ['lent'],
  security_groups: ['guards'],
  aaps: ['other'],
  networks: ['attach'],
  'default-network': ['attach'],
  tunnel_interface: ['eth1'],
  node_networks: ['{"storage":"192.168.0.11"}'],
  ovs_dp_type: ['userspace'],
  eip: ['172.18.0.99'],
  snat: ['172.18.0.99'],
  bgp: ['true', 'local'],
  routes: ['[{"dst":"10.0.0.0/8","gw":"10.1.0.1"}]'],
  'dhcp-v4-options': ['lease_time=60'],
  'dhcp-v6-options': ['dns_server=fd00::1'],
  vpc_lb: ['on'],
  default_route: ['true', 'false'],
  pod_nic_type: ['offload-port'],
}

/** A value of the schema's type, unlike the one that is there by default. */
export function sampleOf(schema: JsonSchema): unknown {
  switch (schema.type) {
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return 7
    case 'string':
      return 'sample'
    case 'array':
      return [schema.items === undefined ? 'sample' : sampleOf(schema.items)]
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, sampleOf(property)]),
      )
  }
}
