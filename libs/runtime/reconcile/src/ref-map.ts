import type { RowRef } from '@kube-ovn/ovn-names'

/** A map by what references name. Without a text of both for each of them: a key may name thousands. */
export class RefMap<T> {
  readonly #byKind = new Map<string, Map<string, T>>()

  get({ kind, id }: RowRef): T | undefined {
    return this.#byKind.get(kind)?.get(id)
  }

  has({ kind, id }: RowRef): boolean {
    return this.#byKind.get(kind)?.has(id) === true
  }

  set({ kind, id }: RowRef, value: T): void {
    this.#byKind.getOrInsertComputed(kind, () => new Map()).set(id, value)
  }
}
