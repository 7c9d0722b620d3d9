/** Flags, without the dashes before them, by the program that takes them. */
export interface FlagsOfPrograms {
  readonly controllerFlags?: readonly string[]
  readonly agentFlags?: readonly string[]
  readonly speakerFlags?: readonly string[]
}

/** Something that is not there yet, with everything that asks for it. */
export interface MissingFeature extends FlagsOfPrograms {
  /** What "… is not there yet" makes a sentence of. */
  readonly name: string
  /** What is so until then, and what to do. */
  readonly cure: string
  /** Fields of a Subnet's `spec`. */
  readonly subnet?: readonly string[]
  /** Annotations of a Pod about any of its NICs, without what stands before the slash. */
  readonly nic?: readonly string[]
  /** Annotations `ovn.kubernetes.io/…`, by the kind of what they stand on. */
  readonly annotations?: Partial<Readonly<Record<AnnotatedKind, readonly string[]>>>
  /** Labels `ovn.kubernetes.io/…` of a Node, which ask for it when they are `true`. */
  readonly nodeLabels?: readonly string[]
  /** Texts of annotations that ask for nothing, beside `0` and no text at all. */
  readonly unless?: Readonly<Record<string, string>>
  /** Values of the chart. A boolean that is on asks for it; anything else that differs from what is given here. */
  readonly chartValues?: Readonly<Record<string, ChartDefault>>
  /** The chart refuses the values: who believes in what is not there would come to harm. */
  readonly isDangerous?: true
}

export type AnnotatedKind = 'Subnet' | 'Vpc' | 'Pod' | 'Node'

type ChartDefault = boolean | number | string | undefined

/** What is not there yet. */
export const missingFeatures: readonly MissingFeature[] = [
  {
    name: "a network of the nodes' own for tunnels of a subnet",
    cure: "tunnels end where the node's others do: remove it",
    subnet: ['nodeNetwork'],
  },
  {
    name: 'a VPC of a router that others made',
    cure: 'its router is left alone: make a Vpc without the label vpc_external',
    controllerFlags: ['enable-external-vpc'],
    chartValues: { 'features.enableExternalVpcs': false },
  },
  {
    name: 'a gateway to an external network',
    cure: 'traffic leaves with the address of the node, or its own: remove it',
    annotations: { Pod: ['eip', 'snat'] },
    controllerFlags: ['external-gateway-config-ns', 'external-gateway-net', 'external-gateway-vlanid'],
    agentFlags: ['external-gateway-config-ns', 'external-gateway-switch'],
    chartValues: {
      'networking.externalGatewayConfigNs': '',
      'networking.externalGatewaySwitch': '',
      'features.enableNatGateways': false,
      natGw: undefined,
      'apiNad.enabled': false,
    },
  },
  {
    name: 'a Pod by which a VPC reaches Services of others',
    cure: 'connect the VPC otherwise, and remove it',
    annotations: { Vpc: ['vpc_lb'] },
    unless: { vpc_lb: 'off' },
  },
  {
    name: 'a NIC that is no veth pair',
    cure: 'the NIC is a veth pair: remove it',
    nic: ['pod_nic_type'],
    unless: { pod_nic_type: 'veth-pair' },
    controllerFlags: ['pod-nic-type'],
    agentFlags: ['kubelet-dir'],
    chartValues: {
      'networking.podNicType': 'veth-pair',
      'ovsOvn.dpdkHybrid.enabled': false,
      'kubelet.directory': '/var/lib/kubelet',
    },
  },
  {
    name: 'interconnection of clusters',
    cure: 'remove it',
    nodeLabels: ['ic-gw'],
    chartValues: { 'features.enableOvnInterconnections': false, ic: undefined },
  },
  {
    name: 'encryption of tunnels',
    cure: 'what tunnels carry can be read: do not rely on it',
    controllerFlags: ['enable-ovn-ipsec', 'cert-manager-ipsec-cert'],
    agentFlags: [
      'enable-ovn-ipsec',
      'cert-manager-ipsec-cert',
      'cert-manager-issuer-name',
      'ovn-ipsec-cert-duration',
    ],
    chartValues: { 'features.enableOvnIpsec': false },
    isDangerous: true,
  },
  {
    name: "renewal of the databases' certificates",
    cure: 'change the Secret before they expire',
    chartValues: { 'networking.kubeOvnTlsRotationInterval': '8760h' },
  },
  {
    name: 'an agent that leaves the first network to another CNI plugin',
    cure: 'the agent writes its CNI configuration all the same: take it out of the directory',
    agentFlags: ['non-primary-cni-mode'],
    chartValues: { 'cni.nonPrimaryCNI': false },
    isDangerous: true,
  },
  {
    name: 'the switch for the offload of VXLAN',
    cure: 'use ethtool on the node',
    agentFlags: ['set-vxlan-tx-off'],
    chartValues: { 'features.SET_VXLAN_TX_OFF': false },
  },
  {
    name: 'a validating webhook',
    cure: 'the API server and the controller check what is written, without one',
    chartValues: { 'validatingWebhook.enabled': false },
  },
  {
    name: 'a control plane that is hosted elsewhere',
    cure: 'the databases run on the nodes of masterNodes',
    chartValues: { 'central.hcp.enabled': false },
    isDangerous: true,
  },
  {
    name: 'profiling over HTTP',
    cure: 'use the inspector of Node.js',
    controllerFlags: ['enable-pprof'],
    agentFlags: ['enable-pprof'],
  },
  {
    name: "the choice of the images' repository for all components",
    cure: 'write image.repository of each component',
    chartValues: { 'global.images.kubeovn.repository': 'kube-ovn' },
  },
  {
    name: 'compaction of the databases by a component of its own',
    cure: 'ovsdb-server compacts them by itself: remove it',
    chartValues: { 'networking.enableCompact': false },
  },
]

