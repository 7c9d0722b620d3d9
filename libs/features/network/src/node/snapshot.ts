import { nodeAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { formatIp, parseIp, tryParseIp } from '@kube-ovn/ip'
import { ownerOf, type AllocateRequest, type Lease, type Owner } from '@kube-ovn/ipam'
import type { Node } from '@kube-ovn/kube-api/core'
import { ipResource, type Ip } from '@kube-ovn/kube-api'
import { nodePortName } from '@kube-ovn/ovn-names'
import type { Layout } from '@kube-ovn/domains-control/topology'
import { allNodeAddresses, internalAddresses } from '@kube-ovn/domains-control/topology'
import type { Allocation } from '@kube-ovn/domains-control/addresses'
import { storeIndex, type ControlWorld } from '@kube-ovn/domains-control'

/** What decides about a node. */
export interface NodeSnapshot {
  readonly name: string
  /** Absent when the node is gone and only its record is left. */
  readonly uid: string | undefined
  readonly ipObject: Ip | undefined
  /** Whether records have a place for the generation that they are about. */
  readonly saysGeneration: boolean
  /** The nodes' network and the node's addresses in it. Absent until that network is in effect. */
  readonly join: { readonly network: Layout; readonly lease: Lease } | undefined
  readonly internalAddresses: readonly { readonly family: 4 | 6; readonly address: string }[]
  readonly nodeLocalDns: readonly string[]
  /** Addresses of its own that are those of pods, too. */
  readonly doubles: readonly DoubleAddress[]
  readonly problem: KubeOvnError | undefined
}

/** An address of a node that lies in a subnet, which was there before. */
export interface DoubleAddress {
  readonly address: string
  readonly subnet: string
  /** Who has it there, if anybody has. */
  readonly holders: readonly Owner[]
}

/** What is known of a node before it has its addresses. */
export interface NodeFacts extends Omit<NodeSnapshot, 'join' | 'doubles' | 'problem'> {
  /** Absent when it is gone. */
  readonly node: Node | undefined
  readonly network: Layout | undefined
}

/** Reads a node. */
export function observeNode(name: string, world: ControlWorld): NodeFacts | undefined {
  const node = world.nodes.get(name)
  const ipObject = world.ips.get(nodePortName(name))
  if (node === undefined) {
    return ipObject && { ...absent, name, ipObject, uid: undefined, node, network: undefined }
  }
  return {
    name,
    uid: node.metadata.uid ?? '',
    ipObject,
    saysGeneration: world.definitions.keeps(ipResource, 'observedGeneration'),
    internalAddresses: internalAddresses(node).filter(({ address }) => holderOf(address, world) === name),
    nodeLocalDns: world.settings.nodeLocalDns,
    node,
    network: world.layouts.get(world.settings.nodeSwitch.name),
  }
}

/**
 * The node that an address leads to. A machine that registered under another name has the very address of its former node, which
 * nobody may have deleted yet: of two the younger one has it.
 */
function holderOf(address: string, world: ControlWorld): string | undefined {
  const [youngest] = nodesWith(address, world)
    .map(({ metadata: { name, creationTimestamp = '' } }) => ({ name, rank: `${creationTimestamp} ${name}` }))
    .sort((a, b) => (a.rank < b.rank ? 1 : -1))
  return youngest?.name
}

/** The nodes whose own address of its family this is. */
export function nodesWith(address: string, { nodes }: ControlWorld): readonly Node[] {
  const text = formatIp(parseIp(address))
  return nodes
    .find(storeIndex.nodesByAddress, text)
    .filter((node) => internalAddresses(node).some((own) => formatIp(parseIp(own.address)) === text))
}

const absent = { saysGeneration: false, internalAddresses: [], nodeLocalDns: [] }

/** Sees that a node has addresses in the nodes' network, and that one that is gone has none. */
export function joinNode(
  name: string,
  facts: NodeFacts | undefined,
  allocation: Allocation,
): NodeSnapshot | undefined {
  if (facts === undefined) {
    // Not before the record is gone: whoever were given the address in between would lose it in a restart.
    allocation.release(nodePortName(name), ownerOf('node', name))
    return undefined
  }
  const { node, network, ...known } = facts
  if (node === undefined) return { ...known, join: undefined, doubles: [], problem: undefined }
  const allocated = network === undefined ? undefined : allocate(node, network, allocation)
  return {
    ...known,
    join:
      network === undefined || allocated?.lease === undefined
        ? undefined
        : { network, lease: allocated.lease },
    doubles: doublesOf(node, allocation.world),
    problem: allocated?.problem,
  }
}

function doublesOf(node: Node, { subnetStates, ipam }: ControlWorld): readonly DoubleAddress[] {
  const { name } = node.metadata
  const states = subnetStates.find('node', name)
  return allNodeAddresses([node]).flatMap(({ address }) => {
    const ip = tryParseIp(address)
    const state = states.find(({ nodesInside }) =>
      nodesInside.some((inside) => inside.node === name && inside.address === address),
    )
    const subnet = state?.acceptance.inEffect?.name
    return ip === undefined || subnet === undefined
      ? []
      : [{ address, subnet, holders: ipam.holders(subnet, ip) }]
  })
}

interface JoinAddresses {
  readonly lease: Lease | undefined
  readonly problem: KubeOvnError | undefined
}

/**
 * Takes the addresses that the node had, unless they are not to be had any more.
 *
 * Asking again completes what the node holds when its network has gained a family.
 */
function allocate(node: Node, network: Layout, allocation: Allocation): JoinAddresses {
  const nic = nodePortName(node.metadata.name)
  const held = allocation.world.ipam.lease(nic)
  const before = held === undefined ? recorded(node) : undefined
  const subnet = network.name
  const choices = [...(before === undefined ? [] : [{ subnet, ...before }]), { subnet }]
  try {
    const owner = ownerOf('node', node.metadata.name)
    return { lease: allocation.take({ nic, owner, choices, tells: 'last' }), problem: undefined }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { lease: held, problem: error }
  }
}

/** What the annotations say that the node has; a malformed one counts as none. */
function recorded(node: Node): Pick<AllocateRequest, 'static' | 'mac'> | undefined {
  const annotations = node.metadata.annotations
  try {
    const addresses = nodeAnnotations.ipAddress.read(annotations)
    const mac = nodeAnnotations.macAddress.read(annotations)
    const isAllocated = nodeAnnotations.allocated.read(annotations) === true
    return isAllocated && addresses !== undefined && mac !== undefined
      ? { static: addresses, mac }
      : undefined
  } catch (error) {
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
}
