import type { Ipam, IpamView } from '@kube-ovn/ipam'
import type { AnyTable, ViewOf } from '@kube-ovn/tables'
import type { Cache } from 'ovsdb-client'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { KubeObject, Store } from '@kube-ovn/kube'
import type { Waiters } from './addresses/waiters.ts'
import type { Watch } from './declarations.ts'
import type { Definitions } from './definitions.ts'
import type { ControlSettings } from './settings.ts'
import type { TableViews } from './tables.ts'
import type { WatchedStores } from './watched-kinds.ts'

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
  /** Who should have addresses and could not be given them, as owner of them, and where he may get some. */
  readonly waiters: Waiters
  /** Wakes the features that wait for something that is neither an object nor a row. */
  raise(signal: ControlSignal, subject: string): void
}

/**
 * `addresses`: addresses of it became free, or it can give
 * addresses now. `usage`: an address was taken without an IP object being written. The subject is the subnet.
 * `turn`: somebody who waits may find an address now. The subject is what he is called among those who wait.
 * `ending`: it was decided whether a pod that is being deleted still has its ports. The subject is its `namespace/name`.
 * `pair`: a pod was given a port of a subnet on a node, of which no record tells yet. The subject is `subnet/node`.
 * `definition`: that of a kind of ours changed. The subject is the plural of the kind.
 */
type ControlSignal = 'addresses' | 'turn' | 'usage' | 'ending' | 'pair' | 'definition'
