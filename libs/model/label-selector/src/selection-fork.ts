import {
  changeOf,
  checkSelectable,
  checkShape,
  selects,
  type Selectable,
  type Selection,
  type SelectionChange,
  type Selector,
} from './selection.ts'

/** A selection as it would be after a few changes: each of them looks at everything on the other side. */
export class SelectionFork implements Selection {
  readonly #base: Selection
  readonly #ownObjects = new Map<string, Selectable | undefined>()
  readonly #ownSelectors = new Map<string, Selector | undefined>()

  constructor(base: Selection) {
    this.#base = base
  }

  get objects(): ReadonlyMap<string, Selectable> {
    return overlaid(this.#base.objects, this.#ownObjects)
  }

  get selectors(): ReadonlyMap<string, Selector> {
    return overlaid(this.#base.selectors, this.#ownSelectors)
  }

  objectsOf(key: string): ReadonlySet<string> {
    const isOwn = this.#ownSelectors.has(key)
    const selector = isOwn ? this.#ownSelectors.get(key) : this.#base.selectors.get(key)
    if (selector === undefined) return new Set()
    if (isOwn) return keysWhere(this.objects, (object) => selects(selector, object))
    const found = new Set([...this.#base.objectsOf(key)].filter((object) => !this.#ownObjects.has(object)))
    for (const [name, object] of this.#ownObjects)
      if (object !== undefined && selects(selector, object)) found.add(name)
    return found
  }

  selectorsOf(key: string): ReadonlySet<string> {
    const isOwn = this.#ownObjects.has(key)
    const object = isOwn ? this.#ownObjects.get(key) : this.#base.objects.get(key)
    if (object === undefined) return new Set()
    if (isOwn) return keysWhere(this.selectors, (selector) => selects(selector, object))
    const found = new Set([...this.#base.selectorsOf(key)].filter((one) => !this.#ownSelectors.has(one)))
    for (const [name, selector] of this.#ownSelectors)
      if (selector !== undefined && selects(selector, object)) found.add(name)
    return found
  }

  *selectedObjects(): Iterable<string> {
    for (const key of this.objects.keys()) if (this.selectorsOf(key).size > 0) yield key
  }

  setObject(key: string, object: Selectable | undefined): SelectionChange {
    checkSelectable(object)
    const before = this.selectorsOf(key)
    this.#ownObjects.set(key, object)
    return changeOf(before, this.selectorsOf(key))
  }

  setSelector(key: string, selector: Selector | undefined): SelectionChange {
    checkShape(selector)
    const before = this.objectsOf(key)
    this.#ownSelectors.set(key, selector)
    return changeOf(before, this.objectsOf(key))
  }

  fork(): Selection {
    return new SelectionFork(this)
  }
}

function overlaid<T>(
  base: ReadonlyMap<string, T>,
  own: ReadonlyMap<string, T | undefined>,
): ReadonlyMap<string, T> {
  const all = new Map(base)
  for (const [key, value] of own) {
    if (value === undefined) all.delete(key)
    else all.set(key, value)
  }
  return all
}

function keysWhere<T>(all: ReadonlyMap<string, T>, isWanted: (value: T) => boolean): ReadonlySet<string> {
  return new Set([...all].flatMap(([key, value]) => (isWanted(value) ? [key] : [])))
}
