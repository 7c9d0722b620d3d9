import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { startContainer, inspectContainer, type Container } from '../docker/container.ts'
import { ensureLabImage, imageArchiveMount, imageArchives, saveImage } from '../docker/image.ts'
import { createContainerdDirectory, ensureContainerdSeed, type SeedImage } from '../docker/containerd-seed.ts'
import { createInternalNetwork } from '../docker/network.ts'
import { DockerError } from '../errors.ts'
import { ApiClient, type ApiObject } from '../kubernetes/client.ts'
import { eventually, waitForObjects } from '../kubernetes/wait.ts'
import { insideContainer, runAt, type Place } from '../namespaces.ts'
import { labDirectory, programs, repository } from '../paths.ts'
import { writeCertificates } from './certificates.ts'
import {
  auditPolicy,
  configurationDirectory,
  programDirectory,
  renderControlScript,
} from './control-plane.ts'
import { renderKubeconfig } from './kubeconfig.ts'
import { labelsOf, removeLab } from './leftovers.ts'
import {
  bridgeConflist,
  renderBridgeConflist,
  renderContainerdConfiguration,
  renderKubeletConfiguration,
  renderNodeScript,
  renderProxyConfiguration,
} from './node-machine.ts'
import { attachToPhysicalNetwork, createPhysicalNetwork } from './physical-network.ts'
import { renderMachineScript } from './shell-script.ts'
import {
  addressesOf,
  apiPort,
  apiServiceAddress,
  bracketed,
  controlHost,
  defaultTopology,
  maxBlocks,
  nodeHost,
  ofStack,
  outsideHost,
  subnetsOf,
  type AddressPair,
  type Topology,
} from './topology.ts'

export interface LabNode {
  readonly name: string
  readonly container: Container
  readonly kubernetes: AddressPair
  readonly tunnel: AddressPair
  readonly physical: AddressPair
  /** The node itself: its files and its network. */
  readonly place: Place
}

/** A running cluster; disposing of it removes everything that it is made of, unless it is to be kept. */
export interface Cluster extends AsyncDisposable {
  readonly topology: Topology
  /** Tells its addresses apart from those of other labs of this machine. */
  readonly block: number
  readonly directory: string
  readonly kubeconfig: string
  readonly api: ApiClient
  readonly control: Container
  readonly nodes: readonly LabNode[]
  /** A plain host and switch on the physical network. */
  readonly outside: { readonly container: Container; readonly addresses: AddressPair; readonly place: Place }
}

/**
 * Brings up a Kubernetes cluster in containers: a control machine, nodes and an outside host.
 *
 * It returns once the API server is ready and every node has registered; nodes become Ready when a network is installed.
 */
export async function createCluster(wanted: Partial<Topology> = {}): Promise<Cluster> {
  const topology = { ...defaultTopology, ...wanted }
  const [nodeImage, pauseImage] = await Promise.all([ensureLabImage('node'), ensureLabImage('pause')])
  await removeLab(topology.id)
  const block = await createNetworks(topology)
  const directory = labDirectory(topology.id)
  const seed = await ensureContainerdSeed(nodeImage, await imagesOf(topology, pauseImage))
  await writeConfiguration(topology, block, directory, pauseImage)
  const [control, outside, ...machines] = await Promise.all([
    startMachine(topology, block, nodeImage, { name: 'control', host: controlHost }),
    startMachine(topology, block, nodeImage, { name: 'outside', host: outsideHost }),
    ...nodeNames(topology).map(async (name, index) => {
      const containerd = await createContainerdDirectory(topology.id, name, seed)
      return startMachine(topology, block, nodeImage, { name, host: nodeHost(index), containerd })
    }),
  ])
  await createPhysicalNetwork(outside, block)
  await Promise.all(machines.map((node, index) => attachToPhysicalNetwork(node, index, outside, block)))
  const cluster = assembleCluster(topology, block, control, outside, machines)
  await untilApiAnswers(cluster)
  await Promise.all([untilNodesRegistered(cluster), untilPodsAdmitted(cluster)])
  return cluster
}

/** Finds a lab that is running, e.g. one that was kept. */
export async function openCluster(topology: Topology, block: number): Promise<Cluster> {
  const names = ['control', 'outside', ...nodeNames(topology)]
  const [control, outside, ...machines] = await Promise.all(
    names.map((name) => inspectContainer(containerName(topology.id, name))),
  )
  if (control === undefined || outside === undefined) {
    const details = {
      method: 'GET',
      path: topology.id,
      status: 404,
      reason: 'control and outside are missing',
    }
    throw new DockerError('a lab is not complete', details)
  }
  return assembleCluster(topology, block, control, outside, machines)
}

/** The name under which examples ask for the image that pods are tried with; a lab has no registry to get it from. */
const exampleImage = 'docker.io/library/busybox:stable'

/** What every node has from the start, in the order of how seldom it changes. */
async function imagesOf(topology: Topology, pauseImage: string): Promise<readonly SeedImage[]> {
  const [probe, coredns] = await Promise.all([ensureLabImage('probe'), ensureLabImage('coredns')])
  const product = topology.podNetwork === 'kube-ovn' ? readProductImages() : []
  return [
    { name: pauseImage },
    { name: coredns },
    { name: probe, aliases: [exampleImage] },
    ...product.map((name) => ({ name })),
  ]
}

