import type { Input } from './inputs.ts'
import type { TableNode, WatchNode } from './node.ts'
import type { AnyTable, Reads, View } from './table.ts'
import { loggedView, type ReadLog } from './views.ts'

export type UntypedViews = Readonly<Record<string, View<unknown, string>>>

/** What is read while something is computed for a key. */
export class Readings {
  readonly #nodeOf: (table: AnyTable) => TableNode
  readonly #views = new WeakMap<Reads, UntypedViews>()
  #current: { readonly place: number; readonly key: string; readonly inputs: Set<Input> } | undefined

  constructor(nodeOf: (table: AnyTable) => TableNode) {
    this.#nodeOf = nodeOf
  }

  /** Computes something, and gives what was read for it. */
  during<T>(
    { place }: TableNode | WatchNode,
    key: string,
    reads: Reads,
    compute: (views: UntypedViews) => T,
  ): { readonly value: T; readonly inputs: ReadonlySet<Input> } {
    const inputs = new Set<Input>()
    const outer = this.#current
    this.#current = { place, key, inputs }
    try {
      return { value: compute(this.#viewsOf(reads)), inputs }
    } finally {
      this.#current = outer
    }
  }

  readonly #log: ReadLog = {
    row: (inputs, key) => {
      if (this.#current?.key === key) inputs.ownKeyReaders.add(this.#current.place)
      else this.#current?.inputs.add(inputs.row(key))
    },
    other: (input) => void this.#current?.inputs.add(input()),
  }

  #viewsOf(reads: Reads): UntypedViews {
    const known = this.#views.get(reads)
    if (known !== undefined) return known
    const views = Object.fromEntries(
      Object.entries(reads).map(([name, table]) => {
        const node = this.#nodeOf(table)
        return [name, loggedView(table, () => node.rows, node.inputs, this.#log)]
      }),
    )
    this.#views.set(reads, views)
    return views
  }
}
