import { stringify } from 'yaml'
import { configurationDirectory, programDirectory } from './control-plane.ts'
import { containerPreparation, renderMachineScript } from './shell-script.ts'
import { dnsServiceAddress, ofStack, type PodNetwork, type Stack, type Topology } from './topology.ts'

export interface NodeMachine {
  readonly name: string
  /** What its machine does before its daemons start, beside what every machine does. */
  readonly preparation: readonly string[]
  /** Its addresses in the Kubernetes network, one for each family of the stack. */
  readonly addresses: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly hasProxy: boolean
}

/** Renders the script of a node: containerd, kubelet and, if it has one, kube-proxy as plain processes. */
export function renderNodeScript(node: NodeMachine): string {
  const labels = Object.entries(node.labels).map(([key, value]) => `${key}=${value}`)
  const kubelet = [
    `${programDirectory}/kubelet`,
    `--config=${configurationDirectory}/kubelet.yaml`,
    `--kubeconfig=${configurationDirectory}/kubelet.kubeconfig`,
    `--hostname-override=${node.name}`,
    // Without it kubelet takes the IPv6 address.
    `--node-ip=${node.addresses.join(',')}`,
    ...(labels.length === 0 ? [] : [`--node-labels=${labels.join(',')}`]),
  ]
  return renderMachineScript(
    [...containerPreparation, ...node.preparation],
    [
      {
        name: 'containerd',
        command: ['containerd', '--config', `${configurationDirectory}/containerd.toml`],
      },
      { name: 'kubelet', command: kubelet },
      ...(node.hasProxy
        ? [
            {
              name: 'kube-proxy',
              command: [
                `${programDirectory}/kube-proxy`,
                `--config=${configurationDirectory}/kube-proxy.yaml`,
                `--hostname-override=${node.name}`,
              ],
            },
          ]
        : []),
    ],
  )
}

/** kubelet on a machine that is itself a container on a shared host: cgroup v1 by cgroupfs, and no eviction by the host's disk. */
export function renderKubeletConfiguration(stack: Stack, nodeName: string): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: '::',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: `${configurationDirectory}/pki/ca.crt` },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: `${configurationDirectory}/pki/${nodeName}.crt`,
    tlsPrivateKeyFile: `${configurationDirectory}/pki/${nodeName}.key`,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    failCgroupV1: false,
    enforceNodeAllocatable: [],
    failSwapOn: false,
    featureGates: { KubeletInUserNamespace: true },
    clusterDNS: ofStack(stack, dnsServiceAddress),
    clusterDomain: 'cluster.local',
    resolvConf: `${configurationDirectory}/resolv.conf`,
    maxPods: 500,
    registryPullQPS: 0,
    eventRecordQPS: 0,
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    evictionHard: {
      'memory.available': '0%',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
    shutdownGracePeriod: '0s',
  })
}

/** kube-proxy; the host's conntrack limits are not ours to set. */
export function renderProxyConfiguration({ stack, podRange, proxyMode }: Topology): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: proxyMode,
    clientConnection: { kubeconfig: `${configurationDirectory}/kube-proxy.kubeconfig` },
    clusterCIDR: ofStack(stack, podRange).join(','),
    conntrack: { maxPerCore: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    // In nftables mode they would be those of the node's own name alone, and the outside host knows others.
    nodePortAddresses: ofStack(stack, { ipv4: '0.0.0.0/0', ipv6: '::/0' }),
    bindAddress: ofStack(stack, { ipv4: '0.0.0.0', ipv6: '::' })[0],
  })
}

/** containerd 1.7, which may not lower the oom score inside a container. */
export function renderContainerdConfiguration(pauseImage: string): string {
  const cri = `plugins."io.containerd.grpc.v1.cri"`
  return [
    'version = 2',
    `[${cri}]`,
    `  sandbox_image = ${JSON.stringify(pauseImage)}`,
    '  restrict_oom_score_adj = true',
    `[${cri}.cni]`,
    '  bin_dir = "/opt/cni/bin"',
    '  conf_dir = "/etc/cni/net.d"',
    `[${cri}.containerd]`,
    '  default_runtime_name = "runc"',
    `[${cri}.containerd.runtimes.runc]`,
    '  runtime_type = "io.containerd.runc.v2"',
    `[${cri}.containerd.runtimes.runc.options]`,
    '  SystemdCgroup = false',
    '',
  ].join('\n')
}

/**
 * The plain bridge plugin with a range of its own on each node: what a pod costs without a network product.
 *
 * @param index of the node, from 0
 */
export function renderBridgeConflist(stack: Stack, index: number): string {
  const ranges = ofStack(stack, {
    ipv4: `10.16.${index + 1}.0/24`,
    ipv6: `fd00:10:16:0:0:0:${index + 1}:0/112`,
  })
  const defaults = ofStack(stack, { ipv4: '0.0.0.0/0', ipv6: '::/0' })
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'bridge',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          ranges: ranges.map((subnet) => [{ subnet }]),
          routes: defaults.map((dst) => ({ dst })),
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  })
}

/** File name of the conflist that the lab brings itself. */
export const bridgeConflist = 'bridge.conflist'

/** A product brings its own plugins; only the bridge network is set up by the lab, from Debian's. */
export function podNetworkPreparation(network: PodNetwork): readonly string[] {
  if (network !== 'bridge') return []
  const plugins = ['bridge', 'host-local', 'portmap', 'loopback'].map((name) => `/usr/lib/cni/${name}`)
  return [
    'mkdir -p /opt/cni/bin /etc/cni/net.d',
    `cp ${plugins.join(' ')} /opt/cni/bin/`,
    `cp ${configurationDirectory}/${bridgeConflist} /etc/cni/net.d/10-${bridgeConflist}`,
  ]
}
