/** Whoever read something: a group of a table, or a key that is watched. */
export interface Dependent {
  /** Place of its node in the order of evaluation. */
  readonly node: number
  readonly key: string
}

/** Something that can be read: a row, the rows or keys under a value of an index, or all rows. */
export class Input {
  readonly table: string
  readonly what: string
  readonly #home: Map<string, Input>
  readonly #key: string
  /** Most are read by one, so a set is made only for the second. */
  #dependents: Dependent | Set<Dependent> | undefined

  constructor(home: Map<string, Input>, key: string, table: string, what: string) {
    this.#home = home
    this.#key = key
    this.table = table
    this.what = what
  }

  add(dependent: Dependent): void {
    if (this.#dependents === undefined) this.#dependents = dependent
    else if (this.#dependents instanceof Set) this.#dependents.add(dependent)
    else if (this.#dependents !== dependent) this.#dependents = new Set([this.#dependents, dependent])
  }

  /** What nobody reads any more is forgotten. */
  delete(dependent: Dependent): void {
    if (this.#dependents instanceof Set) this.#dependents.delete(dependent)
    else if (this.#dependents === dependent) this.#dependents = undefined
    const isRead =
      this.#dependents instanceof Set ? this.#dependents.size > 0 : this.#dependents !== undefined
    if (!isRead) this.#home.delete(this.#key)
  }

  *dependents(): Iterable<Dependent> {
    if (this.#dependents instanceof Set) yield* this.#dependents
    else if (this.#dependents !== undefined) yield this.#dependents
  }

  /** For people: `subnets[blue]`, `pods by node[n1]`. */
  toString(): string {
    return `${this.table}${this.what}[${this.#key}]`
  }
}

/** Whether there is any row under a value of an index. */
export class Presence extends Input {
  /** What everybody who has read it was told. */
  isThere = false
}

/** What is read of one table. */
export class TableInputs {
  readonly #table: string
  readonly #rows = new Map<string, Input>()
  readonly #found = new Map<string, Map<string, Input>>()
  readonly #members = new Map<string, Map<string, Input>>()
  readonly #presences = new Map<string, Map<string, Presence>>()
  readonly #scan = new Map<string, Input>()
  /** Places of the nodes of which keys read the row of that key. */
  readonly ownKeyReaders = new Set<number>()

  constructor(table: string) {
    this.#table = table
  }

  row(key: string): Input {
    return this.#intern(this.#rows, key, '', Input)
  }

  /** The rows under a value of an index. */
  found(index: string, value: string): Input {
    return this.#intern(mapOf(this.#found, index), value, ` by ${index}`, Input)
  }

  /** The keys under a value of an index. */
  members(index: string, value: string): Input {
    return this.#intern(mapOf(this.#members, index), value, ` by ${index}`, Input)
  }

  /** Whether there are rows under a value of an index: as `isThere` says. */
  presence(index: string, value: string, isThere: boolean): Input {
    const presence = this.#intern(mapOf(this.#presences, index), value, ` by ${index}`, Presence)
    presence.isThere = isThere
    return presence
  }

  scan(): Input {
    return this.#intern(this.#scan, '', '', Input)
  }

  /**
   * What has changed for whoever read it, when a row has. `before` and `after` are its values in each index.
   *
   * @param isThere whether there are rows under a value of an index now
   * @param remembers false in a fork of whom these inputs are
   */
  *changedBy(
    key: string,
    indexes: Iterable<IndexedChange>,
    isThere: (index: string, value: string) => boolean,
    remembers: boolean,
  ): Iterable<Input> {
    yield* present(this.#rows.get(key))
    yield* present(this.#scan.get(''))
    for (const { index, before, after } of indexes) {
      const found = this.#found.get(index)
      const members = this.#members.get(index)
      const presences = this.#presences.get(index)
      if (found === undefined && members === undefined && presences === undefined) continue
      const [had, has] = [new Set(before), new Set(after)]
      for (const value of had.union(has)) {
        yield* present(found?.get(value))
        if (had.has(value) === has.has(value)) continue
        yield* present(members?.get(value))
        const presence = presences?.get(value)
        if (presence === undefined || presence.isThere === isThere(index, value)) continue
        if (remembers) presence.isThere = !presence.isThere
        yield presence
      }
    }
  }

  #intern<T extends Input>(
    home: Map<string, T>,
    key: string,
    what: string,
    kind: new (...parts: ConstructorParameters<typeof Input>) => T,
  ): T {
    const known = home.get(key)
    if (known !== undefined) return known
    const input = new kind(home, key, this.#table, what)
    home.set(key, input)
    return input
  }
}

/** Values of a row in an index, as it was and as it is. */
export interface IndexedChange {
  readonly index: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

function mapOf<T extends Input>(maps: Map<string, Map<string, T>>, index: string): Map<string, T> {
  return maps.getOrInsertComputed(index, () => new Map<string, T>())
}

function present(input: Input | undefined): readonly Input[] {
  return input === undefined ? [] : [input]
}
