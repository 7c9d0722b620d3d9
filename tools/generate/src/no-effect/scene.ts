import type {
  DnsNameResolver,
  EgressFirewall,
  Ip,
  IpPool,
  OvnEip,
  NetworkAttachmentDefinition,
  ProviderNetwork,
  RouterLbRule,
  SecurityGroup,
  Subnet,
  SwitchLbRule,
  Vip,
  Vlan,
  Vpc,
  VpcDns,
} from '@kube-ovn/kube-api'
import type { ConfigMap, Namespace, Node, Pod } from '@kube-ovn/kube-api/core'
import {
  dnsNameResolver,
  egressFirewall,
  ip,
  ipPool,
  namespace,
  node,
  ovnEip,
  pod,
  providerNetwork,
  securityGroup,
  routerLbRule,
  subnet,
  switchLbRule,
  vip,
  vlan,
  vpc,
  vpcDns,
} from '@kube-ovn/testing-builders'

/** Objects of which each field and annotation is changed, one at a time, to see whether anything follows. */
export interface Scene {
  readonly subnets: readonly Subnet[]
  readonly vpcs: readonly Vpc[]
  readonly vlans: readonly Vlan[]
  readonly providerNetworks: readonly ProviderNetwork[]
  readonly ips: readonly Ip[]
  readonly ipPools: readonly IpPool[]
  readonly vips: readonly Vip[]
  readonly ovnEips: readonly OvnEip[]
  readonly dnsNameResolvers: readonly DnsNameResolver[]
  readonly egressFirewalls: readonly EgressFirewall[]
  readonly securityGroups: readonly SecurityGroup[]
  readonly switchLbRules: readonly SwitchLbRule[]
  readonly routerLbRules: readonly RouterLbRule[]
  readonly vpcDnses: readonly VpcDns[]
  readonly configMaps: readonly ConfigMap[]
  readonly namespaces: readonly Namespace[]
  readonly nodes: readonly Node[]
  readonly pods: readonly Pod[]
  readonly networkAttachments: readonly NetworkAttachmentDefinition[]
}

