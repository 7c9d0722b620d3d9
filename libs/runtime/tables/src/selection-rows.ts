import type { Selection } from '@kube-ovn/label-selector'
import type { Rows } from './rows.ts'
import { sorted } from './views.ts'

/** The rows of a selection: the keys of the selectors of each object that has any. */
export class SelectionRows implements Rows {
  readonly selection: Selection

  constructor(selection: Selection) {
    this.selection = selection
  }

  get(key: string): readonly string[] | undefined {
    const selectors = this.selection.selectorsOf(key)
    return selectors.size === 0 ? undefined : sorted(selectors)
  }

  keysOf(_index: string, selector: string): Iterable<string> {
    return this.selection.objectsOf(selector)
  }

  keys(): Iterable<string> {
    return this.selection.selectedObjects()
  }
}
