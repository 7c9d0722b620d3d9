import { namespaces, pods } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { ipResource } from '@kube-ovn/kube-api'
import type { Ip } from '@kube-ovn/kube-api'
import { logicalSwitch, nodePortGroup, podPort, subnetNodePortGroup } from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { Feature } from '@kube-ovn/reconcile'
import type { ControlWorld } from '../world.ts'
import { storeIndex } from '../world.ts'
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
    // Pods that wait for an address take what became free, or what a new subnet offers.
    { on: 'signal', signal: 'addresses', keys: (_subnet, world) => waitingPods(world) },
    {
      on: 'object',
      resource: namespaces,
      keys: (change, world) => (change.old === undefined ? waitingPods(world) : []),
    },
  ],
  observe: observePod,
  desired: (_key, snapshot) => (snapshot === undefined ? nothing : desiredPod(snapshot)),
}

function waitingPods(world: ControlWorld): readonly string[] {
  return world.pods
    .find(storeIndex.podsWaiting, 'true')
    .map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`)
}

/** The pod whose record this is; nodes have no namespace. */
function podOf(ip: Ip | undefined): readonly string[] {
  const { podName = '', namespace = '' } = ip?.spec ?? {}
  return podName === '' || namespace === '' ? [] : [`${namespace}/${podName}`]
}
