interface Group<T> {
  readonly items: T[]
  /** Place of the one whose turn is next. */
  next: number
}

/** Lets those that wait have their turn, one of each group after the other, and within a group in the order in which they came. */
export class FairQueue<T> {
  /** In the order of their turns; none is empty. */
  readonly #groups = new Map<string, Group<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  push(group: string, one: T): void {
    this.#groups.getOrInsertComputed(group, () => ({ items: [], next: 0 })).items.push(one)
    this.#size++
  }

  /** Takes the next one; `undefined` when nobody waits. */
  shift(): T | undefined {
    for (const [name, group] of this.#groups) {
      const one = group.items[group.next++]
      this.#size--
      this.#groups.delete(name)
      if (group.next < group.items.length) this.#groups.set(name, group)
      return one
    }
    return undefined
  }
}
