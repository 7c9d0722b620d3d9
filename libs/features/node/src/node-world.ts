import type { Informer, KubeClient } from '@kube-ovn/kube'
import type { Node } from '@kube-ovn/kube-api/core'
import type { Logger } from '@kube-ovn/log'
import type { Netlink } from '@kube-ovn/netlink'
import type { Clock } from '@kube-ovn/time'
import type { LocalOvs } from './local-ovs.ts'

/** What every feature of a node reads, and how it writes. */
export interface NodeWorld {
  readonly nodeName: string
  readonly ovs: LocalOvs
  /** The host's own network namespace. */
  readonly host: Netlink
  readonly nodes: Pick<Informer<Node>, 'store' | 'onChange' | 'observe' | 'resource'>
  readonly client: Pick<KubeClient, 'patch'>
  readonly clock: Clock
  readonly log: Logger
  readonly random: () => number
}

export function ownNode(world: NodeWorld): Node | undefined {
  return world.nodes.store.get(world.nodeName)
}

/** Patches this node's object, or its status, by the type that merges lists of conditions by their type. */
export async function patchNode(
  { client, nodes, nodeName }: NodeWorld,
  patch: object,
  subresource?: 'status',
): Promise<void> {
  const options = subresource === undefined ? {} : { subresource }
  const answer = await client.patch(
    nodes.resource,
    { name: nodeName },
    'application/strategic-merge-patch+json',
    patch,
    options,
  )
  nodes.observe(answer)
}
