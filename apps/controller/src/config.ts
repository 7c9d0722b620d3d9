import { controlFeatures, declarationsOf } from '@kube-ovn/assembly-controller'
import { duration, list, oneOf, switchedOn, text, wholeNumber } from '@kube-ovn/process'
import type { Command, ConfigOf, Settings } from '@kube-ovn/process'
import { secureServingSettings } from '@kube-ovn/serving'

/** Flags and environment of upstream's kube-ovn-controller, but for those that features declare. Those that nothing reads yet say so. */
const own = {
  ovnNbAddr: text('', 'Northbound servers, e.g. tcp:10.0.0.1:6641, separated by commas.', {
    environment: 'OVN_NB_ADDR',
  }),
  ovnSbAddr: text('', 'Southbound servers, e.g. tcp:10.0.0.1:6642, separated by commas.', {
    environment: 'OVN_SB_ADDR',
  }),
  ovnDbIps: list('', 'Addresses of the database servers, when no address is given.', {
    environment: 'OVN_DB_IPS',
    isEnvironmentOnly: true,
  }),
  ovnTimeout: wholeNumber(
    60,
    'Seconds after which a transaction that was not answered is given up, with its connection; 0 switches it off.',
  ),
  ovsdbConTimeout: wholeNumber(3, 'Seconds until a connection attempt to a database fails.'),
  ovsdbConMaxretry: wholeNumber(60, 'Accepted for compatibility: attempts never end.'),
  ovsdbInactivityTimeout: wholeNumber(
    10,
    'Seconds of silence after which a database server is probed; 0 switches it off.',
  ),
  custCrdRetryMinDelay: wholeNumber(1, 'Accepted for compatibility, without effect.'),
  custCrdRetryMaxDelay: wholeNumber(20, 'Accepted for compatibility, without effect.'),
  kubeconfig: text('', 'File with the way to the API server; empty inside a cluster.', {
    environment: 'KUBECONFIG',
  }),
  defaultLs: text('ovn-default', 'Name of the default subnet.'),
  defaultCidr: text('10.16.0.0/16', 'Prefix of the default subnet: v4, v6 or v4,v6.'),
  defaultGateway: text('', 'Gateway of the default subnet; empty for the first address.'),
  defaultGatewayCheck: switchedOn(true, 'Check the gateway of the default subnet.'),
  defaultLogicalGateway: switchedOn(false, 'The gateway of an underlay default subnet is one of OVN.'),
  defaultExcludeIps: list(
    '',
    'Addresses of the default subnet that are never allocated; empty for the gateway.',
  ),
  defaultU2oInterconnection: switchedOn(
    false,
    'The router of the default VPC has an address in an underlay default subnet, too.',
  ),
  clusterRouter: text('ovn-cluster', 'Name of the default VPC and of its router.'),
  nodeSwitch: text('join', "Name of the subnet of the nodes' ports."),
  nodeSwitchCidr: text('100.64.0.0/16', 'Prefix of that subnet: v4, v6 or v4,v6.'),
  nodeSwitchGateway: text('', 'Gateway of that subnet; empty for the first address.'),
  serviceClusterIpRange: text('10.96.0.0/12', 'Prefix of the cluster addresses of Services.'),
  workerNum: wholeNumber(3, 'Accepted for compatibility: keys are batched.'),
  enablePprof: switchedOn(false, 'Accepted for compatibility, without effect.'),
  pprofPort: wholeNumber(10660, 'Port of health checks and metrics.'),
  nodepgProbeTime: wholeNumber(1, 'Accepted for compatibility: port groups follow changes.'),
  networkType: oneOf(
    ['geneve', 'vxlan', 'stt', 'vlan'],
    'geneve',
    'vlan: the default subnet is an underlay. The others, which are protocols of tunnels, say the same here: it is an overlay.',
  ),
  defaultProviderName: text(
    'provider',
    'ProviderNetwork of a Vlan that names none, and of an underlay default subnet.',
  ),
  defaultInterfaceName: text('', 'NIC of nodes for an underlay default subnet.'),
  defaultExchangeLinkName: switchedOn(
    false,
    'Bridges for an underlay default subnet have the name of the NIC.',
  ),
  defaultVlanName: text('ovn-vlan', 'Vlan of an underlay default subnet.'),
  defaultVlanId: wholeNumber(1, 'Tag of its frames; 0 is without one.'),
  podNicType: text('veth-pair', 'Kind of NIC of pods that ask for none.'),
  enableLb: switchedOn(true, 'Balance Services by OVN, unless a Subnet says otherwise.'),
  enableNp: switchedOn(true, 'Enforce NetworkPolicies.'),
  enableEipSnat: switchedOn(
    true,
    'Connect VPCs to the default external subnet; eip and snat annotations are not served yet.',
  ),
  enableExternalVpc: switchedOn(false, 'Import routers of others, not served yet.'),
  keepVmIp: switchedOn(true, 'Keep addresses of virtual machines.'),
  enableMetrics: switchedOn(true, 'Serve /metrics.'),
  enableAnp: switchedOn(
    false,
    'Enforce AdminNetworkPolicies, BaselineAdminNetworkPolicies and ClusterNetworkPolicies.',
  ),
  enableDnsNameResolver: switchedOn(
    false,
    'Follow DNS names in policies, which takes the plugin dnsnameresolver in CoreDNS.',
  ),
  enableOvnIpsec: switchedOn(false, 'Encrypt tunnels, not served yet.'),
  certManagerIpsecCert: switchedOn(false, 'Encrypt tunnels, not served yet.'),
  externalGatewayConfigNs: text('kube-system', 'For the external gateway, not served yet.'),
  externalGatewaySwitch: text('external', 'Subnet that leads out of the cluster where nobody names another.'),
  externalGatewayNet: text('external', 'For the external gateway, not served yet.'),
  externalGatewayVlanid: wholeNumber(0, 'For the external gateway, not served yet.'),
  nodeLocalDnsIp: list('', 'Addresses of node-local DNS caches.'),
  gcInterval: wholeNumber(360, 'Accepted for compatibility: what is orphaned goes at once.'),
  inspectInterval: wholeNumber(20, 'Seconds between two audits of all addresses; 0 switches them off.'),
  frrImage: text('', 'Image of pods that the controller creates; it creates none yet.'),
  logPerm: text('640', 'Accepted for compatibility, without effect.'),
  ...secureServingSettings,
  nonPrimaryCniMode: switchedOn(false, 'Serve further networks of pods only.'),
  leaderElectLeaseDuration: duration('30s', 'How long the others wait for a leader that is silent.'),
  leaderElectRenewDeadline: duration('20s', 'How long the leader tries to renew before it gives up.'),
  leaderElectRetryPeriod: duration('6s', 'Time between two tries to get or renew the lease.'),
  unservedLimit: duration(
    '1m',
    'A key that is not served, or a start that takes, longer makes the process unready.',
  ),
  planSocket: text('', 'Unix socket on which plans are told, to its own user alone; empty for none. New.'),
  podName: text('', 'Name of the own pod, identity in the election.', {
    environment: 'POD_NAME',
    isEnvironmentOnly: true,
  }),
  podNamespace: text('kube-system', 'Namespace of the lease.', {
    environment: 'POD_NAMESPACE',
    isEnvironmentOnly: true,
  }),
  podIps: list('', 'Own addresses.', { environment: 'POD_IPS', isEnvironmentOnly: true }),
  enableBindLocalIp: switchedOn(false, 'Listen on the own addresses only.', {
    environment: 'ENABLE_BIND_LOCAL_IP',
    isEnvironmentOnly: true,
  }),
  enableSsl: switchedOn(false, 'Talk TLS to the databases.', {
    environment: 'ENABLE_SSL',
    isEnvironmentOnly: true,
  }),
  nbPort: wholeNumber(6641, 'Port of the Northbound.', {
    environment: 'KUBE_OVN_NB_PORT',
    isEnvironmentOnly: true,
  }),
  nbServiceHost: text('', 'Address of Service ovn-nb, when no address is given.', {
    environment: 'OVN_NB_SERVICE_HOST',
    isEnvironmentOnly: true,
  }),
  nbServicePort: wholeNumber(6641, 'Port of that Service.', {
    environment: 'OVN_NB_SERVICE_PORT',
    isEnvironmentOnly: true,
  }),
  sbPort: wholeNumber(6642, 'Port of the Southbound.', {
    environment: 'KUBE_OVN_SB_PORT',
    isEnvironmentOnly: true,
  }),
  sbServiceHost: text('', 'Address of Service ovn-sb, when no address is given.', {
    environment: 'OVN_SB_SERVICE_HOST',
    isEnvironmentOnly: true,
  }),
  sbServicePort: wholeNumber(6642, 'Port of that Service.', {
    environment: 'OVN_SB_SERVICE_PORT',
    isEnvironmentOnly: true,
  }),
  apiServerHost: text('', 'Address of Service default/kubernetes.', {
    environment: 'KUBERNETES_SERVICE_HOST',
    isEnvironmentOnly: true,
  }),
} as const

/** Those that features declare. */
export const featureFlags: Settings = declarationsOf(controlFeatures).flags

export const command: Command<typeof own> = {
  name: 'kube-ovn-controller',
  summary: 'Turns Kubernetes objects into rows of the OVN Northbound.',
  examples: [
    'kube-ovn-controller --ovn-nb-addr=tcp:127.0.0.1:6641 --kubeconfig=$HOME/.kube/config',
    'kube-ovn-controller --default-cidr=10.16.0.0/16,fd00:10:16::/112 --node-switch-cidr=100.64.0.0/16,fd00:100:64::/112 …',
  ],
  settings: { ...featureFlags, ...own },
}

export type ControllerConfig = ConfigOf<typeof own>
