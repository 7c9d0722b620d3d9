import type { Node } from '@kube-ovn/kube-api/core'
import { compareIps, familyOf, lastAddress, tryParseIp, type Cidr, type Ip } from '@kube-ovn/ip'

/** An address that a node has as its own. */
export interface NodeAddress {
  readonly node: string
  readonly address: string
}

interface PlacedAddress extends NodeAddress {
  readonly ip: Ip
}

/** The addresses of all nodes, in their order. */
export interface NodesByAddress {
  readonly v4: readonly PlacedAddress[]
  readonly v6: readonly PlacedAddress[]
}

export const noNodes: NodesByAddress = { v4: [], v6: [] }

/** Gives a node's own addresses, the first of each family, IPv4 first. */
export function internalAddresses(
  node: Node,
): readonly { readonly family: 4 | 6; readonly address: string }[] {
  const found = (node.status?.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP')
    .flatMap(({ address }) => {
      const ip = tryParseIp(address)
      return ip === undefined ? [] : [{ family: familyOf(ip), address }]
    })
  return ([4, 6] as const).flatMap((family) => found.find((entry) => entry.family === family) ?? [])
}

/** Gives every address of every node, for a check against prefixes. */
export function allNodeAddresses(nodes: Iterable<Node>): readonly NodeAddress[] {
  return [...nodes].flatMap((node) =>
    (node.status?.addresses ?? [])
      .filter(({ type }) => type === 'InternalIP')
      .map(({ address }) => ({ node: node.metadata.name, address })),
  )
}

/** Whether a change of a node is one of its addresses, and not a heartbeat. */
export function hasOtherAddresses(a: Node | undefined, b: Node | undefined): boolean {
  return addressText(a) !== addressText(b)
}

function addressText(node: Node | undefined): string {
  return node === undefined
    ? ''
    : internalAddresses(node)
        .map(({ address }) => address)
        .join()
}

/** Sorts addresses of nodes; words that are none are passed over. */
export function sortNodeAddresses(addresses: Iterable<NodeAddress>): NodesByAddress {
  const placed = [...addresses].flatMap((one): readonly PlacedAddress[] => {
    const ip = tryParseIp(one.address)
    return ip === undefined ? [] : [{ ...one, ip }]
  })
  const sorted = placed.sort((a, b) => compareIps(a.ip, b.ip))
  return {
    v4: sorted.filter(({ ip }) => familyOf(ip) === 4),
    v6: sorted.filter(({ ip }) => familyOf(ip) === 6),
  }
}

/** The lowest address of a node that lies in a prefix. */
export function firstInside(cidr: Cidr, nodes: NodesByAddress): NodeAddress | undefined {
  return placedInside(cidr, nodes).next().value
}

/** The addresses of nodes that lie in a prefix. */
export function inside(cidr: Cidr, nodes: NodesByAddress): readonly NodeAddress[] {
  return [...placedInside(cidr, nodes)]
}

function* placedInside(cidr: Cidr, nodes: NodesByAddress): Generator<NodeAddress, undefined> {
  const sorted = cidr.family === 4 ? nodes.v4 : nodes.v6
  const last = lastAddress(cidr)
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const { ip } = sorted[middle] ?? { ip: cidr.network }
    if (compareIps(ip, cidr.network) < 0) low = middle + 1
    else high = middle
  }
  for (let place = low; place < sorted.length; place++) {
    const one = sorted[place]
    if (one === undefined || compareIps(one.ip, last) > 0) return undefined
    yield { node: one.node, address: one.address }
  }
  return undefined
}
