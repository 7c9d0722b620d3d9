import { MultiMap } from '@kube-ovn/collections'
import type { Key } from './feature.ts'
import { featureOf, ownerMark, type OwnerMark } from './marks.ts'

interface UnheardOptions {
  /** One more is known. */
  readonly onHeard: () => void
  readonly wake: (owner: OwnerMark) => void
}

/** Keys that have not said yet, since the process started, what they want; and those that can not be planned before they do. */
export class Unheard {
  readonly #owners = new MultiMap<string, OwnerMark>()
  /** Those that were asked, and can not say it at present. */
  readonly #holding = new MultiMap<string, OwnerMark>()
  /** Keys that wait for a key, or for all of a feature. */
  readonly #waiting = new MultiMap<string, OwnerMark>()
  readonly #options: UnheardOptions

  constructor(options: UnheardOptions) {
    this.#options = options
  }

  add(owner: OwnerMark): void {
    this.#owners.add(featureOf(owner), owner)
  }

  /** The key has said what it wants. */
  hear(owner: OwnerMark): void {
    const feature = featureOf(owner)
    const isAwaited = this.#owners.delete(feature, owner)
    if (!this.#holding.delete(feature, owner) && !isAwaited) return
    this.#options.onHeard()
    if (isAwaited) this.#released(owner)
  }

  /**
   * The key can not say at present what it wants, and perhaps never will. What it may want is not collected; nobody waits for it to change an
   * entry.
   */
  hold(owner: OwnerMark): void {
    const feature = featureOf(owner)
    if (!this.#owners.delete(feature, owner)) return
    this.#holding.add(feature, owner)
    this.#released(owner)
  }

  /** Whether it is known what a key wants; without a key, what all of the feature want. */
  isHeard(feature: string, key: Key | undefined): boolean {
    return [this.#owners, this.#holding].every((owners) =>
      key === undefined ? !owners.hasKey(feature) : !owners.has(feature, ownerMark(feature, key)),
    )
  }

  /** Whom to wait for: a key, or all of a feature, but for some; `undefined` when nobody is left who could say it. */
  find(feature: string, key: Key | undefined, others: ReadonlySet<OwnerMark>): string | undefined {
    if (key !== undefined) {
      const owner = ownerMark(feature, key)
      return this.#owners.has(feature, owner) && !others.has(owner) ? owner : undefined
    }
    for (const owner of this.#owners.get(feature)) if (!others.has(owner)) return feature
    return undefined
  }

  /** Has a key woken when what `find` answered has been heard. */
  await(awaited: string, owner: OwnerMark): void {
    this.#waiting.add(awaited, owner)
  }

  #released(owner: OwnerMark): void {
    const feature = featureOf(owner)
    this.#release(owner)
    if (!this.#owners.hasKey(feature)) this.#release(feature)
  }

  #release(awaited: string): void {
    for (const owner of [...this.#waiting.get(awaited)]) {
      this.#waiting.delete(awaited, owner)
      this.#options.wake(owner)
    }
  }
}
