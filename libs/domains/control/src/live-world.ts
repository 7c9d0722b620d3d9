import { localMac } from '@kube-ovn/ip'
import { Ipam } from '@kube-ovn/ipam'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { KubeObject, Store } from '@kube-ovn/kube'
import { resourceKey } from '@kube-ovn/reconcile'
import type { DerivedTables, Fork, Signals } from '@kube-ovn/reconcile'
import type { Clock } from '@kube-ovn/time'
import type { Cache } from 'ovsdb-client'
import { followTables } from './restore/follow-tables.ts'
import { helpedIn } from './addresses/helped.ts'
import { Waiters } from './addresses/waiters.ts'
import type { Watch } from './declarations.ts'
import type { Definitions } from './definitions.ts'
import type { ControlSettings } from './settings.ts'
import { plainKinds, tableViews } from './tables.ts'
import type { Stores } from './stores.ts'
import { storesOf, watchedStores } from './watched.ts'
import type { AllocatingWorld, ControlWorld } from './world.ts'
import type { WatchedStores } from './watched-kinds.ts'

export interface WorldParts {
  readonly settings: ControlSettings
  readonly stores: Stores
  readonly definitions: Definitions
  readonly northbound: Cache<OvnNorthbound>
  readonly derived: DerivedTables
  readonly signals: Signals
  readonly clock: Clock
  /** Gives that many random bytes, for MAC addresses. */
  readonly randomBytes: (count: number) => Uint8Array
}

/** Joins caches, settings and allocations into what the features look at. Nothing is allocated in it yet. */
export function createWorld(parts: WorldParts): AllocatingWorld {
  const { settings, stores, definitions, northbound, derived, signals, clock, randomBytes } = parts
  const ipam = new Ipam(randomBytes)
  const world: AllocatingWorld = {
    ...watchedStores((_name, watch) => stores.of(watch)),
    store: (watch) => stores.of(watch),
    table: (table) => derived.view(table),
    ...tableViews((table) => derived.view(table)),
    settings,
    definitions,
    northbound,
    ipam,
    waiters: new Waiters((waiter) => signals.raise('turn', waiter), helpedIn(ipam)),
    newMac: () => localMac(randomBytes(6)),
    now: () => clock.now(),
    raise: (signal, subject) => signals.raise(signal, subject),
  }
  followTables((table, follow) => derived.follow(table, follow), world)
  return world
}

/** A copy in which observing leaves no traces, for plans that are not carried out. */
export function forkWorld(world: AllocatingWorld, fork: Fork): AllocatingWorld {
  const ipam = world.ipam.fork()
  const forked: AllocatingWorld = {
    ...withStores(world, ({ resource, indexes }, store) => fork.store(resource, store, indexes)),
    table: (table) => fork.view(table),
    ...tableViews((table) => fork.view(table)),
    ipam,
    waiters: world.waiters.fork((waiter) => fork.raise('turn', waiter), helpedIn(ipam)),
    raise: (signal, subject) => fork.raise(signal, subject),
  }
  followTables((table, follow) => fork.follow(table, follow), forked)
  return forked
}

/** The store to read from in the place of that of a watch. */
type Replace = <T extends KubeObject>(watch: Watch<T>, store: Store<T>) => Store<T>

/** The same world, but that the objects that are no tables are read from other stores. */
export function withStores<W extends ControlWorld>(world: W, replace: Replace): W {
  const present: Pick<WatchedStores, (typeof plainKinds)[number]> = world
  return {
    ...world,
    ...storesOf(plainKinds, (name, watch) => replace(watch, present[name])),
    store: replacedStores(world, replace),
  }
}

/** Each is made when it is asked for. */
function replacedStores(world: ControlWorld, replace: Replace): ControlWorld['store'] {
  const replaced = new Map<string, Store<KubeObject>>()
  return <T extends KubeObject>(watch: Watch<T>): Store<T> => {
    const key = resourceKey(watch.resource)
    const store = replaced.get(key) ?? replace(watch, world.store(watch))
    replaced.set(key, store)
    return store as Store<T>
  }
}
