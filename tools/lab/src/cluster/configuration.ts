import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { zoneLabel } from '../kubernetes/node-labels.ts'
import { writeCertificates, writeNodeCertificate } from './certificates.ts'
import { auditPolicy, configurationDirectory, renderControlScript } from './control-plane.ts'
import { renderControlSource } from './control-routes.ts'
import { renderKubeconfig } from './kubeconfig.ts'
import { multusFiles, multusPreparation, multusUser, renderMultusConfiguration } from './multus.ts'
import { nodeName, nodeNumber, routerName } from './names.ts'
import {
  bridgeConflist,
  podNetworkPreparation,
  renderBridgeConflist,
  renderContainerdConfiguration,
  renderKubeletConfiguration,
  renderNodeScript,
  renderProxyConfiguration,
} from './node-machine.ts'
import { renderRouterFiles } from './router-configuration.ts'
import { renderMachineScript } from './shell-script.ts'
import { switchDaemons, switchPreparation } from './vlan-switch.ts'
import {
  addressesOf,
  apiPort,
  apiServiceAddress,
  bracketed,
  controlHost,
  nodeHost,
  ofStack,
  outsideHost,
  type Blocks,
  type NodeSpec,
  type Topology,
} from './topology.ts'

/** The packet filter of a node, a file. */
const controlSource = 'control-source.nft'

/** A node as its files describe it. */
export interface NodePlan {
  readonly name: string
  /** Its number in every network of the lab. */
  readonly host: number
  readonly spec: NodeSpec
}

/** The nodes that a topology starts with. */
export function plannedNodes(topology: Topology): NodePlan[] {
  return topology.nodes.map((spec, index) => ({
    name: nodeName(index + 1),
    host: nodeHost(topology, index),
    spec,
  }))
}

/** Writes what all machines of a cluster need, and its kubeconfig. */
export async function writeConfiguration(
  topology: Topology,
  blocks: Blocks,
  directory: string,
  pauseImage: string,
): Promise<void> {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const pki = join(directory, 'pki')
  const { stack } = topology
  const nodes = plannedNodes(topology)
  const control = ofStack(stack, addressesOf(blocks, 'kubernetes', controlHost))
  const [controlAddress = ''] = control
  await writeCertificates(pki, {
    apiServerNames: [
      ...[
        'kubernetes',
        'kubernetes.default',
        'kubernetes.default.svc',
        'kubernetes.default.svc.cluster.local',
      ],
      ...['localhost', '127.0.0.1', '::1', ...control, ...ofStack(stack, apiServiceAddress)],
    ],
    nodes: nodes.map((node) => ({ name: node.name, addresses: nodeAddresses(topology, blocks, node) })),
  })
  const server = serverOf(topology, blocks)
  writeFileSync(join(directory, 'kubeconfig'), renderKubeconfig(pki, 'admin', server), { mode: 0o600 })

  const controlDirectory = makeMachineDirectory(directory, 'control', pki)
  writeScript(controlDirectory, renderControlScript(topology, controlAddress))
  writeFileSync(join(controlDirectory, 'audit-policy.yaml'), stringify(auditPolicy))
  for (const identity of ['controller-manager', 'scheduler']) {
    const own = renderKubeconfig(pki, identity, `https://localhost:${apiPort}`)
    writeFileSync(join(controlDirectory, `${identity}.kubeconfig`), own)
  }

  writeScript(makeMachineDirectory(directory, 'outside', pki), renderOutsideScript(topology))
  for (const index of topology.routers.keys()) writeRouterFiles(topology, blocks, directory, index)
  for (const node of nodes) writeNodeFiles(topology, blocks, directory, pauseImage, node)
}

function writeRouterFiles(topology: Topology, blocks: Blocks, directory: string, index: number): void {
  const own = makeMachineDirectory(directory, routerName(index), join(directory, 'pki'))
  const { start = '', ...others } = renderRouterFiles(topology, blocks, index)
  writeScript(own, start)
  for (const [file, text] of Object.entries(others)) writeFileSync(join(own, file), text)
}

/** Writes what a node needs that comes later, or that gets other addresses. */
export async function writeNodeConfiguration(
  topology: Topology,
  blocks: Blocks,
  directory: string,
  pauseImage: string,
  node: NodePlan,
): Promise<void> {
  const addresses = nodeAddresses(topology, blocks, node)
  await writeNodeCertificate(join(directory, 'pki'), { name: node.name, addresses })
  writeNodeFiles(topology, blocks, directory, pauseImage, node)
}

