import { podPortFlags } from './flags.ts'
import { pods } from '@kube-ovn/kube-api/core'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { ObjectChange } from '@kube-ovn/kube'
import { podAnnotations } from '@kube-ovn/annotations'
import { ownerOf } from '@kube-ovn/ipam'
import { ipResource, vipResource } from '@kube-ovn/kube-api'
import type { Ip } from '@kube-ovn/kube-api'
import {
  adminPolicyAddresses,
  adminPolicyPortGroup,
  baselinePortGroup,
  denyAllPortGroup,
  externalId,
  interconnectionPortGroup,
  logicalRouter,
  logicalSwitch,
  networkPolicyAddresses,
  firewallPortGroup,
  networkPolicyPortGroup,
  nodePortGroup,
  northGatewayPolicy,
  podPort,
  podPortName,
  portDhcp,
  securityGroupAddresses,
  securityGroupPortGroup,
  subnetNodePortGroup,
} from '@kube-ovn/ovn-names'
import { nothing } from '@kube-ovn/reconcile'
import type { RowBase, RowChange } from 'ovsdb-client'
import { storeIndex } from '@kube-ovn/domains-control'
import type { ControlFeature } from '@kube-ovn/domains-control'
import { allocating, turnsOf } from '@kube-ovn/domains-control/addresses'
import { pairFlags, placedPairs } from '@kube-ovn/domains-control/topology'
import { desiredPod } from './desired.ts'
import { portOfDhcp } from './dhcp.ts'
import { holderKey, holderOf } from '@kube-ovn/domains-control/pods'
import { observePod, placePod } from './snapshot.ts'
import type { PodFacts, PodSnapshot } from './snapshot.ts'

/** Gives each pod its ports and its addresses. Keys are `namespace/name`, that of the machine for pods that run one. */
export const podPortFeature: ControlFeature<string, PodSnapshot, PodFacts> = {
  name: 'pod-port',
  kinds: [podPort, northGatewayPolicy, portDhcp],
  about: { resource: pods },
  flags: { ...podPortFlags, ...pairFlags },
  tables: [placedPairs],
  rights: [
    {
      ...{ resource: pods, verbs: ['patch'] },
      writes: [
        { metadata: { name: 'web', annotations: { [podAnnotations().allocated.key]: 'true' } }, spec: {} },
      ],
    },
    { resource: ipResource, verbs: ['create', 'patch', 'delete'] },
  ],
  memberships: [
    { kind: logicalSwitch.name, column: 'ports' },
    { kind: nodePortGroup.name, column: 'ports' },
    { kind: subnetNodePortGroup.name, column: 'ports' },
    { kind: interconnectionPortGroup.name, column: 'ports' },
    { kind: logicalRouter.name, column: 'policies' },
    { kind: networkPolicyPortGroup.name, column: 'ports' },
    { kind: networkPolicyAddresses.name, column: 'addresses' },
    { kind: adminPolicyPortGroup.name, column: 'ports' },
    { kind: adminPolicyAddresses.name, column: 'addresses' },
    { kind: firewallPortGroup.name, column: 'ports' },
    { kind: denyAllPortGroup.name, column: 'ports' },
    { kind: baselinePortGroup.name, column: 'ports' },
    { kind: securityGroupPortGroup.name, column: 'ports' },
    { kind: securityGroupAddresses.name, column: 'addresses' },
  ],
  mayOwn: (key, { kind, id }) => {
    if (kind === portDhcp.name) return isPortOf(key, portOfDhcp(id))
    return kind !== podPort.name || isPortOf(key, id)
  },
  keysOf({ kind, id }) {
    if (kind === portDhcp.name) return keysOfPort(portOfDhcp(id))
    return kind === podPort.name ? keysOfPort(id) : undefined
  },
  triggers: [
    {
      on: 'object',
      resource: pods,
      keys: ({ old, new: current }: ObjectChange<Pod>, { settings }) => [
        ...new Set(
          [old, current].flatMap((pod) => (pod === undefined ? [] : [holderKey(holderOf(pod, settings))])),
        ),
      ],
    },
    {
      on: 'object',
      resource: ipResource,
      keys: (change: ObjectChange<Ip>) => podOf(change.new ?? change.old),
    },
    // Who could not be placed takes what became free, and what a subnet offers that is new. All else that a pod waits for, and
    // that decides who keeps addresses without a pod, is read of tables.
    turnsOf('pod'),
    // Pods that share a Vip, or have its addresses as their own or would like to.
    {
      on: 'object',
      resource: vipResource,
      keys: ({ key }, world) =>
        [storeIndex.podsBySharedVip, storeIndex.podsByBorrowedVip]
          .flatMap((index) => world.pods.find(index, key))
          .map((pod) => holderKey(holderOf(pod, world.settings))),
    },
    // Upstream's port of a pod that is long gone has no owner: its addresses are free once it is collected.
    { on: 'row', table: 'Logical_Switch_Port', keys: podOfRemovedPort },
  ],
  observe: observePod,
  allocate: (key, facts, world) =>
    allocating(world, ownerOf('pod', key), (allocation) => facts && placePod(key, facts, allocation)),
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

/** Ports are named after their holder; those of further NICs have more to their names. */
function isPortOf(key: string, port: string): boolean {
  const [namespace = '', name = ''] = key.split('/')
  const first = podPortName(namespace, name)
  return port === first || port.startsWith(`${first}.`)
}

/** All keys of which {@link isPortOf} says so: the name of a pod may have dots, that of a namespace has none. */
function keysOfPort(port: string): readonly string[] {
  const parts = port.split('.')
  return parts.flatMap((namespace, n) => (n === 0 ? [] : [`${namespace}/${parts.slice(0, n).join('.')}`]))
}
