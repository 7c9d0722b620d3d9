import { nodeAnnotations, readNodeNetwork } from '@kube-ovn/annotations'
import { familyOf, tryParseIp, type Ip } from '@kube-ovn/ip'
import { nodes, type Node } from '@kube-ovn/kube'
import { subnetResource, type Subnet } from '@kube-ovn/kube-api'
import { nodePortName } from '@kube-ovn/ovn-names'
import type { Cluster, PodContainer } from '../cluster.ts'
import { readAll } from '../facts.ts'
import { readRows } from '../rows.ts'
import type { TraceStart } from './endpoints.ts'
import type { Verdict } from './verdict.ts'

/** How a packet leaves the network of pods, whose kernel or wire takes it from there. */
export interface WayOut {
  /** The node that forwards it, or on whose wire it goes out. */
  readonly node: string
  /** The port to the physical network, where no kernel forwards it. */
  readonly wire?: string
  /**
   * The address that it has behind the node: `own`, that of the sender; `node`, the node's; `rules`, one of both, as
   * `natOutgoingPolicyRules` of the Subnet say; or one that the Subnet gives. Not told of what a node sends.
   */
  readonly source?: string
  /** The gateway outside that it is sent to, where the Subnet or the route has one. */
  readonly nextHop?: string
}

/** Who has what a traced packet is about. */
interface WayOutFacts {
  readonly target: Ip
  /** Where it leaves the logical network. */
  readonly node: Node
  /** That of the sender; none of a node. */
  readonly subnet: Subnet | undefined
}

const portPrefix = nodePortName('')

/** Where a packet was followed from, and to which address. */
interface Followed {
  readonly start: TraceStart
  readonly target: Ip
}

/**
 * Finds out by which node and wire a packet leaves for the physical network: that of the sender, or the one that hosts the port of the router.
 *
 * None where no node hosts that.
 */
export async function findWire(
  cluster: Cluster,
  southbound: PodContainer,
  { ports, hop: { hosted, nextHop, source = 'own' } = {} }: Verdict,
  start: TraceStart,
): Promise<WayOut | undefined> {
  const node = hosted === undefined ? start.node : await hostOf(cluster, southbound, hosted)
  if (node === undefined) return undefined
  return { node, wire: ports.join(', '), source, ...(nextHop !== undefined && { nextHop }) }
}

async function hostOf(cluster: Cluster, southbound: PodContainer, port: string): Promise<string | undefined> {
  const binding = [`logical_port=${JSON.stringify(port)}`]
  const [[bound], chassis, all] = await Promise.all([
    readRows(cluster, southbound, 'sb', 'Port_Binding', ['chassis'], binding),
    readRows(cluster, southbound, 'sb', 'Chassis', ['_uuid', 'name']),
    readAll(cluster, nodes),
  ])
  const host = chassis.find((row) => row['_uuid'] === bound?.['chassis'])?.['name']
  if (host === undefined) return undefined
  return all.find(({ metadata }) => nodeAnnotations.chassis.read(metadata.annotations) === host)?.metadata
    .name
}

/** Finds out whether a packet that was followed to a node goes on from there, and how. */
export async function findWayOut(
  cluster: Cluster,
  { outcome, ports: [port = '', ...others], isTranslated }: Verdict,
  { start, target }: Followed,
): Promise<WayOut | undefined> {
  // What has another address by now may well be meant for the node: the backend of a Service, or the target of an EIP.
  if (outcome !== 'delivered' || others.length > 0 || isTranslated === true || !port.startsWith(portPrefix))
    return undefined
  const [node, subnet] = await Promise.all([
    cluster.client.get(nodes, { name: port.slice(portPrefix.length) }),
    start.port === nodePortName(start.node)
      ? undefined
      : cluster.client.get(subnetResource, { name: start.logicalSwitch }),
  ])
  return node && wayOutOf({ target, node, subnet })
}

/** None where the packet is meant for the node itself. */
export function wayOutOf({ target, node, subnet }: WayOutFacts): WayOut | undefined {
  const own = new Set((node.status?.addresses ?? []).flatMap(({ address }) => tryParseIp(address) ?? []))
  const family = `v${familyOf(target)}` as const
  const network = readNodeNetwork(node.metadata.annotations)
  if (own.has(target) || network?.addresses[family] === target) return undefined
  const { name } = node.metadata
  return { node: name, ...(subnet !== undefined && fromSubnet(subnet, name, target)) }
}

function fromSubnet({ spec = {}, status }: Subnet, node: string, target: Ip): Omit<WayOut, 'node'> {
  const ofFamily = (text: string): boolean => {
    const ip = tryParseIp(text)
    return ip !== undefined && familyOf(ip) === familyOf(target)
  }
  const nextHop = (status?.egress?.nextHop ?? '').split(',').find(ofFamily)
  const given = status?.egress?.gateways?.find((gateway) => gateway.node === node)?.addresses?.find(ofFamily)
  const translated = (spec.natOutgoingPolicyRules ?? []).length > 0 ? 'rules' : (given ?? 'node')
  return {
    source: spec.natOutgoing === true ? translated : 'own',
    ...(nextHop !== undefined && { nextHop }),
  }
}

const sources: Readonly<Record<string, string>> = {
  own: ' with its own address',
  node: " with the node's address",
  rules: " with the node's address or its own, as natOutgoingPolicyRules say",
}

/** In one line, for people. */
export function wayOutText({ node, wire, source, nextHop }: WayOut): string {
  const by = source === undefined ? '' : (sources[source] ?? ` with the address ${source}`)
  const place = wire === undefined ? `by ${node}` : `for the physical network by ${wire} of ${node}`
  return `leaves ${place}${by}${nextHop === undefined ? '' : `, to the gateway ${nextHop}`}`
}
