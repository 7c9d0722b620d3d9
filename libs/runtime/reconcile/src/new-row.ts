import type { NewValue } from 'ovsdb-client'
import { asElements, asMap, tokenOf, type Element } from './values.ts'

/** What keys contribute to a row that the plan inserts. */
export class NewRow {
  readonly columns: Record<string, NewValue>
  readonly #sets = new Map<string, Map<string, Element>>()
  readonly #maps = new Map<string, Record<string, Element>>()

  constructor(columns: Record<string, NewValue>) {
    this.columns = columns
  }

  add(column: string, element: Element): void {
    const present = (): Map<string, Element> =>
      new Map(asElements(this.columns[column]).map((one) => [tokenOf(one), one]))
    this.#sets.getOrInsertComputed(column, present).set(tokenOf(element), element)
  }

  put(column: string, key: string, element: Element): void {
    this.#maps.getOrInsertComputed(column, () => ({ ...asMap(this.columns[column]) }))[key] = element
  }

  /** Puts what was contributed among the columns. */
  close(): void {
    for (const [column, set] of this.#sets) this.columns[column] = [...set.values()]
    for (const [column, map] of this.#maps) this.columns[column] = map
  }
}
