import type { Input } from './inputs.ts'
import type { TableNode, WatchNode } from './node.ts'
import type { AnyTable, Reads, View } from './table.ts'
import { loggedView, type ReadLog } from './views.ts'

export type UntypedViews = Readonly<Record<string, View<unknown, string>>>

/** Something that was computed, and what was read for it. */
interface Reading<T> {
  readonly value: T
  readonly inputs: ReadonlySet<Input>
  /** Whether rows of the same key were read, which have no {@link Input}. */
  readonly hasReadOwn: boolean
}

interface Current {
  readonly place: number
  readonly key: string
  readonly inputs: Set<Input>
  hasReadOwn: boolean
}

/** What is read while something is computed for a key. */
export class Readings {
  readonly #nodeOf: (table: AnyTable) => TableNode
  readonly #views = new WeakMap<Reads, UntypedViews>()
  #current: Current | undefined

  constructor(nodeOf: (table: AnyTable) => TableNode) {
    this.#nodeOf = nodeOf
  }

  /** Computes something, and gives what was read for it. */
  during<T>(
    { place }: TableNode | WatchNode,
    key: string,
    reads: Reads,
    compute: (views: UntypedViews) => T,
  ): Reading<T> {
    const inputs = new Set<Input>()
    const outer = this.#current
    const current = { place, key, inputs, hasReadOwn: false }
    this.#current = current
    try {
      const value = compute(this.#viewsOf(reads))
      return { value, inputs, hasReadOwn: current.hasReadOwn }
    } finally {
      this.#current = outer
    }
  }

  /** Notes what is read for whatever is being computed; while nothing is, nothing. */
  viewOf({ table, inputs }: TableNode): View<unknown, string> {
    return loggedView(table, () => this.#nodeOf(table).rows, inputs, this.#log)
  }

  readonly #log: ReadLog = {
    row: (inputs, key) => {
      if (this.#current?.key === key) {
        this.#current.hasReadOwn = true
        inputs.ownKeyReaders.add(this.#current.place)
      } else this.#current?.inputs.add(inputs.row(key))
    },
    other: (input) => void this.#current?.inputs.add(input()),
  }

  #viewsOf(reads: Reads): UntypedViews {
    const known = this.#views.get(reads)
    if (known !== undefined) return known
    const views = Object.fromEntries(
      Object.entries(reads).map(([name, table]) => [name, this.viewOf(this.#nodeOf(table))]),
    )
    this.#views.set(reads, views)
    return views
  }
}
