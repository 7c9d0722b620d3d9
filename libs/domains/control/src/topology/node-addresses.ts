import type { Node } from '@kube-ovn/kube-api/core'
import { familyOf, tryParseIp } from '@kube-ovn/ip'
import type { NodeAddress } from './subnet-conflicts.ts'

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
