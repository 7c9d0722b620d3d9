import { nodeAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { tryParseIp } from '@kube-ovn/ip'
import { ownerOf, type AllocateRequest, type Lease, type Owner } from '@kube-ovn/ipam'
import type { Node } from '@kube-ovn/kube-api/core'
import { ipResource, type Ip } from '@kube-ovn/kube-api'
import { nodePortName } from '@kube-ovn/ovn-names'
import type { Network } from '@kube-ovn/domains-control/topology'
import { allNodeAddresses, internalAddresses } from '@kube-ovn/domains-control/topology'
import { freed } from '@kube-ovn/domains-control/addresses'
import type { AllocatingWorld, ControlWorld } from '@kube-ovn/domains-control'

/** What decides about a node. */
export interface NodeSnapshot {
  readonly name: string
  /** Absent when the node is gone and only its record is left. */
  readonly uid: string | undefined
  readonly ipObject: Ip | undefined
  /** Whether records have a place for the generation that they are about. */
  readonly saysGeneration: boolean
  /** The nodes' network and the node's addresses in it. Absent until that network is in effect. */
  readonly join: { readonly network: Network; readonly lease: Lease } | undefined
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

/** Reads a node and sees that it has addresses in the nodes' network. */
export function observeNode(name: string, world: AllocatingWorld): NodeSnapshot | undefined {
  const node = world.nodes.get(name)
  const port = nodePortName(name)
  const ipObject = world.ips.get(port)
  if (node === undefined) {
    if (ipObject !== undefined) return { ...absent, name, ipObject }
    // Not before the record is gone: whoever were given the address in between would lose it in a restart.
    const released = world.ipam.release(port, ownerOf('node', name))
    if (released !== undefined) freed(released.subnet, world)
    return undefined
  }
  const network = world.networks.get(world.settings.nodeSwitch.name)
  const allocated = network === undefined ? undefined : allocate(node, network, world)
  return {
    name,
    uid: node.metadata.uid ?? '',
    ipObject,
    saysGeneration: world.definitions.keeps(ipResource, 'observedGeneration'),
    join:
      network === undefined || allocated?.lease === undefined
        ? undefined
        : { network, lease: allocated.lease },
    internalAddresses: internalAddresses(node),
    nodeLocalDns: world.settings.nodeLocalDns,
    doubles: doublesOf(node, world),
    problem: allocated?.problem,
  }
}

const absent = {
  saysGeneration: false,
  uid: undefined,
  join: undefined,
  internalAddresses: [],
  nodeLocalDns: [],
  doubles: [],
  problem: undefined,
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

interface Allocation {
  readonly lease: Lease | undefined
  readonly problem: KubeOvnError | undefined
}

/**
 * Takes the addresses that the node had, unless they are not to be had any more.
 *
 * Asking again completes what the node holds when its network has gained a family.
 */
function allocate(node: Node, network: Network, world: AllocatingWorld): Allocation {
  const nic = nodePortName(node.metadata.name)
  const request = { subnet: network.name, nic, owner: ownerOf('node', node.metadata.name) }
  const held = world.ipam.lease(nic)
  const before = held === undefined ? recorded(node) : undefined
  const first = before === undefined ? undefined : tryAllocate({ ...request, ...before }, world)
  if (first?.lease !== undefined) return first
  const { lease, problem } = tryAllocate(request, world)
  return { lease: lease ?? held, problem }
}

function tryAllocate(request: AllocateRequest, world: AllocatingWorld): Allocation {
  try {
    return { lease: world.ipam.allocate(request), problem: undefined }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { lease: undefined, problem: error }
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
