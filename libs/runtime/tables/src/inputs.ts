/** Whoever read something: a group of a table, or a key that is watched. */
export interface Dependent {
  /** Place of its node in the order of evaluation. */
  readonly node: number
  readonly key: string
  /** All that it has read. The list may be that of others who have read the same, too. */
  inputs: readonly Input[]
}

/** More dependents than these are hashed; a set of a few takes many times the memory of a list. */
const most = 8

/** Something that can be read: a row, the rows or keys under a value of an index, or all rows. */
export class Input {
  readonly #home: Inputs<Input>
  readonly #key: string
  /** Most are read by one. */
  #dependents: Dependent | readonly Dependent[] | Set<Dependent> | undefined

  constructor(home: Inputs<Input>, key: string) {
    this.#home = home
    this.#key = key
  }

  add(dependent: Dependent): void {
    const known = this.#dependents
    if (known instanceof Set) known.add(dependent)
    else if (known === undefined) this.#dependents = dependent
    else {
      const few = listOf(known)
      if (few.includes(dependent)) return
      // A list that is pushed to has room for many more.
      this.#dependents = few.length < most ? [...few, dependent] : new Set([...few, dependent])
    }
  }

  /** What nobody reads any more is forgotten. */
  delete(dependent: Dependent): void {
    const known = this.#dependents
    if (known instanceof Set) known.delete(dependent)
    else if (known !== undefined) this.#dependents = listOf(known).filter((one) => one !== dependent)
    for (const _ of this.dependents()) return
    this.#home.forget(this.#key)
  }

  dependents(): Iterable<Dependent> {
    const known = this.#dependents
    if (known === undefined) return []
    return known instanceof Set ? known : listOf(known)
  }

  /** For people: `subnets[blue]`, `pods by node[n1]`. */
  toString(): string {
    return `${this.#home.name}[${this.#key}]`
  }
}

function listOf(dependents: Dependent | readonly Dependent[]): readonly Dependent[] {
  return 'node' in dependents ? [dependents] : dependents
}

/** Whether there is any row under a value of an index. */
export class Presence extends Input {
  /** What everybody who has read it was told. */
  isThere = false
}

/** What is read in one way: of one index, say. Each has one {@link Input}, for as long as it is read. */
class Inputs<T extends Input> {
  /** For people. */
  readonly name: string
  readonly #kind: new (home: Inputs<Input>, key: string) => T
  readonly #byKey = new Map<string, T>()

  constructor(name: string, kind: new (home: Inputs<Input>, key: string) => T) {
    this.name = name
    this.#kind = kind
  }

  of(key: string): T {
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    const input = new this.#kind(this, key)
    this.#byKey.set(key, input)
    return input
  }

  get(key: string): T | undefined {
    return this.#byKey.get(key)
  }

  forget(key: string): void {
    this.#byKey.delete(key)
  }
}

/** What is read of one table. */
export class TableInputs {
  readonly #table: string
  readonly #rows: Inputs<Input>
  readonly #found = new Map<string, Inputs<Input>>()
  readonly #members = new Map<string, Inputs<Input>>()
  readonly #presences = new Map<string, Inputs<Presence>>()
  readonly #scan: Inputs<Input>
  /** Places of the nodes of which keys read the row of that key. */
  readonly ownKeyReaders = new Set<number>()

  constructor(table: string) {
    this.#table = table
    this.#rows = new Inputs(table, Input)
    this.#scan = new Inputs(table, Input)
  }

  row(key: string): Input {
    return this.#rows.of(key)
  }

  /** The rows under a value of an index. */
  found(index: string, value: string): Input {
    return this.#by(index, this.#found, Input).of(value)
  }

  /** The keys under a value of an index. */
  members(index: string, value: string): Input {
    return this.#by(index, this.#members, Input).of(value)
  }

  /** Whether there are rows under a value of an index: as `isThere` says. */
  presence(index: string, value: string, isThere: boolean): Input {
    const presence = this.#by(index, this.#presences, Presence).of(value)
    presence.isThere = isThere
    return presence
  }

  scan(): Input {
    return this.#scan.of('')
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
      if (before.length + after.length === 0) continue
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

  #by<T extends Input>(
    index: string,
    all: Map<string, Inputs<T>>,
    kind: new (home: Inputs<Input>, key: string) => T,
  ): Inputs<T> {
    return all.getOrInsertComputed(index, () => new Inputs(`${this.#table} by ${index}`, kind))
  }
}

/** Values of a row in an index, as it was and as it is. */
export interface IndexedChange {
  readonly index: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

function present(input: Input | undefined): readonly Input[] {
  return input === undefined ? [] : [input]
}
