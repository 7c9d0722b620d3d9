import { namespaces, pods } from '@kube-ovn/kube-api/core'
import type { Namespace } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { ipResource, subnetResource } from '@kube-ovn/kube-api'
import type { Ip, Subnet } from '@kube-ovn/kube-api'
import { externalId, logicalSwitch, nodePortGroup, podPort, subnetNodePortGroup } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Feature } from '@kube-ovn/reconcile'
import type { RowBase, RowChange } from 'ovsdb-client'
import { hasOtherBinding, hasOtherLabels } from '../topology/namespace-subnets.ts'
import type { ControlWorld } from '../world.ts'
import { desiredPod } from './desired.ts'
import { observePod } from './snapshot.ts'
import type { PodSnapshot } from './snapshot.ts'

/** Gives each pod its port and its addresses. Keys are `namespace/name`. */
export const podPortFeature: Feature<string, PodSnapshot, ControlWorld> = {
  name: 'pod-port',
  kinds: [podPort],
  memberships: [
    { kind: logicalSwitch.name, column: 'ports' },
    { kind: nodePortGroup.name, column: 'ports' },
    { kind: subnetNodePortGroup.name, column: 'ports' },
  ],
  triggers: [
    { on: 'object', resource: pods, keys: (change) => [change.key] },
    {
      on: 'object',
      resource: ipResource,
      keys: (change: ObjectChange<Ip>) => podOf(change.new ?? change.old),
    },
    // Pods that could not be placed take what became free, and what a subnet offers that is new or newly bound.
    { on: 'signal', signal: 'addresses', keys: (_subnet, world) => world.unplacedPods },
    {
      on: 'object',
      resource: namespaces,
      keys: (change: ObjectChange<Namespace>, world) => (hasOtherLabels(change) ? world.unplacedPods : []),
    },
    {
      on: 'object',
      resource: subnetResource,
      keys: (change: ObjectChange<Subnet>, world) => (hasOtherBinding(change) ? world.unplacedPods : []),
    },
    // Upstream's port of a pod that is long gone has no owner: its addresses are free once it is collected.
    { on: 'row', table: 'Logical_Switch_Port', keys: podOfRemovedPort },
  ],
  observe: observePod,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredPod(snapshot)),
}

/** The pod whose record this is; nodes have no namespace. */
function podOf(ip: Ip | undefined): readonly string[] {
  const { podName = '', namespace = '' } = ip?.spec ?? {}
  return podName === '' || namespace === '' ? [] : [`${namespace}/${podName}`]
}

function podOfRemovedPort({ old, new: current }: RowChange): readonly string[] {
  const pod = current === undefined ? podMark(old) : undefined
  return pod === undefined ? [] : [pod]
}

function podMark(port: RowBase | undefined): string | undefined {
  const ids = port !== undefined && 'external_ids' in port ? port.external_ids : undefined
  const pod =
    typeof ids === 'object' && ids !== null && externalId.pod in ids ? ids[externalId.pod] : undefined
  return typeof pod === 'string' ? pod : undefined
}
