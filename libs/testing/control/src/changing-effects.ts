import { objectKey, type KubeObject, type ObjectChange } from '@kube-ovn/kube'
import { controlFeatures } from '@kube-ovn/assembly-controller'
import { watched, type ControlSettings, type WatchedKinds } from '@kube-ovn/domains-control'
import {
  changingWorld,
  type ChangingWorld,
  type StillObjects,
} from '@kube-ovn/domains-control/testing/still-world'
import { decide, resourceKey, type Desired } from '@kube-ovn/reconcile'
import {
  applied,
  declarations,
  defaultFlags,
  features,
  mostRounds,
  objectsOf,
  repeatableBytes,
  type Objects,
} from './effects.ts'

/**
 * What the controller makes of objects that change. It goes on from what it knows: of what is derived only that is derived anew which follows
 * from a change, and only those features decide again that are told of one.
 */
export class ChangingEffects {
  readonly #parts: ChangingWorld
  readonly #watch: ReturnType<ChangingWorld['derived']['watch']>
  readonly #waiting = new Set<string>()
  readonly #decided = new Map<string, Desired>()
  #objects: Objects

  constructor(objects: StillObjects, settings: Partial<ControlSettings> = {}) {
    this.#objects = objects
    this.#parts = changingWorld(
      objects,
      {},
      {
        settings: { ...settings, flags: { ...defaultFlags, ...settings.flags } },
        randomBytes: repeatableBytes(),
        declarations,
      },
    )
    const { derived, signals, world } = this.#parts
    this.#watch = derived.watch((causes) => {
      for (const entry of causes.keys()) this.#waiting.add(entry)
    })
    signals.onRaise((signal, subject) => {
      for (const { name, triggers } of controlFeatures)
        for (const trigger of triggers)
          if (trigger.on === 'signal' && trigger.signal === signal)
            this.#queue(name, trigger.keys(subject, world))
    })
    this.#parts.start()
    for (const { name, initialKeys, triggers } of controlFeatures) {
      this.#queue(name, initialKeys?.(world) ?? [])
      for (const trigger of triggers)
        if (trigger.on === 'object')
          for (const object of objectsOf(objects, trigger.resource)) {
            const change: ObjectChange = {
              key: objectKey(object),
              old: undefined,
              new: object,
              initial: true,
            }
            this.#queue(name, trigger.keys(change as ObjectChange<never>, world))
          }
    }
    this.#rest()
  }

  /** The objects, with what the controller wrote into them. */
  get objects(): Objects {
    return this.#objects
  }

  /** What features want, by key. */
  get desired(): readonly Desired[] {
    return [...this.#decided.values()]
  }

  /** Lets the objects be these, and gives what features want on the way, each time before that counts which they write into objects. */
  change(objects: Objects): readonly (readonly Desired[])[] {
    this.#put(objects)
    return this.#rest()
  }

  #put(objects: Objects): void {
    for (const kind of Object.keys({ ...this.#objects, ...objects }) as (keyof WatchedKinds)[]) {
      const before = byKey(this.#objects[kind])
      const after = byKey(objects[kind])
      for (const key of new Set([...before.keys(), ...after.keys()]))
        if (before.get(key) !== after.get(key)) this.#changed(kind, key, after.get(key))
    }
    this.#objects = objects
    this.#parts.derived.settle()
  }

  #changed(kind: keyof WatchedKinds, key: string, object: KubeObject | undefined): void {
    const change = this.#parts.put(kind, key, object)
    const of = resourceKey(watched[kind].resource)
    for (const { name, triggers } of controlFeatures)
      for (const trigger of triggers)
        if (trigger.on === 'object' && resourceKey(trigger.resource) === of)
          this.#queue(name, trigger.keys(change as ObjectChange<never>, this.#parts.world))
  }

  #queue(feature: string, keys: Iterable<string>): void {
    for (const key of keys) this.#waiting.add(`${feature}\n${key}`)
  }

  /** Until nobody has anything to decide or to write any more. */
  #rest(): readonly (readonly Desired[])[] {
    const moments: (readonly Desired[])[] = []
    for (let round = 1; round <= mostRounds; round += 1) {
      for (const entry of this.#waiting) {
        // Whoever is waked while it is looked at is looked at again.
        this.#waiting.delete(entry)
        const [name = '', key = ''] = entry.split('\n')
        const feature = features.get(name)
        if (feature === undefined) continue
        const { world } = this.#parts
        this.#decided.set(entry, this.#watch.read(entry, {}, () => decide(feature, key, world)).desired)
      }
      const { desired } = this
      const next = applied(
        this.#objects,
        desired.flatMap(({ patches }) => patches),
      )
      if (next === this.#objects) return moments
      moments.push(desired)
      this.#put(next)
    }
    throw new Error(`objects have not come to rest in ${mostRounds} rounds`)
  }
}

function byKey(objects: readonly KubeObject[] = []): ReadonlyMap<string, KubeObject> {
  return new Map(objects.map((object) => [objectKey(object), object]))
}
