import type { KubeObject } from '@kube-ovn/kube'
import type { LocalObjects } from '../local-objects.ts'
import { ourFinalizer, widgets } from './state.ts'

/** Finalizers that somebody else puts on widgets: each must stay for as long as its widget does. */
export class ForeignFinalizers {
  readonly #objects: LocalObjects
  readonly #put = new Map<string, Set<string>>()

  constructor(objects: LocalObjects) {
    this.#objects = objects
    objects.onChange((_resource, change) => {
      if (change.new === undefined) this.#put.delete(change.key)
    })
  }

  add(draw: number): void {
    const all = this.#widgets()
    const object = all[draw % Math.max(1, all.length)]
    if (object === undefined) return
    const { name, finalizers = [] } = object.metadata
    const added = `theirs-${draw % 3}`
    if (finalizers.includes(added)) return
    this.#put.set(name, new Set(this.#put.get(name)).add(added))
    const metadata = { ...object.metadata, finalizers: [...finalizers, added] }
    this.#objects.put(widgets, name, { ...object, metadata })
  }

  /** What was put on the widgets that there are. */
  get put(): readonly string[] {
    return [...this.#put].flatMap(([name, added]) => [...added].map((one) => `${name} ${one}`)).sort()
  }

  /** What is found on them. */
  get found(): readonly string[] {
    const others = this.#widgets().flatMap(({ metadata: { name, finalizers = [] } }) =>
      finalizers.filter((finalizer) => finalizer !== ourFinalizer).map((one) => `${name} ${one}`),
    )
    return others.sort()
  }

  #widgets(): readonly KubeObject[] {
    return [...(this.#objects.store(widgets)?.values() ?? [])]
  }
}

/** Names of widgets, and what we have written on them. */
export function shownWidgets(objects: LocalObjects): readonly string[] {
  return [...(objects.store(widgets)?.values() ?? [])].map(showWidget).sort()
}

export function showWidget({ metadata: { name, labels, finalizers = [] } }: KubeObject): string {
  return JSON.stringify([name, labels, finalizers.filter((finalizer) => finalizer === ourFinalizer)])
}