/** The product's images, as `npm run images` left them. */
function readProductImages(): readonly string[] {
  const list = JSON.parse(readFileSync(join(repository, 'dist/images.json'), 'utf8')) as {
    readonly images: Readonly<Record<string, string>>
  }
  return Object.values(list.images)
}

/** Makes the product's images known to a cluster that was made with another pod network. */
export async function importProductImages(cluster: Cluster): Promise<void> {
  await importImages(cluster, readProductImages())
}

/** Makes more images known to every node. */
export async function importImages(cluster: Cluster, images: readonly string[]): Promise<void> {
  const files = await Promise.all(images.map(saveImage))
  await Promise.all(
    cluster.nodes.map(async ({ place }) => {
      await eventually('containerd answers', async () => {
        const answer = await runAt(place, ['ctr', 'version']).catch(() => undefined)
        return answer
      })
      for (const file of files)
        await runAt(place, ['ctr', '-n', 'k8s.io', 'images', 'import', `${imageArchiveMount}/${file}`])
    }),
  )
}

/** Waits until every node is Ready, which takes a pod network. */
export function untilNodesReady(cluster: Cluster, timeoutMs = 120_000): Promise<true> {
  return waitForObjects<NodeObject, true>(
    cluster.api,
    '/api/v1/nodes',
    'every node is Ready',
    (nodes) => (nodes.length === cluster.nodes.length && nodes.every(isReady) ? true : undefined),
    timeoutMs,
  )
}

interface NodeObject extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

function isReady(node: NodeObject): boolean {
  return node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
}

async function untilApiAnswers(cluster: Cluster): Promise<void> {
  await eventually(
    'the API server is ready',
    () => cluster.api.call<string>('GET', '/readyz').catch(() => undefined),
    { timeoutMs: 90_000, pauseMs: 100 },
  )
}

async function untilNodesRegistered(cluster: Cluster): Promise<void> {
  await waitForObjects(
    cluster.api,
    '/api/v1/nodes',
    'every node has registered',
    (nodes) => (nodes.length === cluster.nodes.length ? true : undefined),
    90_000,
  )
  // kubelet may not give itself a role.
  await Promise.all(
    cluster.nodes.slice(0, 1).map(({ name }) =>
      cluster.api.mergePatch(`/api/v1/nodes/${name}`, {
        metadata: { labels: { 'node-role.kubernetes.io/control-plane': '' } },
      }),
    ),
  )
}

/** The API server refuses pods of a namespace until the controller manager has made its service account. */
async function untilPodsAdmitted(cluster: Cluster): Promise<void> {
  const namespaces = ['default', 'kube-system']
  await Promise.all(
    namespaces.map((namespace) =>
      waitForObjects(
        cluster.api,
        `/api/v1/namespaces/${namespace}/serviceaccounts`,
        `the service account of namespace ${namespace}`,
        (accounts) => (accounts.some(({ metadata }) => metadata.name === 'default') ? true : undefined),
      ),
    ),
  )
}

function nodeNames(topology: Topology): string[] {
  return Array.from({ length: topology.nodes }, (_, index) => `node-${index + 1}`)
}

function containerName(id: string, machine: string): string {
  return `kube-ovn-${id}-${machine}`
}

function networkName(id: string, network: 'kubernetes' | 'tunnel'): string {
  return `kube-ovn-${id}-${network}`
}

/** Takes the first block of addresses that nothing on this machine uses. */
async function createNetworks(topology: Topology): Promise<number> {
  for (let block = 0; block < maxBlocks; block++) {
    if (await createNetwork(topology, block, 'kubernetes')) {
      if (await createNetwork(topology, block, 'tunnel')) return block
      await removeLab(topology.id)
    }
  }
  const details = { method: 'POST', path: '/networks/create', status: 0, reason: '172.30.0.0/16 is used up' }
  throw new DockerError('no free addresses for a lab', details)
}

function createNetwork(
  topology: Topology,
  block: number,
  network: 'kubernetes' | 'tunnel',
): Promise<boolean> {
  const { ipv4, ipv6 } = subnetsOf(block, network)
  return createInternalNetwork({
    name: networkName(topology.id, network),
    ipv4Subnet: ipv4,
    ipv6Subnet: ipv6,
    labels: labelsOf(topology, block),
  })
}

