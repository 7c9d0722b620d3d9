import {
  IndexedStore,
  objectKey,
  type IndexFunction,
  type KubeObject,
  type ObjectChange,
} from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { Signals, type DerivedTables } from '@kube-ovn/reconcile'
import { ManualClock } from '@kube-ovn/time'
import type { Atom, Cache } from 'ovsdb-client'
import { createWorld } from '../live-world.ts'
import { restoreWorld } from '../restore/restore-world.ts'
import type { Declarations } from '../declarations.ts'
import type { ControlSettings } from '../settings.ts'
import { deriveTables } from '../tables.ts'
import { Stores } from '../stores.ts'
import { watched, watchedStores } from '../watched.ts'
import type { AllocatingWorld } from '../world.ts'
import type { WatchedKinds } from '../watched-kinds.ts'
import { chartDefinitions, controlSettings } from './settings.ts'

/** Rows with the columns that matter; the id is their place in the list. */
export type StillRows = { readonly [N in keyof OvnNorthbound]?: readonly Partial<OvnNorthbound[N]>[] }

export type StillObjects = { readonly [N in keyof WatchedKinds]?: readonly WatchedKinds[N][] }

export interface StillOptions {
  readonly settings?: Partial<ControlSettings>
  /** Of what MAC addresses are made; those of a world in which none is needed are all the same. */
  readonly randomBytes?: (count: number) => Uint8Array
  /** What features declare: of what they watch beside the domains there is nothing. */
  readonly declarations?: Pick<Declarations, 'watches' | 'tables'>
}

/** A world that is as given and in which nobody acts, after a start. */
export function stillWorld(
  objects: StillObjects,
  rows: StillRows,
  options: StillOptions = {},
): AllocatingWorld {
  const { world, start } = changingWorld(objects, rows, options)
  start()
  return world
}

/** A world that is about to start, and whose objects can be changed then. */
export interface ChangingWorld {
  readonly world: AllocatingWorld
  readonly derived: DerivedTables
  readonly signals: Signals
  start(): void
  /** Has an object be what it is now, or be gone, and tells what it was. */
  put<N extends keyof WatchedKinds>(kind: N, key: string, object: WatchedKinds[N] | undefined): ObjectChange
}

/** As {@link stillWorld}. */
export function changingWorld(
  objects: StillObjects,
  rows: StillRows,
  {
    settings: changed,
    randomBytes = (count) => new Uint8Array(count),
    declarations: { watches, tables } = { watches: [], tables: [] },
  }: StillOptions = {},
): ChangingWorld {
  const clock = new ManualClock()
  const made = new Map<keyof WatchedKinds, IndexedStore<KubeObject>>()
  const known = watchedStores((name, { indexes }) => {
    const store = storeOf(indexes, objects[name])
    made.set(name, store as unknown as IndexedStore<KubeObject>)
    return store
  })
  const stores = new Stores([
    ...watches.map(({ resource, indexes }) => [resource, storeOf(indexes)] as const),
    ...Object.entries(known).map(
      ([name, store]) => [watched[name as keyof WatchedKinds].resource, store] as const,
    ),
  ])
  const northbound = cacheOf(rows)
  const settings = controlSettings(changed)
  const derived = deriveTables({ settings, stores, tables, northbound, logger: silentLogger, clock })
  const signals = new Signals()
  const world = createWorld({
    settings,
    definitions: chartDefinitions,
    stores,
    northbound,
    derived,
    signals,
    clock,
    randomBytes,
  })
  return {
    ...{ world, derived, signals },
    start: () => restoreWorld(world, derived, silentLogger),
    put: (kind, key, object) => {
      const store = made.get(kind)
      const change = { key, old: store?.get(key), new: object, initial: false }
      if (object === undefined) store?.delete(key)
      else store?.put(key, object)
      derived.objectChanged(watched[kind].resource, change)
      return change
    },
  }
}

function storeOf<T extends KubeObject>(
  indexes: Readonly<Record<string, IndexFunction<T>>> | undefined,
  objects: readonly T[] = [],
): IndexedStore<T> {
  const store = new IndexedStore(indexes)
  for (const object of objects) store.put(objectKey(object), object)
  return store
}

function cacheOf(rows: StillRows): Cache<OvnNorthbound> {
  type Table = keyof OvnNorthbound
  function all<N extends Table>(table: N): readonly OvnNorthbound[N][] {
    return (rows[table] ?? []).map(
      (row, index) => ({ _uuid: `${table} ${index}`, ...row }) as OvnNorthbound[N],
    )
  }
  return {
    get: (table, uuid) => all(table).find((row) => row._uuid === uuid),
    find: (table, index, key: Atom) =>
      all(table).filter((row) => index in row && row[index as keyof typeof row] === key),
    scan: all,
    count: (table) => all(table).length,
  }
}
