import { MultiMap } from '@kube-ovn/collections'
import { valueOf, type Labels } from './label-selector.ts'
import { narrowestTerm, type Term } from './narrowest-term.ts'
import { SelectionFork } from './selection-fork.ts'
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

/**
 * Which objects match which selectors, kept both ways.
 *
 * A selector is filed under the narrowest of its terms, and objects under the labels that some selector names, so that a
 * change looks only at what has a term in common with it, or none at all (`NotIn`, `DoesNotExist`, the empty selector).
 */
export class SelectionIndex implements Selection {
  readonly #objects = new Map<string, Selectable>()
  readonly #selectors = new Map<string, Selector>()
  readonly #terms = new Map<string, Term>()
  readonly #objectsOf = new MultiMap<string, string>()
  readonly #selectorsOf = new MultiMap<string, string>()
  /** Selectors, by scope and term. */
  readonly #filedSelectors = new MultiMap<string, string>()
  /** Objects, by label and by label and value; those labels only that a selector is filed under. */
  readonly #filedObjects = new MultiMap<string, string>()
  readonly #objectsByScope = new MultiMap<string, string>()
  /** Objects by the names of their labels together, of which a cluster has few, and these by each of the names. */
  readonly #objectsByNames = new MultiMap<string, string>()
  readonly #namesWith = new MultiMap<string, string>()
  /** How many selectors are filed under values of a label, and under any value of it. */
  readonly #labelsByValue = new Map<string, number>()
  readonly #labelsByName = new Map<string, number>()

  get objects(): ReadonlyMap<string, Selectable> {
    return this.#objects
  }

  get selectors(): ReadonlyMap<string, Selector> {
    return this.#selectors
  }

  objectsOf(selector: string): ReadonlySet<string> {
    return this.#objectsOf.get(selector)
  }

  selectorsOf(object: string): ReadonlySet<string> {
    return this.#selectorsOf.get(object)
  }

  selectedObjects(): Iterable<string> {
    return this.#selectorsOf.keys()
  }

  fork(): Selection {
    return new SelectionFork(this)
  }

  setObject(key: string, object: Selectable | undefined): SelectionChange {
    checkSelectable(object)
    const old = this.#objects.get(key)
    if (old !== undefined) this.#unfileObject(key, old)
    if (object === undefined) this.#objects.delete(key)
    else {
      this.#objects.set(key, object)
      this.#fileObject(key, object)
    }
    const before = this.#selectorsOf.get(key)
    const after = object === undefined ? none : this.#selectorsFor(object)
    const change = changeOf(before, after)
    for (const selector of change.left) this.#part(selector, key)
    for (const selector of change.joined) this.#pair(selector, key)
    return change
  }

  setSelector(key: string, selector: Selector | undefined): SelectionChange {
    checkShape(selector)
    this.#unfileSelector(key)
    if (selector === undefined) this.#selectors.delete(key)
    else {
      this.#selectors.set(key, selector)
      this.#fileSelector(key, selector)
    }
    const before = this.#objectsOf.get(key)
    const after = selector === undefined ? none : this.#objectsFor(selector, key)
    const change = changeOf(before, after)
    for (const object of change.left) this.#part(key, object)
    for (const object of change.joined) this.#pair(key, object)
    return change
  }