async function writeConfiguration(
  topology: Topology,
  block: number,
  directory: string,
  pauseImage: string,
): Promise<void> {
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const pki = join(directory, 'pki')
  const { stack } = topology
  const names = nodeNames(topology)
  const nodes = names.map((name, index) => ({
    name,
    stack,
    podNetwork: topology.podNetwork,
    addresses: ofStack(stack, addressesOf(block, 'kubernetes', nodeHost(index))),
    labels: index === 0 ? { 'kube-ovn/role': 'master' } : {},
  }))
  const control = ofStack(stack, addressesOf(block, 'kubernetes', controlHost))
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
    nodes,
  })
  const server = `https://${bracketed(controlAddress)}:${apiPort}`
  writeFileSync(join(directory, 'kubeconfig'), renderKubeconfig(pki, 'admin', server), { mode: 0o600 })

  const controlDirectory = makeMachineDirectory(directory, 'control', pki)
  writeScript(controlDirectory, renderControlScript(stack, controlAddress))
  writeFileSync(join(controlDirectory, 'audit-policy.yaml'), stringify(auditPolicy))
  for (const identity of ['controller-manager', 'scheduler']) {
    const own = renderKubeconfig(pki, identity, `https://localhost:${apiPort}`)
    writeFileSync(join(controlDirectory, `${identity}.kubeconfig`), own)
  }

  writeScript(makeMachineDirectory(directory, 'outside', pki), renderOutsideScript())

  for (const [index, node] of nodes.entries()) {
    const own = makeMachineDirectory(directory, node.name, pki)
    const write = (file: string, text: string): void => writeFileSync(join(own, file), text)
    writeScript(own, renderNodeScript(node))
    write('kubelet.yaml', renderKubeletConfiguration(stack, node.name))
    write('kube-proxy.yaml', renderProxyConfiguration(stack))
    write('containerd.toml', renderContainerdConfiguration(pauseImage))
    write('resolv.conf', `nameserver ${ofStack(stack, addressesOf(block, 'physical', outsideHost))[0]}\n`)
    write('kubelet.kubeconfig', renderKubeconfig(pki, node.name, server))
    write('kube-proxy.kubeconfig', renderKubeconfig(pki, 'kube-proxy', server))
    if (topology.podNetwork === 'bridge') write(bridgeConflist, renderBridgeConflist(stack, index))
  }
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
  if (machine === 'outside') return []
  if (machine !== 'control') return pair(machine)
  return ['ca.key', 'sa.key', 'sa.pub', ...['apiserver', 'apiserver-kubelet', 'front-proxy'].flatMap(pair)]
}

/** The outside host answers every connection to port 8080 with the address that it sees it come from. */
function renderOutsideScript(): string {
  const answer = 'SYSTEM:echo $SOCAT_PEERADDR'
  return renderMachineScript(
    [],
    [
      { name: 'echo4', command: ['socat', 'TCP4-LISTEN:8080,fork,reuseaddr', answer] },
      { name: 'echo6', command: ['socat', 'TCP6-LISTEN:8080,fork,reuseaddr,ipv6only=1', answer] },
    ],
  )
}

function writeScript(directory: string, text: string): void {
  const path = join(directory, 'start')
  writeFileSync(path, text)
  chmodSync(path, 0o755)
}

async function startMachine(
  topology: Topology,
  block: number,
  image: string,
  machine: { readonly name: string; readonly host: number; readonly containerd?: string },
): Promise<Container> {
  const directory = labDirectory(topology.id)
  const attachment = (network: 'kubernetes' | 'tunnel') => ({
    network: networkName(topology.id, network),
    ...addressesOf(block, network, machine.host),
  })
  const isNode = machine.containerd !== undefined
  mkdirSync(imageArchives, { recursive: true })
  return startContainer({
    name: containerName(topology.id, machine.name),
    hostname: machine.name,
    image,
    command: [`${configurationDirectory}/start`],
    labels: labelsOf(topology, block),
    mounts: [
      `${join(directory, machine.name)}:${configurationDirectory}`,
      `${join(directory, 'logs', machine.name)}:/var/log/lab`,
      ...(machine.name === 'outside' ? [] : [`${programs.kubernetes}:${programDirectory}:ro`]),
      ...(isNode
        ? [`${imageArchives}:${imageArchiveMount}:ro`, `${machine.containerd}:/var/lib/containerd`]
        : []),
    ],
    volumes: isNode ? ['/var/lib/kubelet'] : [],
    // Only nodes have tunnels, and the outside host is reached through the physical network alone.
    networks: isNode
      ? [attachment('kubernetes'), attachment('tunnel')]
      : machine.name === 'control'
        ? [attachment('kubernetes')]
        : [],
    extraHosts: [],
  })
}

function assembleCluster(
  topology: Topology,
  block: number,
  control: Container,
  outside: Container,
  machines: readonly Container[],
): Cluster {
  const directory = labDirectory(topology.id)
  const kubeconfig = join(directory, 'kubeconfig')
  const api = new ApiClient(kubeconfig)
  return {
    topology,
    block,
    directory,
    kubeconfig,
    api,
    control,
    nodes: machines.map((container, index) => ({
      name: `node-${index + 1}`,
      container,
      kubernetes: addressesOf(block, 'kubernetes', nodeHost(index)),
      tunnel: addressesOf(block, 'tunnel', nodeHost(index)),
      physical: addressesOf(block, 'physical', nodeHost(index)),
      place: insideContainer(container),
    })),
    outside: {
      container: outside,
      addresses: addressesOf(block, 'physical', outsideHost),
      place: insideContainer(outside),
    },
    async [Symbol.asyncDispose]() {
      api[Symbol.dispose]()
      if (!topology.isKept) await removeLab(topology.id)
    },
  }
}
