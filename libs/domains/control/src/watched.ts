import { readPortVips, readSharedVips, vipAnnotations, vipLabel } from '@kube-ovn/annotations'
import { formatIp, tryParseIp } from '@kube-ovn/ip'
import {
  cronJobs,
  daemonSets,
  deployments,
  jobs,
  namespaces,
  nodes,
  pods,
  statefulSets,
} from '@kube-ovn/kube-api/core'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import type { IndexFunction, Informer, Resource, Store } from '@kube-ovn/kube'
import {
  instanceOf,
  ipPoolResource,
  ipResource,
  networkAttachmentResource,
  subnetResource,
  virtualMachineInstanceMigrationResource,
  virtualMachineInstanceResource,
  virtualMachineResource,
  vipResource,
  vpcResource,
} from '@kube-ovn/kube-api'
import type { Ip, IpPool, VirtualMachineInstanceMigration, Vip } from '@kube-ovn/kube-api'
import { allNodeAddresses } from './topology/node-addresses.ts'
import {
  trimAttachment,
  trimCronJob,
  trimInstance,
  trimMachine,
  trimMigration,
  trimNode,
  trimPod,
  trimStatefulSet,
  trimWorkload,
} from './trim.ts'
import { storeIndex, type WatchedKinds, type WatchedStores } from './world.ts'

type Kind = keyof WatchedKinds

export type WatchedInformers = { readonly [N in Kind]: Informer<WatchedKinds[N]> }

/** A resource to watch, what to keep of its objects, and by what they are looked up. */
interface Watch<N extends Kind> {
  readonly resource: Resource<WatchedKinds[N]>
  readonly trim?: (object: WatchedKinds[N]) => WatchedKinds[N]
  readonly indexes?: Readonly<Record<string, IndexFunction<WatchedKinds[N]>>>
  /** It is served only where something else is installed. */
  readonly mayBeAbsent?: boolean
}

/** What the features decide by. */
export const watched: { readonly [N in Kind]: Watch<N> } = {
  pods: {
    resource: pods,
    trim: trimPod,
    indexes: {
      [storeIndex.podsByMachine]: machineOf,
      [storeIndex.podsBySharedVip]: (pod: Pod) => readSharedVips(pod.metadata.annotations),
      [storeIndex.podsByBorrowedVip]: ({ metadata: { annotations } }: Pod) => {
        const name = vipAnnotations.borrowed.read(annotations)
        return name === undefined ? [] : [name]
      },
      [storeIndex.podsByPortVip]: ({ metadata: { annotations } }: Pod) =>
        readPortVips(annotations).map((ip) => formatIp(ip)),
    },
  },
  nodes: {
    resource: nodes,
    trim: trimNode,
    indexes: { [storeIndex.nodesByAddress]: addressesOfNode },
  },
  namespaces: { resource: namespaces },
  subnets: { resource: subnetResource },
  vpcs: { resource: vpcResource },
  ips: {
    resource: ipResource,
    indexes: {
      [storeIndex.ipsBySubnet]: (ip: Ip) => [ip.spec?.subnet ?? ''],
      [storeIndex.ipsByPod]: podOf,
    },
  },
  ipPools: {
    resource: ipPoolResource,
    indexes: { [storeIndex.poolsBySubnet]: (pool: IpPool) => [pool.spec?.subnet ?? ''] },
  },
  vips: {
    resource: vipResource,
    indexes: { [storeIndex.vipsBySubnet]: (vip: Vip) => subnetsOf(vip) },
  },
  statefulSets: { resource: statefulSets, trim: trimStatefulSet },
  deployments: { resource: deployments, trim: trimWorkload },
  daemonSets: { resource: daemonSets, trim: trimWorkload },
  jobs: { resource: jobs, trim: trimWorkload },
  cronJobs: { resource: cronJobs, trim: trimCronJob },
  networkAttachments: { resource: networkAttachmentResource, trim: trimAttachment, mayBeAbsent: true },
  machines: { resource: virtualMachineResource, trim: trimMachine, mayBeAbsent: true },
  machineInstances: { resource: virtualMachineInstanceResource, trim: trimInstance, mayBeAbsent: true },
  machineMigrations: {
    resource: virtualMachineInstanceMigrationResource,
    trim: trimMigration,
    indexes: { [storeIndex.migrationsByMachine]: machineOfMigration },
    mayBeAbsent: true,
  },
}

/** Makes a store for each resource that is watched. */
export function watchedStores(
  make: <N extends Kind>(name: N, watch: Watch<N>) => Store<WatchedKinds[N]>,
): WatchedStores {
  return forWatched(make) as WatchedStores
}

/** Makes stores for some of the resources that are watched. */
export function storesOf<K extends Kind>(
  names: readonly K[],
  make: <N extends K>(name: N, watch: Watch<N>) => Store<WatchedKinds[N]>,
): Pick<WatchedStores, K> {
  const entryOf = <N extends K>(name: N) => [name, make(name, watched[name])] as const
  return Object.fromEntries(names.map((name) => entryOf(name))) as Pick<WatchedStores, K>
}

/** Makes an informer for each resource that is watched. */
export function watchedInformers(
  make: <N extends Kind>(name: N, watch: Watch<N>) => Informer<WatchedKinds[N]>,
): WatchedInformers {
  return forWatched(make) as WatchedInformers
}

function forWatched(make: <N extends Kind>(name: N, watch: Watch<N>) => unknown): Record<string, unknown> {
  const entryOf = <N extends Kind>(name: N) => [name, make(name, watched[name])] as const
  return Object.fromEntries((Object.keys(watched) as Kind[]).map((name) => entryOf(name)))
}

function podOf(ip: Ip): readonly string[] {
  const { namespace = '', podName = '' } = ip.spec ?? {}
  return namespace === '' ? [] : [`${namespace}/${podName}`]
}

/** Where a Vip has its addresses, and where it says to have them: once it has some, these do not follow an edit. */
function subnetsOf({ metadata, spec }: Vip): readonly string[] {
  const labelled = metadata.labels?.[vipLabel.subnet]
  return [...new Set([spec?.subnet ?? '', ...(labelled === undefined ? [] : [labelled])])]
}

/** The machine that the pod runs. */
function machineOf({ metadata }: Pod): readonly string[] {
  const instance = instanceOf(metadata.ownerReferences)
  return instance === undefined ? [] : [`${metadata.namespace ?? ''}/${instance.name}`]
}

/** The machine that moves. */
function machineOfMigration({ metadata, spec }: VirtualMachineInstanceMigration): readonly string[] {
  return spec?.vmiName === undefined ? [] : [`${metadata.namespace ?? ''}/${spec.vmiName}`]
}

/** Its own addresses, in canonical text. */
function addressesOfNode(node: Node): readonly string[] {
  return allNodeAddresses([node]).flatMap(({ address }) => {
    const ip = tryParseIp(address)
    return ip === undefined ? [] : [formatIp(ip)]
  })
}
