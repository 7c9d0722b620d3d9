import { nodeAnnotations, podAnnotations, readNodeNetwork } from '@kube-ovn/annotations'
import { contains, familyOf, formatIp, parseMac, tryParseIp, type Ip, type Mac } from '@kube-ovn/ip'
import { nodes, pods, type Pod } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { podPortName, routerPortName } from '@kube-ovn/ovn-names'
import type { Cluster, PodContainer } from '../cluster.ts'
import { onNode } from '../components.ts'
import { NotReadyError, ObjectMissingError } from '../errors.ts'
import { readRows, type Row } from '../rows.ts'
import type { TraceRequest, TraceSource } from './request.ts'

/** Where a traced packet starts. */
export interface TraceStart {
  readonly port: string
  readonly node: string
  readonly logicalSwitch: string
  readonly mac: Mac
  readonly address: Ip
  /** Whether the target is in the network of the port. */
  readonly isNeighbour: boolean
}

const ready = 'wait until it has an address: kubectl ko why says what it lacks'

/** Finds the pod. @throws ObjectMissingError */
export async function findPod(cluster: Cluster, namespace: string, name: string): Promise<Pod> {
  const pod = await cluster.client.get(pods, { namespace, name })
  if (pod !== undefined) return pod
  throw new ObjectMissingError(
    'pod',
    `${namespace}/${name}`,
    `write one of: kubectl -n ${namespace} get pods`,
  )
}

