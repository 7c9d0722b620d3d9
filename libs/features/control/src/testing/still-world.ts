import { IndexedStore, objectKey, type KubeObject } from '@kube-ovn/kube'
import { silentLogger } from '@kube-ovn/log'
import type { Ip, Subnet } from '@kube-ovn/kube-api'
import type { Node, Pod, StatefulSet } from '@kube-ovn/kube-api/core'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { Signals } from '@kube-ovn/reconcile'
import { ManualClock } from '@kube-ovn/time'
import type { Atom, Cache } from 'ovsdb-client'
import { createWorld } from '../live-world.ts'
import { restoreWorld } from '../restore/restore-world.ts'
import { watched, type WatchedStores } from '../watched.ts'
import type { ControlWorld } from '../world.ts'
import { controlSettings } from './settings.ts'

/** Rows with the columns that matter; the id is their place in the list. */
export type StillRows = { readonly [N in keyof OvnNorthbound]?: readonly Partial<OvnNorthbound[N]>[] }

export interface StillObjects {
  readonly pods?: readonly Pod[]
  readonly nodes?: readonly Node[]
  readonly subnets?: readonly Subnet[]
  readonly ips?: readonly Ip[]
  readonly statefulSets?: readonly StatefulSet[]
}

/** A world that is as given and in which nobody acts, after a start. */
export function stillWorld(objects: StillObjects, rows: StillRows): ControlWorld {
  const world = createWorld({
    settings: controlSettings(),
    stores: {
      ...noObjects(),
      pods: storeOf(new IndexedStore<Pod>(watched.pods.indexes), objects.pods),
      nodes: storeOf(new IndexedStore<Node>(watched.nodes.indexes), objects.nodes),
      subnets: storeOf(new IndexedStore<Subnet>(), objects.subnets),
      ips: storeOf(new IndexedStore<Ip>(watched.ips.indexes), objects.ips),
      statefulSets: storeOf(new IndexedStore<StatefulSet>(), objects.statefulSets),
    },
    northbound: cacheOf(rows),
    signals: new Signals(),
    clock: new ManualClock(),
    randomBytes: (count) => new Uint8Array(count),
  })
  restoreWorld(world, silentLogger)
  return world
}

/** An empty store for each resource that is watched. */
function noObjects(): WatchedStores {
  const stores = Object.entries(watched).map(([name, of]) => {
    return [name, new IndexedStore<never>('indexes' in of ? of.indexes : {})]
  })
  return Object.fromEntries(stores) as WatchedStores
}

function storeOf<T extends KubeObject>(store: IndexedStore<T>, objects: readonly T[] = []): IndexedStore<T> {
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
