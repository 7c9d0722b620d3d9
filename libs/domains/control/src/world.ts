import type { Ipam, IpamView } from '@kube-ovn/ipam'
import type { AnyTable, ViewOf } from '@kube-ovn/tables'
import type { Cache } from 'ovsdb-client'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { KubeObject, Store } from '@kube-ovn/kube'
import type { Namespace, Node, Pod, StatefulSet } from '@kube-ovn/kube-api/core'
import type {
  Ip,
  IpPool,
  NetworkAttachmentDefinition,
  Subnet,
  Vip,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  Vpc,
} from '@kube-ovn/kube-api'
import type { Waiters } from './addresses/waiters.ts'
import type { Watch } from './declarations.ts'
import type { Definitions } from './definitions.ts'
import type { ControlSettings } from './settings.ts'
import type { TableViews } from './tables.ts'

/** The objects of each resource that decisions of several features are based on. */
export interface WatchedKinds {
  readonly pods: Pod
  readonly nodes: Node
  readonly namespaces: Namespace
  readonly subnets: Subnet
  readonly vpcs: Vpc
  readonly ips: Ip
  readonly ipPools: IpPool
  readonly vips: Vip
  readonly statefulSets: StatefulSet
  /** None where Multus is not installed. */
  readonly networkAttachments: NetworkAttachmentDefinition
  /** None where KubeVirt is not installed. */
  readonly machines: VirtualMachine
  readonly machineInstances: VirtualMachineInstance
  readonly machineMigrations: VirtualMachineInstanceMigration
}

export type WatchedStores = { readonly [N in keyof WatchedKinds]: Store<WatchedKinds[N]> }

/** Everything that a decision of the controller may be based on. Whoever looks at it changes nothing. */
export interface ControlWorld extends Omit<WatchedStores, keyof TableViews>, TableViews {
  /**
   * The objects of a watch that the feature declares.
   *
   * @throws UndeclaredWatchError when it does not
   */
  store<T extends KubeObject>(watch: Watch<T>): Store<T>
  /** The rows of a table that the feature declares: who reads one in its `observe` is woken when it changes. */
  table<T extends AnyTable>(table: T): ViewOf<T>
  readonly settings: ControlSettings
  readonly definitions: Definitions
  readonly northbound: Cache<OvnNorthbound>
  readonly ipam: IpamView
  /** Makes a random, locally administered unicast MAC address. */
  newMac(): string
  /** Milliseconds since the epoch. */
  now(): number
}

/** The same for those few who give and take addresses. */
export interface AllocatingWorld extends ControlWorld {
  readonly ipam: Ipam
  /** Keys of pods that should have addresses and could not be given them, and where they may get some. */
  readonly waiters: Waiters
  /** Wakes the features that wait for something that is neither an object nor a row. */
  raise(signal: ControlSignal, subject: string): void
}

/**
 * `addresses`: addresses of it became free, or it can give
 * addresses now. `usage`: an address was taken without an IP object being written. The subject is the subnet.
 * `turn`: a pod that waits may find an address now. The subject is its key.
 * `ending`: it was decided whether a pod that is being deleted still has its ports. The subject is its `namespace/name`.
 * `definition`: that of a kind of ours changed. The subject is the plural of the kind.
 */
type ControlSignal = 'addresses' | 'turn' | 'usage' | 'ending' | 'definition'

/** Names of the index functions of the stores. */
export const storeIndex = {
  /** Subnets by the provider that they specify. */
  subnetsByProvider: 'provider',
  /** IP objects of a subnet. */
  ipsBySubnet: 'subnet',
  /** IP objects of a pod, by `namespace/name`. */
  ipsByPod: 'pod',
  /** IPPools of a subnet. */
  poolsBySubnet: 'subnet',
  /** Vips of a subnet. */
  vipsBySubnet: 'subnet',
  /** Pods that may have the addresses of a Vip beside their own. */
  podsBySharedVip: 'shared-vip',
  /** Pods that have, or want, the addresses of a Vip as their own. */
  podsByBorrowedVip: 'borrowed-vip',
  /** Pods that may send from an address beside their own, by that address. */
  podsByPortVip: 'port-vip',
  /** Pods that run a machine, by `namespace/name`. */
  podsByMachine: 'machine',
  /** Moves of a machine from node to node, by its `namespace/name`. */
  migrationsByMachine: 'machine',
  /** Nodes that have an address as their own, by that address. */
  nodesByAddress: 'address',
} as const
