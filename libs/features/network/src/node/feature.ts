import { nodeAnnotations } from '@kube-ovn/annotations'
import { ownerOf } from '@kube-ovn/ipam'
import { ipResource } from '@kube-ovn/kube-api'
import type { Ip } from '@kube-ovn/kube-api'
import { nodes } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import type { Node } from '@kube-ovn/kube-api/core'
import {
  logicalRouter,
  logicalSwitch,
  nodeLocalDnsPolicy,
  nodePolicy,
  nodePort,
  nodePortGroup,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import { isNamedAfter, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import { allocating, turnsOf } from '@kube-ovn/domains-control/addresses'
import { hasOtherNetwork, internalAddresses } from '@kube-ovn/domains-control/topology'
import { desiredNode } from './desired.ts'
import { joinNode, nodesWith, observeNode } from './snapshot.ts'
import type { NodeFacts, NodeSnapshot } from './snapshot.ts'

/** Connects each node to the pod network. */
export const node: ControlFeature<string, NodeSnapshot, NodeFacts> = {
  name: 'node',
  kinds: [nodePort, nodePortGroup, nodePolicy, nodeLocalDnsPolicy],
  mayOwn: (node, { id }) => isNamedAfter(node, id),
  about: { resource: nodes },
  rights: [
    {
      ...{ resource: nodes, verbs: ['patch'] },
      writes: [{ metadata: { name: 'n1', annotations: { [nodeAnnotations.allocated.key]: 'true' } } }],
    },
    { resource: ipResource, verbs: ['create', 'patch', 'delete'] },
  ],
  memberships: [
    { kind: logicalSwitch.name, column: 'ports' },
    { kind: logicalRouter.name, column: 'policies' },
  ],
  triggers: [
    {
      on: 'object',
      resource: nodes,
      keys: (change: ObjectChange<Node>, world) => (hasOtherNetwork(change) ? sharing(change, world) : []),
    },
    turnsOf('node'),
    {
      on: 'object',
      resource: ipResource,
      keys: (change: ObjectChange<Ip>) => nodeOf(change.new ?? change.old),
    },
  ],
  observe: observeNode,
  allocate: (name, facts, world) =>
    allocating(world, ownerOf('node', name), (allocation) => joinNode(name, facts, allocation)),
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredNode(snapshot)),
}

/** A node, and all that have, or had, an address in common with it. */
function sharing({ key, old, new: current }: ObjectChange<Node>, world: ControlWorld): ReadonlySet<string> {
  const addresses = [old, current].flatMap((node) => (node === undefined ? [] : internalAddresses(node)))
  const others = addresses.flatMap(({ address }) => nodesWith(address, world))
  return new Set([key, ...others.map(({ metadata }) => metadata.name)])
}

/** The node whose record this is; pods have a namespace. */
function nodeOf(ip: Ip | undefined): readonly string[] {
  const spec = ip?.spec
  return spec?.podName !== undefined && (spec.namespace ?? '') === '' ? [spec.podName] : []
}
