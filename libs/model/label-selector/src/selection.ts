import { checkSelector, matchesLabels, type Labels, type LabelSelector } from './label-selector.ts'
import { narrowestTerm } from './narrowest-term.ts'

/** What selectors look at. */
export interface Selectable {
  /** The namespace of an object; `undefined` for what is cluster-scoped. */
  readonly scope?: string | undefined
  readonly labels: Labels
}

export interface Selector {
  /** The namespace within which it selects; `undefined` for all of them. */
  readonly scope?: string | undefined
  readonly selector: LabelSelector
}

/** Keys on the other side that match since a change, and that do no more. */
export interface SelectionChange {
  readonly joined: readonly string[]
  readonly left: readonly string[]
}

/** Which objects are selected by which selectors. Sets are in no order, and change as the selection does. */
export interface Selection {
  readonly objects: ReadonlyMap<string, Selectable>
  readonly selectors: ReadonlyMap<string, Selector>
  /** Objects that a selector selects. */
  objectsOf(selector: string): ReadonlySet<string>
  /** Selectors that select an object. */
  selectorsOf(object: string): ReadonlySet<string>
  /** Objects that any selector selects. */
  selectedObjects(): Iterable<string>
  /** Takes an object in, or its labels as they are now; `undefined` takes it out. If it throws for its shape, nothing has changed. */
  setObject(key: string, object: Selectable | undefined): SelectionChange
  /** Takes a selector in, or as it is now; `undefined` takes it out. If it throws for its shape, nothing has changed. */
  setSelector(key: string, selector: Selector | undefined): SelectionChange
  /** A copy in which changes can be tried. This one must not change while it is used. */
  fork(): Selection
}

/** Throws for what can not be compared, before anything is changed. */
export function checkSelectable(object: Selectable | undefined): void {
  if (object !== undefined) Object.keys(object.labels)
}

/** Throws for what can not be compared, before anything is changed. */
export function checkShape(selector: Selector | undefined): void {
  if (selector === undefined) return
  checkSelector(selector.selector)
  narrowestTerm(selector.selector)
}

export function selects({ scope, selector }: Selector, object: Selectable): boolean {
  return (scope === undefined || scope === object.scope) && matchesLabels(selector, object.labels)
}

export function changeOf(before: ReadonlySet<string>, after: ReadonlySet<string>): SelectionChange {
  return {
    joined: [...after].filter((key) => !before.has(key)),
    left: [...before].filter((key) => !after.has(key)),
  }
}