function writeNodeFiles(
  topology: Topology,
  blocks: Blocks,
  directory: string,
  pauseImage: string,
  node: NodePlan,
): void {
  const { stack, podNetwork } = topology
  const pki = join(directory, 'pki')
  const server = serverOf(topology, blocks)
  const own = makeMachineDirectory(directory, node.name, pki)
  const write = (file: string, text: string): void => writeFileSync(join(own, file), text)
  const addresses = nodeAddresses(topology, blocks, node)
  writeScript(
    own,
    renderNodeScript({
      name: node.name,
      preparation: [
        `nft -f ${configurationDirectory}/${controlSource}`,
        ...podNetworkPreparation(podNetwork),
        ...(topology.hasNetworkAttachments ? multusPreparation : []),
      ],
      addresses,
      labels: labelsOfNode(node.spec),
      hasProxy: topology.proxyMode !== 'none',
    }),
  )
  write(controlSource, renderControlSource(stack, blocks, addresses))
  write('kubelet.yaml', renderKubeletConfiguration(stack, node.name))
  write('kube-proxy.yaml', renderProxyConfiguration(topology))
  write('containerd.toml', renderContainerdConfiguration(pauseImage))
  write('resolv.conf', `nameserver ${ofStack(stack, addressesOf(blocks, 'physical', outsideHost))[0]}\n`)
  write('kubelet.kubeconfig', renderKubeconfig(pki, node.name, server))
  write('kube-proxy.kubeconfig', renderKubeconfig(pki, 'kube-proxy', server))
  if (topology.hasNetworkAttachments) {
    write(multusFiles.configuration, renderMultusConfiguration(podNetwork))
    write(multusFiles.kubeconfig, renderKubeconfig(pki, multusUser, server))
  }
  if (podNetwork === 'bridge') write(bridgeConflist, renderBridgeConflist(stack, nodeNumber(node.name) - 1))
}

function labelsOfNode({ isMaster, zone, labels }: NodeSpec): Record<string, string> {
  return {
    ...(isMaster ? { 'kube-ovn/role': 'master' } : {}),
    ...(zone === undefined ? {} : { [zoneLabel]: zone }),
    ...labels,
  }
}

function nodeAddresses({ stack }: Topology, blocks: Blocks, { host }: NodePlan): readonly string[] {
  return ofStack(stack, addressesOf(blocks, 'kubernetes', host))
}

export function serverOf({ stack }: Topology, blocks: Blocks): string {
  const [address = ''] = ofStack(stack, addressesOf(blocks, 'kubernetes', controlHost))
  return `https://${bracketed(address)}:${apiPort}`
}

/** A machine's own configuration directory; logs lie beside it. */
function makeMachineDirectory(directory: string, machine: string, pki: string): string {
  const own = join(directory, machine)
  mkdirSync(join(own, 'pki'), { recursive: true })
  mkdirSync(join(directory, 'logs', machine), { recursive: true })
  for (const file of ['ca.crt', ...pkiFilesOf(machine)]) copyFileSync(join(pki, file), join(own, 'pki', file))
  return own
}

function pkiFilesOf(machine: string): string[] {
  const pair = (name: string): string[] => [`${name}.crt`, `${name}.key`]
  if (nodeNumber(machine) > 0) return pair(machine)
  if (machine !== 'control') return []
  return ['ca.key', 'sa.key', 'sa.pub', ...['apiserver', 'apiserver-kubelet', 'front-proxy'].flatMap(pair)]
}

/** The outside host answers every connection to port 8080 with the address that it sees it come from. */
function renderOutsideScript({ vlans }: Topology): string {
  const answer = 'SYSTEM:echo $SOCAT_PEERADDR'
  const hasVlans = vlans.length > 0
  return renderMachineScript(hasVlans ? switchPreparation : [], [
    ...(hasVlans ? switchDaemons : []),
    { name: 'echo4', command: ['socat', 'TCP4-LISTEN:8080,fork,reuseaddr', answer] },
    { name: 'echo6', command: ['socat', 'TCP6-LISTEN:8080,fork,reuseaddr,ipv6only=1', answer] },
  ])
}

function writeScript(directory: string, text: string): void {
  const path = join(directory, 'start')
  writeFileSync(path, text)
  chmodSync(path, 0o755)
}
