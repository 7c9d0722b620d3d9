import type { OwnerMark } from './marks.ts'
import type { FactTable } from './source-tables.ts'

/** A row of a table of facts. */
export interface Fact {
  readonly table: FactTable<never>
  readonly key: string
  readonly row: unknown
}

/** Makes a fact for a key to desire. Each is one key's alone. */
export function fact<R, I extends string>(table: FactTable<R, I>, key: string, row: R): Fact {
  return { table, key, row }
}

/** Takes a row into a table of facts; `undefined` takes it out. Answers whether it is another one than before. */
export type PutFact = (table: FactTable<never>, key: string, row: unknown) => boolean

/**
 * What keys have decided, until they decide otherwise.
 *
 * Facts live as long as the process. What has to outlive it stands in objects or rows as well.
 */
export class Facts {
  readonly #put: PutFact
  readonly #base: Facts | undefined
  readonly #said = new Map<OwnerMark, readonly Fact[]>()

  constructor(put: PutFact, base?: Facts) {
    this.#put = put
    this.#base = base
  }

  /** A copy for plans that are not carried out. */
  fork(put: PutFact): Facts {
    return new Facts(put, this)
  }

  /** A key says these and no others from now on. Answers whether anything of it is different. */
  say(owner: OwnerMark, facts: readonly Fact[]): boolean {
    const before = this.#of(owner)
    if (before.length === 0 && facts.length === 0) return false
    if (facts.length > 0 || this.#base !== undefined) this.#said.set(owner, facts)
    else this.#said.delete(owner)
    const gone = before.filter(
      ({ table, key }) => !facts.some((one) => one.table === table && one.key === key),
    )
    const removed = gone.map(({ table, key }) => this.#put(table, key, undefined))
    const put = facts.map(({ table, key, row }) => this.#put(table, key, row))
    return [...removed, ...put].includes(true)
  }

  /** Whether a key would say anything else than it has said. */
  differ(owner: OwnerMark, facts: readonly Fact[]): boolean {
    const before = this.#of(owner)
    return (
      before.length !== facts.length ||
      facts.some(({ table, key, row }) => {
        const said = before.find((one) => one.table === table && one.key === key)
        return said === undefined || !table.isSame(said.row as never, row as never)
      })
    )
  }

  #of(owner: OwnerMark): readonly Fact[] {
    return this.#said.get(owner) ?? (this.#base === undefined ? [] : this.#base.#of(owner))
  }
}
