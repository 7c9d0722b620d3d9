import type { ObjectChange, Resource } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import type { RowChange } from 'ovsdb-client'
import type { Feature, Key, Trigger } from './feature.ts'
import { ownerMark, type OwnerMark } from './marks.ts'
import { resourceKey, type Objects } from './objects.ts'
import type { Rows } from './rows.ts'

type AnyFeature<W> = Feature<Key, unknown, W>

/** What one feature wants to know of something. */
interface Group<T> {
  readonly feature: string
  readonly triggers: readonly T[]
}

/** Groups by what their triggers are about; each feature has one. */
type Groups<T> = ReadonlyMap<string, readonly Group<T>[]>

type Triggering<W, On extends Trigger<Key, W>['on']> = Extract<Trigger<Key, W>, { readonly on: On }>

/** Answers which keys a change concerns, as the features declare it. */
export class Triggers<W> {
  readonly #features: readonly AnyFeature<W>[]
  readonly #logger: Logger
  readonly #ofResource: Groups<Triggering<W, 'object'>>
  readonly #ofTable: Groups<Triggering<W, 'row'>>
  readonly #ofSignal: Groups<Triggering<W, 'signal'>>

  constructor(features: readonly AnyFeature<W>[], logger: Logger) {
    this.#features = features
    this.#logger = logger
    this.#ofResource = groupsOf(features, 'object', ({ resource }) => resourceKey(resource))
    this.#ofTable = groupsOf(features, 'row', ({ table }) => table)
    this.#ofSignal = groupsOf(features, 'signal', ({ signal }) => signal)
  }

  ofObject(resource: Resource, change: ObjectChange, world: W): readonly OwnerMark[] {
    // A feature names the resource of its trigger, so the change is of that resource's type.
    return this.#collect(this.#ofResource.get(resourceKey(resource)), (trigger) =>
      trigger.keys(change as ObjectChange<never>, world),
    )
  }

  ofRow(change: RowChange, world: W): readonly OwnerMark[] {
    return this.#collect(this.#ofTable.get(change.table), (trigger) => trigger.keys(change, world))
  }

  ofSignal(signal: string, subject: string, world: W): readonly OwnerMark[] {
    return this.#collect(this.#ofSignal.get(signal), (trigger) => trigger.keys(subject, world))
  }

  /** Every key that anything which exists now concerns: what a restart begins with. */
  all(objects: Objects, rows: Rows, world: W): ReadonlySet<OwnerMark> {
    const initial = this.#features.map((feature) => ({ feature: feature.name, triggers: [feature] }))
    const owners = new Set<OwnerMark>(this.#collect(initial, (feature) => feature.initialKeys?.(world) ?? []))
    for (const resource of objects.resources) {
      for (const object of objects.store(resource)?.values() ?? []) {
        const { namespace, name } = object.metadata
        const key = namespace === undefined ? name : `${namespace}/${name}`
        const change: ObjectChange = { key, old: undefined, new: object, initial: true }
        for (const owner of this.ofObject(resource, change, world)) owners.add(owner)
      }
    }
    for (const table of this.#ofTable.keys()) {
      for (const row of rows.scan(table)) {
        const change: RowChange = { table, uuid: row._uuid, old: undefined, new: row }
        for (const owner of this.ofRow(change, world)) owners.add(owner)
      }
    }
    return owners
  }

  /** A feature that fails concerns nobody; the others are asked all the same. */
  #collect<T>(
    groups: readonly Group<T>[] | undefined,
    keysOf: (trigger: T) => Iterable<Key>,
  ): readonly OwnerMark[] {
    const owners: OwnerMark[] = []
    for (const { feature, triggers } of groups ?? []) {
      const before = owners.length
      try {
        for (const trigger of triggers)
          for (const key of keysOf(trigger)) owners.push(ownerMark(feature, key))
      } catch (err) {
        owners.length = before
        this.#logger.error('trigger failed', { feature, err })
      }
    }
    return owners
  }
}

/** Changes are many, and most features have nothing to do with any one: they are sorted once. */
function groupsOf<W, On extends Trigger<Key, W>['on']>(
  features: readonly AnyFeature<W>[],
  on: On,
  subjectOf: (trigger: Triggering<W, On>) => string,
): Groups<Triggering<W, On>> {
  const groups = new Map<string, Group<Triggering<W, On>>[]>()
  for (const { name: feature, triggers } of features) {
    const own = triggers.filter((trigger): trigger is Triggering<W, On> => trigger.on === on)
    for (const [subject, some] of Map.groupBy(own, subjectOf))
      groups.set(subject, [...(groups.get(subject) ?? []), { feature, triggers: some }])
  }
  return groups
}