/** In each list the first object is the one that is changed. */
export const scene: Scene = {
  subnets: [
    subnet({
      ...{ name: 'blue', cidrBlock: '10.1.0.0/24,fd00:1::/120', namespaces: ['shop'] },
      acls: [{ direction: 'to-lport', priority: 1000, match: 'icmp4', action: 'allow' }],
      enableIPv6RA: true,
      enableDHCP: true,
      natOutgoing: true,
    }),
    subnet({ name: 'green', cidrBlock: '10.2.0.0/24,fd00:2::/120' }),
    subnet({ name: 'camera', cidrBlock: '10.3.0.0/24,fd00:3::/120', provider: 'camera.shop' }),
    subnet({ name: 'attach', cidrBlock: '10.4.0.0/24,fd00:4::/120', provider: 'attach.shop.ovn' }),
    subnet({ name: 'wheel', cidrBlock: '10.5.0.0/24,fd00:5::/120', vpc: 'river' }),
    subnet({ name: 'dock', cidrBlock: '10.6.0.0/24,fd00:6::/120', vlan: 'dock' }),
  ].map(withUid),
  vpcs: [
    vpc({ name: 'river', namespaces: ['mill'] }),
    vpc({ name: 'ovn-cluster' }),
    vpc({ name: 'sea', enableExternal: true, extraExternalSubnets: ['green'] }),
    vpc({ name: 'coast', enableExternal: true, extraExternalSubnets: ['dock'] }),
  ].map(withUid),
  vlans: [vlan({ name: 'dock', provider: '' })].map(withUid),
  providerNetworks: [providerNetwork({ name: 'provider' }), providerNetwork({ name: 'quay' })].map(withUid),
  ips: [
    ip({
      ...{ name: 'db.shop', podName: 'db', namespace: 'shop', subnet: 'blue' },
      ...{ v4IpAddress: '10.1.0.50', v6IpAddress: 'fd00:1::50', macAddress: '00:00:5e:00:53:50' },
    }),
  ].map(withUid),
  ipPools: [
    ipPool({ name: 'pool', subnet: 'blue', ips: ['10.1.0.100..10.1.0.110'] }),
    ipPool({ name: 'bound', subnet: 'green', ips: ['10.2.0.100..10.2.0.110'], namespaces: ['yard'] }),
  ].map(withUid),
  vips: [
    vip({
      ...{ name: 'shared', subnet: 'blue', namespace: 'shop', selector: ['app:web'] },
      ...{ v4ip: '10.1.0.60', v6ip: 'fd00:1::60', macAddress: '00:00:5e:00:53:60' },
    }),
    vip({ name: 'lent', subnet: 'blue', v4ip: '10.1.0.61', v6ip: 'fd00:1::61' }),
    vip({ name: 'other', subnet: 'blue', namespace: 'shop', selector: ['app:web'] }),
  ].map(withUid),
  ovnEips: [
    ovnEip({ name: 'outside', externalSubnet: 'dock', type: 'lsp', v4Ip: '10.6.0.60' }),
    ...['10.6.0.61', '10.6.0.62'].map((v4Ip, place) => ({
      ...ovnEip({ name: `gate-${place}`, externalSubnet: 'dock', type: 'nat', v4Ip }),
      status: { type: 'nat', ready: true, v4Ip, macAddress: `00:00:5e:00:53:7${place}` },
    })),
    {
      ...ovnEip({ name: 'coast-dock', externalSubnet: 'dock', type: 'lrp', v4Ip: '10.6.0.63' }),
      status: { type: 'lrp', ready: true, v4Ip: '10.6.0.63', macAddress: '00:00:5e:00:53:73' },
    },
  ].map(withUid),
  dnsNameResolvers: [dnsNameResolver({ name: 'mine', domain: 'www.example.com.', ips: ['192.0.2.1'] })].map(
    withUid,
  ),
  egressFirewalls: [
    egressFirewall({
      namespace: 'shop',
      egress: [
        { type: 'Deny', to: { cidrSelector: '10.8.0.0/16' } },
        { type: 'Deny', to: { dnsName: 'www.example.com' } },
      ],
    }),
  ].map(withUid),
  securityGroups: [
    securityGroup({
      name: 'guards',
      egressRules: [
        {
          ...{ ipVersion: 'ipv4', priority: 1, policy: 'allow' },
          ...{ remoteType: 'address', remoteAddress: '10.8.0.0/16' },
        },
      ],
    }),
  ].map(withUid),
  switchLbRules: [switchLbRule({ namespace: 'shop' })].map(withUid),
  routerLbRules: [routerLbRule({ ovnEip: 'gate-0', vpc: 'coast', namespace: 'shop' })].map(withUid),
  vpcDnses: [vpcDns({ vpc: 'river', subnet: 'wheel' })].map(withUid),
  configMaps: [
    configMap('vpc-dns-config', {
      ...{ 'coredns-vip': '1.1.1.53', 'coredns-image': 'coredns', 'nad-name': 'apiserver' },
      'k8s-service-host': '10.96.0.1',
    }),
    configMap('mine', { Corefile: '' }),
  ],
  namespaces: [
    namespace({ name: 'shop' }),
    namespace({ name: 'depot', labels: { team: 'depot' } }),
    namespace({ name: 'yard' }),
    namespace({ name: 'mill' }),
    namespace({ name: 'kube-system' }),
  ].map(withUid),
  nodes: [
    node({ annotations: { 'ovn.kubernetes.io/chassis': 'c1' } }),
    node({
      ...{ name: 'n2', addresses: ['172.18.0.12'], labels: { 'ovn.kubernetes.io/external-gw': 'true' } },
      annotations: { 'ovn.kubernetes.io/chassis': 'c2' },
    }),
  ].map(withUid),
  pods: [
    podOf('shop', 'web', {
      'ovn.kubernetes.io/aaps': 'shared',
      'k8s.v1.cni.cncf.io/networks': 'camera@net1',
    }),
    podOf('depot', 'box', {}),
  ],
  networkAttachments: [
    attachment('camera', { type: 'macvlan', ipam: { type: 'kube-ovn', provider: 'camera.shop' } }),
    attachment('attach', { type: 'kube-ovn', provider: 'attach.shop.ovn' }),
    attachment('apiserver', { type: 'kube-ovn' }, 'default'),
  ],
}

function podOf(ns: string, name: string, annotations: Readonly<Record<string, string>>): Pod {
  const made = withUid(pod({ name, namespace: ns, node: 'n1', annotations }))
  return { ...made, metadata: { ...made.metadata, labels: { app: name } } }
}

function configMap(name: string, data: Readonly<Record<string, string>>): ConfigMap {
  return withUid({ metadata: { namespace: 'kube-system', name }, data })
}

function attachment(name: string, config: object, ns = 'shop'): NetworkAttachmentDefinition {
  return withUid({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: ns, name },
    spec: { config: JSON.stringify(config) },
  })
}

function withUid<T extends { readonly metadata: { readonly name: string } }>(object: T): T {
  return { ...object, metadata: { ...object.metadata, uid: `uid of ${object.metadata.name}` } }
}
