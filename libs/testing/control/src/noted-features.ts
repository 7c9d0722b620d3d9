import { withStores, type ControlFeature, type ControlWorld } from '@kube-ovn/domains-control'
import type { KubeObject, Store } from '@kube-ovn/kube'
import { ipResource } from '@kube-ovn/kube-api'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { resourceKey } from '@kube-ovn/reconcile'
import { ownerMark, type OwnerMark } from '@kube-ovn/reconcile/work'
import type { Cache } from 'ovsdb-client'
import { undeclaredFields } from './undeclared-fields.ts'

/** Told of something that a feature does and does not declare. */
type Tell = (what: string) => void

/**
 * The same features, but that it is noted what they do not declare:
 *
 * - What their keys read of objects and rows while nothing wakes them when that changes, nor is it said that what was chosen by it is kept. What
 *   is read of derived tables wakes anyway, as a key's own rows do.
 * - {@link undeclaredFields What they write} and give no example of.
 */
export function notedFeatures(features: readonly ControlFeature[], tell: Tell): readonly ControlFeature[] {
  return features.map((feature) => {
    const declared = declaredBy(feature)
    const inWorldOf = <W extends ControlWorld>(key: string, world: W): W =>
      notedWorld(world, {
        ...{ owner: ownerMark(feature.name, key), ownTables: declared.ownTables },
        note: (read) => void (declared.reads.has(read) || tell(`${feature.name} reads ${read}`)),
      })
    const { allocate } = feature
    return {
      ...feature,
      observe: (key, world) => feature.observe(key, inWorldOf(key, world)),
      ...(allocate && { allocate: (key, observed, world) => allocate(key, observed, inWorldOf(key, world)) }),
      desired(key, snapshot) {
        const desired = feature.desired(key, snapshot)
        for (const field of undeclaredFields(feature, desired.patches))
          tell(`${feature.name} writes ${field}`)
        return desired
      },
    }
  })
}

interface Declared {
  /** Resources and tables. */
  readonly reads: ReadonlySet<string>
  /** Tables with rows of its keys. */
  readonly ownTables: ReadonlySet<string>
}

function declaredBy({ triggers, lookups = [], kinds }: ControlFeature): Declared {
  const woken = triggers.flatMap((trigger) => {
    if (trigger.on === 'object') return [resourceKey(trigger.resource)]
    return trigger.on === 'row' ? [trigger.table] : (toldBy[trigger.signal] ?? [])
  })
  const kept = lookups.filter(({ isKept }) => isKept).map(({ table }) => table)
  return { reads: new Set([...woken, ...kept]), ownTables: new Set(kinds.map(({ table }) => table)) }
}

/** What a signal tells of: who raises it goes by that, and is woken by it. */
const toldBy: Readonly<Record<string, readonly string[]>> = {
  ending: [resourceKey(ipResource), 'Logical_Switch_Port'],
}

interface Reader {
  readonly owner: OwnerMark
  readonly ownTables: ReadonlySet<string>
  readonly note: (read: string) => void
}

function notedWorld<W extends ControlWorld>(world: W, { owner, ownTables, note }: Reader): W {
  return {
    ...withStores(world, ({ resource }, store) => notedStore(store, () => note(resourceKey(resource)))),
    northbound: notedCache(world.northbound, (table, found) => {
      if (found === 'any' || !ownTables.has(table) || !found.every((row) => mayBeOf(owner, row))) note(table)
    }),
  }
}

function notedStore<T extends KubeObject>(store: Store<T>, note: () => void): Store<T> {
  return {
    get(key) {
      note()
      return store.get(key)
    },
    find(index, value) {
      note()
      return store.find(index, value)
    },
    values() {
      note()
      return store.values()
    },
    get size() {
      note()
      return store.size
    },
  }
}

function notedCache(
  cache: Cache<OvnNorthbound>,
  note: (table: string, found: readonly object[] | 'any') => void,
): Cache<OvnNorthbound> {
  return {
    get(table, uuid) {
      const row = cache.get(table, uuid)
      note(table, row === undefined ? [] : [row])
      return row
    },
    find(table, index, key) {
      const rows = cache.find(table, index, key)
      note(table, rows)
      return rows
    },
    scan(table) {
      note(table, 'any')
      return cache.scan(table)
    },
    count(table) {
      note(table, 'any')
      return cache.count(table)
    },
  }
}

/** Its own, or one that it would take over. */
function mayBeOf(
  owner: OwnerMark,
  row: { readonly external_ids?: Readonly<Record<string, string>> },
): boolean {
  const mark = row.external_ids?.['owner']
  return mark === undefined || mark === owner
}