type ResourceKind =
  | 'Subnet'
  | 'Vpc'
  | 'IP'
  | 'IPPool'
  | 'DNSNameResolver'
  | 'EgressFirewall'
  | 'SecurityGroup'
  | 'Vip'
  | 'OvnEip'
  | 'SwitchLBRule'
  | 'RouterLBRule'
  | 'VpcDns'
  | 'Vlan'
  | 'ProviderNetwork'

/** Something without effect by which nothing is lost: there is nothing to tell. */
export interface Needless extends FlagsOfPrograms {
  /** Why. */
  readonly why: string
  readonly fields?: Partial<Readonly<Record<ResourceKind, readonly string[]>>>
  /** Annotations, without what stands before the slash. */
  readonly annotations?: Partial<Readonly<Record<AnnotatedKind | 'Namespace', readonly string[]>>>
  readonly chartValues?: readonly string[]
  /** The flags are not told of at start: whoever installs the chart does not choose them. */
  readonly isUntold?: true
}

/** Of klog, which every program takes, and of upstream's own about its files. */
const logFlags: readonly string[] = [
  'log-perm',
  'vmodule',
  'log_dir',
  'log_file_max_size',
  'stderrthreshold',
  'skip_headers',
  'one_output',
  'skip_log_headers',
  'add_dir_header',
  'log_backtrace_at',
  'alsologtostderrthreshold',
  'legacy_stderr_threshold_behavior',
]

export const needless: readonly Needless[] = [
  {
    why: 'The controller writes it, whatever it was',
    fields: { Subnet: ['protocol', 'default'], IP: ['ipAddress'] },
  },
  {
    why: 'For others to read; it decides nothing',
    annotations: { Pod: ['vlan_id', 'provider_network', 'logical_router'] },
  },
  { why: 'No subnet takes part in an interconnection', fields: { Subnet: ['disableInterConnection'] } },
  {
    why: 'Nothing has ever read it',
    fields: {
      IP: ['attachSubnets', 'attachIps', 'attachMacs', 'containerID'],
      Vip: ['attachSubnets'],
    },
    chartValues: ['nameOverride', 'fullnameOverride'],
  },
  {
    why: 'What it is for is not installed',
    chartValues: ['clusterDomain', 'ovsOvn.ovsIpsecKeysDirectory'],
  },
  {
    why: 'The ProviderNetwork says by which NIC a node is connected',
    agentFlags: ['default-provider-name', 'default-interface-name'],
  },
  {
    why: 'The configuration of the CNI plugin is built in, and OVN upgrades by itself',
    agentFlags: ['cni-conf-file'],
    chartValues: ['cni.localConfigFile', 'ovsOvn.upgrade'],
  },
  {
    why: 'Written by the agent for NICs that it does not make yet',
    annotations: { Pod: ['vf', 'vf_representor'] },
  },
  {
    why: 'Connections are tried for as long as it takes',
    controllerFlags: ['ovsdb-con-maxretry'],
  },
  {
    why: 'No pods are made of them yet',
    controllerFlags: ['frr-image'],
    isUntold: true,
  },
  {
    why: 'OVN hands out every address once',
    agentFlags: ['enable-arp-detect-ip-conflict'],
  },
  {
    why: 'Logs are lines of JSON on standard error, and in the file that log_file names',
    controllerFlags: logFlags,
    agentFlags: [...logFlags, 'logtostderr'],
    speakerFlags: logFlags,
  },
  {
    why: 'No GoBGP is there to be asked; kubectl get bgppeers tells of sessions',
    speakerFlags: ['grpc-host', 'grpc-port'],
  },
  {
    why: 'Work is batched, and follows changes',
    controllerFlags: [
      'worker-num',
      'cust-crd-retry-min-delay',
      'cust-crd-retry-max-delay',
      'nodepg-probe-time',
      'gc-interval',
    ],
    agentFlags: ['ovs-vsctl-concurrency'],
    chartValues: [
      'performance.gcInterval',
      'performance.ovsVsctlConcurrency',
      'central.ovnLeaderProbeInterval',
    ],
  },
]
