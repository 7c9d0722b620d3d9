import { networkTypes } from '@kube-ovn/features-node'
import { list, oneOf, switchedOn, text, wholeNumber, type Command, type ConfigOf } from '@kube-ovn/process'
import { secureServingSettings } from '@kube-ovn/serving'
import { agentSocket } from '../protocol/socket.ts'

const notServed = 'Accepted for compatibility, not served yet.'
const noEffect = 'Accepted for compatibility, without effect.'

/** Flags and environment of upstream's kube-ovn-daemon. Those that nothing reads yet say so. */
const settings = {
  installCniConfig: switchedOn(false, 'Only write the CNI configuration, then exit.'),
  cniConfDir: text('/etc/cni/net.d', 'Directory of the CNI configuration.'),
  cniConfFile: text('/kube-ovn/01-kube-ovn.conflist', 'Accepted for compatibility: the content is built in.'),
  cniConfName: text('01-kube-ovn.conflist', 'File name of the CNI configuration.'),
  iface: text('', 'NIC of the tunnels: a name, or regular expressions separated by commas.'),
  hostTunnelSrc: switchedOn(false, 'Let tunnels end at addresses with a /32 or /128 mask too.'),
  dpdkTunnelIface: text(
    'br-phy',
    'NIC of the tunnels on nodes that are labelled for the userspace data path.',
  ),
  mtu: wholeNumber(0, 'MTU of pods, bytes; 0 derives it from the NIC of the tunnels.'),
  enableMirror: switchedOn(false, 'Mirror what all pods of the node send and receive.'),
  mirrorIface: text('mirror0', 'NIC where mirrored packets come out; Open vSwitch makes it.'),
  aclSampleCollectorSet: wholeNumber(
    142,
    'Number of the Flow_Sample_Collector_Set that takes samples of what policies decide. New.',
    {},
    [1, 0xff_ff_ff_ff],
  ),
  aclSampleTargets: list(
    '',
    'Collectors of IPFIX that are told of them, as address:port; empty for none. New.',
  ),
  bindSocket: text(agentSocket, 'Unix socket that the CNI plugin asks.'),
  ovsSocket: text('/run/openvswitch/db.sock', 'Unix socket of the local Open vSwitch database.'),
  kubeconfig: text('', 'File with the way to the API server; empty inside a cluster.', {
    environment: 'KUBECONFIG',
  }),
  serviceClusterIpRange: list(
    '10.96.0.0/12',
    'Prefixes of Service addresses, where there are no ServiceCIDR objects.',
  ),
  clusterRouter: text('ovn-cluster', 'Name of the default VPC.'),
  nodeSwitch: text('join', "Name of the subnet of the nodes' ports."),
  encapChecksum: switchedOn(true, 'Checksums in the outer headers of tunnels.'),
  enablePprof: switchedOn(false, noEffect),
  pprofPort: wholeNumber(10665, 'Port of health checks and metrics.'),
  macLearningFallback: switchedOn(
    false,
    'Let bridges of physical networks send frames to where a MAC address was seen once.',
  ),
  replaceKubeProxy: switchedOn(
    false,
    'Serve Services to the node, and to who comes by way of it, in the place of kube-proxy.',
  ),
  networkType: oneOf(networkTypes, 'geneve', 'Protocol of tunnels; decides the MTU.'),
  defaultProviderName: text('provider', notServed),
  defaultInterfaceName: text('', notServed),
  externalGatewayConfigNs: text('kube-system', notServed),
  externalGatewaySwitch: text('external', notServed),
  enableMetrics: switchedOn(true, 'Serve /metrics.'),
  enableArpDetectIpConflict: switchedOn(
    true,
    'Without effect on overlay networks, where OVN hands out every address once.',
  ),
  kubeletDir: text('/var/lib/kubelet', notServed),
  enableVerboseConnCheck: switchedOn(
    false,
    'Let pingers try a TCP and a UDP port of the node, and answer there.',
  ),
  tcpConnCheckPort: wholeNumber(8100, 'Port for that.'),
  udpConnCheckPort: wholeNumber(8101, 'Port for that.'),
  enableTproxy: switchedOn(
    false,
    'Let the kubelet reach probed ports of Pods of other VPCs than the default one.',
  ),
  ovsVsctlConcurrency: wholeNumber(100, 'Accepted for compatibility: no ovs-vsctl is started.'),
  enableOvnIpsec: switchedOn(false, notServed),
  certManagerIpsecCert: switchedOn(false, notServed),
  certManagerIssuerName: text('kube-ovn', notServed),
  ovnIpsecCertDuration: wholeNumber(63_072_000, notServed),
  setVxlanTxOff: switchedOn(false, notServed),
  logPerm: text('640', noEffect),
  ...secureServingSettings,
  nonPrimaryCniMode: switchedOn(false, notServed),
  nodeName: text('', 'Name of the own Node; empty for the host name.', {
    environment: 'NODE_NAME',
    isEnvironmentOnly: true,
  }),
  podIp: text('', 'Own address: tunnels end there when no NIC is named.', {
    environment: 'POD_IP',
    isEnvironmentOnly: true,
  }),
  podIps: list('', 'Own addresses.', { environment: 'POD_IPS', isEnvironmentOnly: true }),
  enableBindLocalIp: switchedOn(false, 'Listen on the own addresses only.', {
    environment: 'ENABLE_BIND_LOCAL_IP',
    isEnvironmentOnly: true,
  }),
} as const

export const command: Command<typeof settings> = {
  name: 'kube-ovn-daemon',
  summary: 'Attaches the pods of a node to the network, and keeps the node connected to it.',
  examples: ['kube-ovn-daemon --iface=eth1', 'kube-ovn-daemon --kubeconfig=$HOME/.kube/config --mtu=1400'],
  settings,
}

export type AgentConfig = ConfigOf<typeof settings>
