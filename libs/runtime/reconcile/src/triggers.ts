import type { ObjectChange, Resource } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import type { RowChange } from 'ovsdb-client'
import type { Feature, Key } from './feature.ts'
import { ownerMark, type OwnerMark } from './marks.ts'
import { resourceKey, type Objects } from './objects.ts'
import type { Rows } from './rows.ts'

type AnyFeature<W> = Feature<Key, unknown, W>

/** Answers which keys a change concerns, as the features declare it. */
export class Triggers<W> {
  readonly #features: readonly AnyFeature<W>[]
  readonly #logger: Logger

  constructor(features: readonly AnyFeature<W>[], logger: Logger) {
    this.#features = features
    this.#logger = logger
  }

  ofObject(resource: Resource, change: ObjectChange, world: W): readonly OwnerMark[] {
    const wanted = resourceKey(resource)
    return this.#collect((feature) =>
      feature.triggers.flatMap((trigger) => {
        if (trigger.on !== 'object' || resourceKey(trigger.resource) !== wanted) return []
        // A feature names the resource of its trigger, so the change is of that resource's type.
        return [...trigger.keys(change as ObjectChange<never>, world)]
      }),
    )
  }

  ofRow(change: RowChange, world: W): readonly OwnerMark[] {
    return this.#collect((feature) =>
      feature.triggers.flatMap((trigger) =>
        trigger.on === 'row' && trigger.table === change.table ? [...trigger.keys(change, world)] : [],
      ),
    )
  }

  ofSignal(signal: string, subject: string, world: W): readonly OwnerMark[] {
    return this.#collect((feature) =>
      feature.triggers.flatMap((trigger) =>
        trigger.on === 'signal' && trigger.signal === signal ? [...trigger.keys(subject, world)] : [],
      ),
    )
  }

  /** Every key that anything which exists now concerns: what a restart begins with. */
  all(objects: Objects, rows: Rows, world: W): ReadonlySet<OwnerMark> {
    const owners = new Set<OwnerMark>(this.#collect((feature) => [...(feature.initialKeys?.(world) ?? [])]))
    for (const resource of objects.resources) {
      for (const object of objects.store(resource)?.values() ?? []) {
        const { namespace, name } = object.metadata
        const key = namespace === undefined ? name : `${namespace}/${name}`
        const change: ObjectChange = { key, old: undefined, new: object, initial: true }
        for (const owner of this.ofObject(resource, change, world)) owners.add(owner)
      }
    }
    for (const table of this.#rowTables()) {
      for (const row of rows.scan(table)) {
        const change: RowChange = { table, uuid: row._uuid, old: undefined, new: row }
        for (const owner of this.ofRow(change, world)) owners.add(owner)
      }
    }
    return owners
  }

  #rowTables(): ReadonlySet<string> {
    const triggers = this.#features.flatMap((feature) => feature.triggers)
    return new Set(triggers.flatMap((trigger) => (trigger.on === 'row' ? [trigger.table] : [])))
  }

  #collect(keysOf: (feature: AnyFeature<W>) => readonly Key[]): readonly OwnerMark[] {
    return this.#features.flatMap((feature) => {
      try {
        return keysOf(feature).map((key) => ownerMark(feature.name, key))
      } catch (err) {
        this.#logger.error('trigger failed', { feature: feature.name, err })
        return []
      }
    })
  }
}
