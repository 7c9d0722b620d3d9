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
import type { ControlFeature, ControlWorld } from '@kube-ovn/domains-control'
import { allocating } from '@kube-ovn/domains-control/addresses'
import { hasOtherNetwork } from '@kube-ovn/domains-control/topology'
import { desiredNode } from './desired.ts'
import { joinNode, observeNode } from './snapshot.ts'
import type { NodeFacts, NodeSnapshot } from './snapshot.ts'

/** Connects each node to the pod network. */
export const node: ControlFeature<string, NodeSnapshot, NodeFacts> = {
  name: 'node',
  kinds: [nodePort, nodePortGroup, nodePolicy, nodeLocalDnsPolicy],
  about: { resource: nodes },
  rights: [
    { resource: nodes, verbs: ['patch'] },
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
      keys: (change: ObjectChange<Node>) => (hasOtherNetwork(change) ? [change.key] : []),
    },
    // A node for which there was no address takes one that became free.
    { on: 'signal', signal: 'addresses', keys: allNodes },
    {
      on: 'object',
      resource: ipResource,
      keys: (change: ObjectChange<Ip>) => nodeOf(change.new ?? change.old),
    },
  ],
  observe: observeNode,
  allocate: (name, facts, world) => allocating(world, (allocation) => joinNode(name, facts, allocation)),
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredNode(snapshot)),
}

function allNodes(subnet: string, world: ControlWorld): readonly string[] {
  if (subnet !== world.settings.nodeSwitch.name) return []
  return [...world.nodes.values()].map((object) => object.metadata.name)
}

/** The node whose record this is; pods have a namespace. */
function nodeOf(ip: Ip | undefined): readonly string[] {
  const spec = ip?.spec
  return spec?.podName !== undefined && (spec.namespace ?? '') === '' ? [spec.podName] : []
}
