import type { Watch } from '@kube-ovn/tables'
import { featureOf, parseOwnerMark, type OwnerMark } from './marks.ts'

interface LivingOptions {
  /** By feature. */
  readonly watches: ReadonlyMap<string, Pick<Watch, 'forget'>>
  /** Keys that a start would look at: walks everything there is. */
  known(): ReadonlySet<OwnerMark>
}

/** So many that are gone may be there before it is looked who of them is needed; as many more as there are keys at work. */
const leastGone = 1000

/**
 * Keys that existed when this process last looked, and those that are gone since.
 *
 * What these read of tables may bring them back, and is kept for that: but not that of everybody who was ever there, where names are used
 * once. Who would not be looked at by a process that starts is not woken by it either, and is forgotten.
 */
export class Living {
  readonly #options: LivingOptions
  readonly #alive = new Set<OwnerMark>()
  readonly #gone = new Set<OwnerMark>()

  constructor(options: LivingOptions) {
    this.#options = options
  }

  /** How many are gone that have not been looked at since. */
  get gone(): number {
    return this.#gone.size
  }

  has(owner: OwnerMark): boolean {
    return this.#alive.has(owner)
  }

  [Symbol.iterator](): Iterator<OwnerMark> {
    return this.#alive.values()
  }

  comes(owner: OwnerMark): void {
    this.#alive.add(owner)
    this.#gone.delete(owner)
  }

  goes(owner: OwnerMark): void {
    this.#alive.delete(owner)
    this.#gone.add(owner)
    if (this.#gone.size <= leastGone + this.#alive.size) return
    const { watches, known } = this.#options
    const needed = known()
    for (const gone of this.#gone) {
      const key = needed.has(gone) ? undefined : parseOwnerMark(gone)?.key
      if (key !== undefined) watches.get(featureOf(gone))?.forget(key)
    }
    this.#gone.clear()
  }
}