/** The node of a pod. @throws NotReadyError before it has one */
export function nodeOf({ metadata: { namespace, name }, spec }: Pod): string {
  if (spec.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName
  throw new NotReadyError(
    'pod',
    `${namespace ?? ''}/${name}`,
    `wait until it is on a node: kubectl -n ${namespace ?? ''} describe pod ${name}`,
  )
}

/** The logical port of a pod, which a machine of KubeVirt keeps over its pods. */
export function portOf({ metadata }: Pod, provider?: string): string {
  const { namespace = '', name, annotations, ownerReferences = [] } = metadata
  const machine = ownerReferences.find(({ kind }) => kind === 'VirtualMachineInstance')?.name
  const named = podAnnotations(provider).virtualMachine.read(annotations)
  return podPortName(namespace, machine ?? named ?? name, provider)
}

/** @throws ObjectMissingError, NotReadyError */
export async function findStart(
  cluster: Cluster,
  source: TraceSource,
  target: Ip,
  provider?: string,
): Promise<TraceStart> {
  if (source.kind === 'node') return ofNode(cluster, source.name, target)
  const pod = await findPod(cluster, source.namespace, source.name)
  const node = nodeOf(pod)
  if (pod.spec.hostNetwork === true) return ofNode(cluster, node, target)
  const said = podAnnotations(provider)
  const { annotations } = pod.metadata
  const [mac, logicalSwitch] = [said.macAddress.read(annotations), said.logicalSwitch.read(annotations)]
  const subject = `${source.namespace}/${source.name}`
  if (mac === undefined || logicalSwitch === undefined)
    throw new NotReadyError('pod', `${subject} address not ready`, ready)
  const family = `v${familyOf(target)}` as const
  const address = said.ipAddress.read(annotations)?.[family]
  if (address === undefined) throw noFamily(subject, target)
  const cidr = said.cidr.read(annotations)?.[family]
  const isNeighbour = cidr !== undefined && contains(cidr, target)
  return { port: portOf(pod, provider), node, logicalSwitch, mac, address, isNeighbour }
}

async function ofNode(cluster: Cluster, name: string, target: Ip): Promise<TraceStart> {
  const node = await cluster.client.get(nodes, { name })
  if (node === undefined) throw new ObjectMissingError('node', name, 'write one of: kubectl get nodes')
  const { annotations } = node.metadata
  const network = readNodeNetwork(annotations)
  const port = network?.portName
  const logicalSwitch = nodeAnnotations.logicalSwitch.read(annotations)
  if (network === undefined || port === undefined || logicalSwitch === undefined)
    throw new NotReadyError('node', `${name} address not ready`, 'see the log of kube-ovn-controller')
  const family = `v${familyOf(target)}` as const
  const address = network.addresses[family]
  if (address === undefined) throw noFamily(name, target)
  const cidr = network.cidrs[family]
  const isNeighbour = cidr !== undefined && contains(cidr, target)
  return { port, node: name, logicalSwitch, mac: network.mac, address, isNeighbour }
}

function noFamily(subject: string, target: Ip): NotReadyError {
  return new NotReadyError(
    'source',
    `${subject} has no IPv${familyOf(target)} address`,
    'trace to an address of its other family',
  )
}

/** How the MAC address that a frame goes to was found. */
export interface NextHop {
  readonly mac: Mac
  readonly note?: string
}

/**
 * Finds out where a frame to the target goes: to a neighbour, to the physical gateway, or to the router.
 *
 * @throws NotReadyError
 */
export async function findNextHop(
  cluster: Cluster,
  leader: PodContainer,
  start: TraceStart,
  { target, mac, protocol }: TraceRequest,
): Promise<NextHop> {
  if (mac !== undefined) return { mac }
  if (protocol.kind === 'arp' && protocol.operation === 'request')
    return { mac: parseMac('ff:ff:ff:ff:ff:ff') }
  if (start.isNeighbour) {
    const found = await macOfNeighbour(cluster, leader, start.logicalSwitch, target)
    if (found !== undefined) return { mac: found }
  }
  if (protocol.kind === 'arp')
    throw new NotReadyError('destination mac address', formatIp(target), 'write it after the address')
  const subnet = await cluster.client.get(subnetResource, { name: start.logicalSwitch })
  const {
    vlan = '',
    logicalGateway = false,
    u2oInterconnection = false,
    gateway = '',
    vpc,
  } = subnet?.spec ?? {}
  if (vlan !== '' && !logicalGateway && !u2oInterconnection) {
    const hop = start.isNeighbour
      ? target
      : gateway
          .split(',')
          .flatMap((text) => tryParseIp(text) ?? [])
          .find((ip) => familyOf(ip) === familyOf(target))
    const found = hop === undefined ? undefined : await macByFrames(cluster, start, hop)
    if (found !== undefined) return { mac: found }
    throw new NotReadyError(
      'destination mac address',
      hop === undefined ? formatIp(target) : formatIp(hop),
      'write it after the address: nobody answered for it on the physical network',
    )
  }
  const port = routerPortName(vpc ?? '', start.logicalSwitch)
  const [row] = await readRows(cluster, leader, 'nb', 'Logical_Router_Port', ['mac'], [`name=${port}`])
  if (row === undefined) {
    throw new NotReadyError(
      'destination mac address',
      formatIp(target),
      `write it after the address: no router has a port ${port}`,
    )
  }
  return {
    mac: parseMac(String(row['mac'])),
    note: 'Using the logical gateway mac address as destination',
  }
}

async function macOfNeighbour(
  cluster: Cluster,
  leader: PodContainer,
  logicalSwitch: string,
  target: Ip,
): Promise<Mac | undefined> {
  const columns = ['_uuid', 'addresses', 'dynamic_addresses']
  const [[neighbourhood], rows] = await Promise.all([
    readRows(cluster, leader, 'nb', 'Logical_Switch', ['ports'], [`name=${JSON.stringify(logicalSwitch)}`]),
    readRows(cluster, leader, 'nb', 'Logical_Switch_Port', columns),
  ])
  return neighbourMac(rows, [neighbourhood?.['ports'] ?? []].flat().map(String), target)
}

/**
 * The MAC address of who has an address, by rows of ports.
 *
 * @param ports those of the switch: another VPC may have the address as well
 */
export function neighbourMac(rows: readonly Row[], ports: readonly string[], target: Ip): Mac | undefined {
  const own = new Set(ports)
  for (const { _uuid: uuid, addresses = [], dynamic_addresses: dynamic = [] } of rows) {
    if (!own.has(String(uuid))) continue
    for (const entry of [addresses, dynamic].flat()) {
      const [mac = '', ...ips] = String(entry).split(' ')
      if (ips.some((ip) => tryParseIp(ip) === target)) return parseMac(mac)
    }
  }
  return undefined
}

/** `$1` is an address; a datagram to it makes the kernel ask for its MAC address. Nothing else is read by the shell. */
const askNeighbour = 'exec 3<>"/dev/udp/$1/9" && echo >&3'

/** Lets the sender's kernel ask on the physical network. It tells what it learned of IPv4 alone. */
async function macByFrames(cluster: Cluster, start: TraceStart, hop: Ip): Promise<Mac | undefined> {
  if (familyOf(hop) === 6) return undefined
  const agent = await onNode(cluster, start.node, 'kube-ovn-cni')
  const netns = await netnsOf(cluster, start.node, start.port)
  const enter = netns === undefined ? [] : ['nsenter', `--net=${netns}`]
  const text = formatIp(hop)
  await cluster.ask(agent, [...enter, 'bash', '-c', askNeighbour, 'bash', text])
  const { stdout } = await cluster.ask(agent, [...enter, 'cat', '/proc/net/arp'])
  const [, , flags, found] = stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([address]) => address === text) ?? ['', '', '', '']
  return flags === '0x2' && found !== undefined ? parseMac(found) : undefined
}

/** The network namespace of a port, as the agent told Open vSwitch; none of what is the node's own. */
async function netnsOf(cluster: Cluster, node: string, port: string): Promise<string | undefined> {
  const [row] = await findInterfaces(cluster, node, port)
  return row?.netns
}

/** An interface of Open vSwitch that is a logical port. */
export interface PortInterface {
  readonly name: string
  readonly ofport: number
  readonly netns: string | undefined
  readonly nicInPod: string | undefined
  /** The flows of the port are there. */
  readonly isInstalled: boolean
}

/** The interfaces of Open vSwitch on a node that are the logical port. */
export async function findInterfaces(
  cluster: Cluster,
  node: string,
  port: string,
): Promise<readonly PortInterface[]> {
  const ovs = await onNode(cluster, node, 'ovs')
  const rows = await readRows(
    cluster,
    ovs,
    'ovs',
    'Interface',
    ['name', 'ofport', 'external_ids'],
    [`external_ids:iface-id=${JSON.stringify(port)}`],
  )
  return rows.map((row) => {
    const ids = new Map(row['external_ids'] as readonly (readonly [string, string])[])
    return {
      name: String(row['name']),
      ofport: Number(row['ofport']),
      netns: ids.get('pod_netns'),
      nicInPod: ids.get('if_name'),
      isInstalled: ids.get('ovn-installed') === 'true',
    }
  })
}