  #pair(selector: string, object: string): void {
    this.#objectsOf.add(selector, object)
    this.#selectorsOf.add(object, selector)
  }

  #part(selector: string, object: string): void {
    this.#objectsOf.delete(selector, object)
    this.#selectorsOf.delete(object, selector)
  }

  #selectorsFor(object: Selectable): ReadonlySet<string> {
    const found = new Set<string>()
    for (const scope of object.scope === undefined ? [undefined] : [undefined, object.scope]) {
      this.#collect(found, drawer(scope), object)
      for (const name of this.#drawersFor(object.labels, scope)) this.#collect(found, name, object)
    }
    return found
  }

  #collect(found: Set<string>, drawerName: string, object: Selectable): void {
    for (const key of this.#filedSelectors.get(drawerName)) {
      const selector = this.#selectors.get(key)
      if (selector !== undefined && selects(selector, object)) found.add(key)
    }
  }

  #objectsFor(selector: Selector, key: string): ReadonlySet<string> {
    const found = new Set<string>()
    for (const candidates of this.#candidatesFor(selector, this.#terms.get(key))) {
      for (const name of candidates) {
        const object = this.#objects.get(name)
        if (object !== undefined && selects(selector, object)) found.add(name)
      }
    }
    return found
  }

  #candidatesFor({ scope }: Selector, term: Term | undefined): readonly Iterable<string>[] {
    const inScope = scope === undefined ? undefined : this.#objectsByScope.get(scope)
    if (term === undefined) return [inScope ?? this.#objects.keys()]
    const drawers = drawersOf(undefined, term).map((name) => this.#filedObjects.get(name))
    const count = drawers.reduce((sum, { size }) => sum + size, 0)
    return inScope !== undefined && inScope.size < count ? [inScope] : drawers
  }

  #fileSelector(key: string, { scope, selector }: Selector): void {
    const term = narrowestTerm(selector)
    if (term === undefined) {
      this.#filedSelectors.add(drawer(scope), key)
      return
    }
    this.#terms.set(key, term)
    this.#countLabel(term, 1)
    for (const name of drawersOf(scope, term)) this.#filedSelectors.add(name, key)
  }

  #unfileSelector(key: string): void {
    const old = this.#selectors.get(key)
    if (old === undefined) return
    const term = this.#terms.get(key)
    this.#terms.delete(key)
    if (term !== undefined) this.#countLabel(term, -1)
    const drawers = term === undefined ? [drawer(old.scope)] : drawersOf(old.scope, term)
    for (const name of drawers) this.#filedSelectors.delete(name, key)
  }

  /** Objects are filed under a label from the first selector on that is, until the last one. */
  #countLabel(term: Term, by: 1 | -1): void {
    const { label, values } = term
    const counts = values === undefined ? this.#labelsByName : this.#labelsByValue
    const count = (counts.get(label) ?? 0) + by
    if (count === 0) counts.delete(label)
    else counts.set(label, count)
    if (count !== (by === 1 ? 1 : 0)) return
    for (const key of this.#objectsWith(label)) {
      const value = valueOf(this.#objects.get(key)?.labels ?? {}, label)
      if (value === undefined) continue
      const name = drawer(undefined, label, values === undefined ? undefined : value)
      if (by === 1) this.#filedObjects.add(name, key)
      else this.#filedObjects.delete(name, key)
    }
  }

  *#objectsWith(label: string): Iterable<string> {
    for (const names of this.#namesWith.get(label)) yield* this.#objectsByNames.get(names)
  }

  #fileObject(key: string, { scope, labels }: Selectable): void {
    if (scope !== undefined) this.#objectsByScope.add(scope, key)
    const names = Object.keys(labels)
    const all = names.join('\n')
    if (this.#objectsByNames.get(all).size === 0) for (const name of names) this.#namesWith.add(name, all)
    this.#objectsByNames.add(all, key)
    for (const name of this.#drawersFor(labels)) this.#filedObjects.add(name, key)
  }

  #unfileObject(key: string, { scope, labels }: Selectable): void {
    if (scope !== undefined) this.#objectsByScope.delete(scope, key)
    const names = Object.keys(labels)
    const all = names.join('\n')
    this.#objectsByNames.delete(all, key)
    if (this.#objectsByNames.get(all).size === 0) for (const name of names) this.#namesWith.delete(name, all)
    for (const name of this.#drawersFor(labels)) this.#filedObjects.delete(name, key)
  }

  /** Where something with these labels may be filed. */
  *#drawersFor(labels: Labels, scope?: string): Iterable<string> {
    for (const label of Object.keys(labels)) {
      if (this.#labelsByName.has(label)) yield drawer(scope, label)
      if (this.#labelsByValue.has(label)) yield drawer(scope, label, labels[label])
    }
  }
}

const none: ReadonlySet<string> = new Set()

function drawersOf(scope: string | undefined, { label, values }: Term): readonly string[] {
  return values === undefined
    ? [drawer(scope, label)]
    : [...new Set(values)].map((value) => drawer(scope, label, value))
}

/** Neither namespaces nor labels have the character in between. */
function drawer(scope: string | undefined, label?: string, value?: string): string {
  return `${scope ?? ''}\n${label ?? ''}\n${value === undefined ? '' : `=${value}`}`
}
