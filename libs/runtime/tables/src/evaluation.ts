import type { SelectionChange } from '@kube-ovn/label-selector'
import { TableDeclarationError } from './errors.ts'
import type { Drive, Graph } from './graph.ts'
import type { IndexedChange, Input } from './inputs.ts'
import { groupOf, link, TableNode, unlink, WatchNode } from './node.ts'
import { Readings, type UntypedViews } from './readings.ts'
import { ForkedRows, StoredRows, type Rows } from './rows.ts'
import { SelectionRows } from './selection-rows.ts'
import type { AnyTable, GroupOrigin, Reads, RowOrigin, SelectionOrigin, UnionOrigin, View } from './table.ts'
import { hasAny, plainView, sorted } from './views.ts'
import type { ForkedWatch, Watch, WatchDeclaration } from './watch.ts'

export interface EvaluationOptions {
  readonly graph: Graph
  onDefect(table: string, key: string, error: unknown): void
  onChange(): void
  monotonic(): number
}

/** How many rows are derived between two looks at the clock. */
const rowsBetweenLooks = 16

/** The rows of all tables, and what must be done to have them right. */
export class Evaluation {
  readonly #options: EvaluationOptions
  readonly #graph: Graph
  readonly #base: Evaluation | undefined
  readonly #nodes: readonly TableNode[]
  readonly #watches: WatchNode[] = []
  /** Those that follow rows of tables, whatever keys read; most follow none. */
  readonly #followers = new Map<AnyTable, WatchNode[]>()
  readonly #watchPlaces = new WeakMap<Watch, number>()
  readonly #readings = new Readings((table) => this.#nodeOf(table))
  /** Rows that were there at the start, and have not been taken in. */
  #found: Iterator<() => void> | undefined
  #isStarted = false
  #isSettled = true

  constructor(options: EvaluationOptions, base?: Evaluation) {
    this.#options = options
    this.#graph = options.graph
    this.#base = base
    this.#nodes = options.graph.tables.map((table, place) => new TableNode(table, place, base?.node(place)))
    if (base === undefined) return
    this.#isStarted = true
    for (const watch of base.#watches) this.#add(new WatchNode(watch.declaration, watch.place))
  }

  /** A copy that starts from what is here, which must not change meanwhile. */
  fork(options: Pick<EvaluationOptions, 'onDefect'>): Evaluation {
    if (!this.isSettled) throw new TableDeclarationError('all', 'a fork is made of what is settled')
    return new Evaluation({ ...this.#options, ...options, onChange: () => undefined }, this)
  }

  get isSettled(): boolean {
    return this.#isStarted && this.#isSettled
  }

  node(place: number): TableNode {
    const node = this.#nodes[place]
    if (node === undefined) throw new RangeError(`there is no table ${place}`)
    return node
  }

  attach(place: number, rows: Rows): void {
    this.node(place).rows = rows
  }

  /** What is there is taken in by {@link settle}, and what changes from now on by {@link changed}. */
  start(): void {
    this.#isStarted = true
    this.#found = this.#rowsOfSources()
    this.#unsettle()
  }

  *#rowsOfSources(): Generator<() => void, undefined> {
    for (const { table, place, rows } of this.#nodes) {
      if (table.origin.kind !== 'source') continue
      for (const key of rows.keys()) yield () => this.#publish(place, key, undefined, rows.get(key))
    }
  }

  /** Before the start nothing is derived, so no change is of interest. */
  changed(place: number, key: string, old: unknown, row: unknown): void {
    if (!this.#isStarted) return
    const { table } = this.node(place)
    if (old !== undefined && row !== undefined && table.isSame(old as never, row as never)) return
    this.#publish(place, key, old, row)
  }

  /** Changes a row of a fork's source. */
  put(place: number, key: string, row: unknown): void {
    const { rows } = this.node(place)
    if (!(rows instanceof ForkedRows)) throw new TypeError('sources are changed by whoever keeps them')
    const old = rows.get(key)
    rows.put(key, row)
    this.changed(place, key, old, row)
  }

  view(place: number): View<unknown, string> {
    return plainView(() => this.node(place).rows)
  }

  /** A view that notes what is read for the key that is being read for. */
  notedView(place: number): View<unknown, string> {
    return this.#readings.viewOf(this.node(place))
  }

  settle(budgetMs: number): boolean {
    if (!this.#isStarted) return false
    const endMs = this.#options.monotonic() + budgetMs
    let untilLook = rowsBetweenLooks
    for (const step of this.#steps()) {
      step()
      if (--untilLook > 0) continue
      if (this.#options.monotonic() > endMs) return false
      untilLook = rowsBetweenLooks
    }
    this.#isSettled = true
    // In a fork nobody is told: whoever made it asks.
    if (this.#base !== undefined) return true
    for (const watch of this.#watches) {
      if (watch.causes.size > 0) watch.declaration.onConcerned(watch.takeCauses())
    }
    return this.#isSettled
  }

  *#steps(): Iterable<() => void> {
    // Not by a loop over it, which would end it with the first slice.
    for (let next = this.#found?.next(); next?.done === false; next = this.#found?.next()) yield next.value
    this.#found = undefined
    for (const node of this.#nodes) {
      // Of a hundred tables a change is about a few.
      if (node.isWaiting) yield* this.#waitingIn(node)
    }
  }

  watch(declaration: WatchDeclaration): Watch {
    if (this.#isStarted) throw new TableDeclarationError('all', 'who watches does so from the start')
    const node = new WatchNode(declaration, this.#nodes.length + this.#watches.length)
    this.#add(node)
    const watch = this.#handleOf(node)
    this.#watchPlaces.set(watch, node.place)
    return watch
  }

  #add(watch: WatchNode): void {
    this.#watches.push(watch)
    for (const { table } of watch.declaration.of) {
      const followers = this.#followers.getOrInsertComputed(table, () => [])
      if (!followers.includes(watch)) followers.push(watch)
    }
  }

  /** What a watch of the base is here. */
  forkedWatch(watch: Watch): ForkedWatch {
    const place = this.#base?.placeOfWatch(watch)
    const node = this.#watches.find((one) => one.place === place)
    if (node === undefined) throw new TableDeclarationError('all', 'the watch is none of these tables')
    return {
      ...this.#handleOf(node),
      get concerned() {
        return new Set(node.causes.keys())
      },
      takeCauses: () => node.takeCauses(),
    }
  }

  placeOfWatch(watch: Watch): number | undefined {
    return this.#watchPlaces.get(watch)
  }

  #handleOf(node: WatchNode): Watch {
    return {
      read: (key, reads, read) => {
        // The views are of the tables that `reads` names, so their rows are of the types that it says.
        const { value, inputs, hasReadOwn } = this.#readings.during(node, key, reads, (views) =>
          outcomeOf(() => read(views as never)),
        )
        // Who has read nothing costs nothing. In a fork it hides what the base knows of the key.
        if (hasReadOwn || inputs.size > 0 || this.#base !== undefined) link(groupOf(node, key), inputs)
        else unlink(node, key)
        if (value.isThrown) throw value.error
        return value.result
      },
      forget: (key) => unlink(node, key),
    }
  }

  #waitingIn(node: TableNode): Iterable<() => void> {
    const { origin } = node.table
    switch (origin.kind) {
      case 'source':
        return []
      case 'row':
        return taken(node.waiting, (key) => this.#deriveRow(node, origin, key))
      case 'union':
        return taken(node.waiting, (key) => this.#replace(node, key, this.#rowOfUnion(origin, key)))
      case 'group':
        return taken(node.waiting, (value) => this.#deriveGroup(node, origin, value))
      case 'selection':
        return this.#selections(node, origin)
    }
  }

  #deriveRow(node: TableNode, origin: RowOrigin, key: string): void {
    const row = this.#nodeOf(origin.of).rows.get(key)
    if (row === undefined) {
      unlink(node, key)
      this.#replace(node, key, undefined)
      return
    }
    this.#derive(node, key, origin.reads, (views) => {
      const derived = origin.row(row as never, views as never, key)
      return () => this.#replace(node, key, derived)
    })
  }

  #rowOfUnion({ of }: UnionOrigin, key: string): unknown {
    const slash = key.indexOf('/')
    const table = of[key.slice(0, slash)]
    return table === undefined ? undefined : this.#nodeOf(table).rows.get(key.slice(slash + 1))
  }

  #deriveGroup(node: TableNode, origin: GroupOrigin, value: string): void {
    const driver = this.#nodeOf(origin.of).rows
    const keys = sorted(driver.keysOf(origin.by, value))
    if (keys.length === 0) {
      this.#give(node, value, new Map())
      unlink(node, value)
      return
    }
    this.#derive(node, value, origin.reads, (views) => {
      const members = new Map(keys.map((key) => [key, driver.get(key) as never]))
      const derived = new Map(origin.rows(members, views as never, value))
      return () => this.#give(node, value, derived)
    })
  }

  /** A row may pass from one group to another, of which any may be looked at first. */
  #give(node: TableNode, value: string, derived: ReadonlyMap<string, unknown>): void {
    for (const key of this.#rowKeysOf(node, value)) {
      if (derived.has(key) || this.#giverOf(node, key) !== value) continue
      node.givers.set(key, undefined)
      if (this.#base === undefined) node.givers.delete(key)
      this.#replace(node, key, undefined)
    }
    for (const [key, row] of derived) {
      node.givers.set(key, value)
      this.#replace(node, key, row)
    }
    groupOf(node, value).rowKeys = [...derived.keys()]
  }

  #giverOf(node: TableNode, key: string): string | undefined {
    return node.givers.has(key) ? node.givers.get(key) : this.#base?.node(node.place).givers.get(key)
  }

  /** What was read is noted also when it fails: then it is tried again when any of it changes. */
  #derive(node: TableNode, key: string, reads: Reads, compute: (views: UntypedViews) => () => void): void {
    const { value: put, inputs } = this.#readings.during(node, key, reads, (views) => {
      try {
        return compute(views)
      } catch (error) {
        this.#options.onDefect(node.table.name, key, error)
        return undefined
      }
    })
    if (inputs.size > 0 || node.groups.has(key)) link(groupOf(node, key), inputs)
    put?.()
  }

  *#selections(node: TableNode, origin: SelectionOrigin): Iterable<() => void> {
    const { rows } = node
    if (!(rows instanceof SelectionRows)) return
    const { selection } = rows
    // First selectors: with them, objects are filed only once.
    yield* taken(node.waitingSelectors, (key) => {
      const row = this.#nodeOf(origin.selectors).rows.get(key)
      const change = this.#guarded(node, key, () =>
        selection.setSelector(key, row === undefined ? undefined : origin.selector(row as never)),
      )
      if (change === undefined) return
      for (const [object, before] of formerSelectors(change, key, selection))
        this.#publishSelected(node, object, before)
    })
    yield* taken(node.waiting, (key) => {
      const row = this.#nodeOf(origin.objects).rows.get(key)
      const before = sorted(selection.selectorsOf(key))
      const change = this.#guarded(node, key, () =>
        selection.setObject(key, row === undefined ? undefined : origin.object(row as never)),
      )
      if (change !== undefined && change.joined.length + change.left.length > 0)
        this.#publishSelected(node, key, before)
    })
  }

  /** What fails is told; what was there before stays. */
  #guarded<R>({ table }: TableNode, key: string, run: () => R): R | undefined {
    try {
      return run()
    } catch (error) {
      this.#options.onDefect(table.name, key, error)
      return undefined
    }
  }

  #publishSelected(node: TableNode, object: string, before: readonly string[]): void {
    this.#publish(node.place, object, before.length === 0 ? undefined : before, node.rows.get(object))
  }

  /** Puts a derived row in the place of another one, unless it says the same. */
  #replace(node: TableNode, key: string, row: unknown): void {
    const { rows, table } = node
    if (!(rows instanceof StoredRows || rows instanceof ForkedRows)) return
    const old = rows.get(key)
    if (old === undefined && row === undefined) return
    if (old !== undefined && row !== undefined && table.isSame(old as never, row as never)) return
    rows.put(key, row)
    this.#publish(node.place, key, old, row)
  }

  /** Tells whoever is made from the row or has read what it changes. */
  #publish(place: number, key: string, old: unknown, row: unknown): void {
    const node = this.node(place)
    for (const drive of this.#graph.drivesOf(place)) this.#drive(drive, node, key, [old, row])
    const indexes = this.#indexedChanges(node, key, old, row)
    const isThere = (index: string, value: string): boolean => hasAny(node.rows.keysOf(index, value))
    for (const one of [node, ...this.#basesOf(node)]) {
      for (const reader of one.inputs.ownKeyReaders) this.#wakeOwn(reader, key, node)
      const inputs = one.inputs.changedBy(key, indexes, isThere, one === node)
      for (const input of inputs) this.#wake(input)
    }
    for (const watch of this.#followers.get(node.table) ?? []) {
      for (const { table, keys } of watch.declaration.of) {
        if (table !== node.table) continue
        for (const one of [old, row]) {
          if (one === undefined) continue
          const concerned = this.#guarded(node, key, () => keys(one as never, key)) ?? []
          for (const one of concerned) watch.causes.set(one, `${table.name}[${key}]`)
        }
      }
    }
    this.#unsettle()
  }

  /** The node as it is in what this was forked from: what was read there counts here, too. */
  #basesOf({ place }: TableNode): readonly TableNode[] {
    const base = this.#base?.node(place)
    return base === undefined ? [] : [base]
  }

  /** A row on which an index function fails can not be found by it, and that is told of the row that is new. */
  #indexedChanges(node: TableNode, key: string, old: unknown, row: unknown): readonly IndexedChange[] {
    return node.indexFunctions.map(([index, valuesOf]) => ({
      index,
      before: old === undefined ? [] : (node.indexes[index]?.(old) ?? []),
      after: row === undefined ? [] : (this.#guarded(node, key, () => valuesOf(row)) ?? []),
    }))
  }

  #drive(drive: Drive, driver: TableNode, key: string, states: readonly unknown[]): void {
    const node = this.node(drive.place)
    switch (drive.kind) {
      case 'row':
      case 'object':
        node.waiting.add(key)
        return
      case 'selector':
        node.waitingSelectors.add(key)
        return
      case 'union':
        node.waiting.add(`${drive.name}/${key}`)
        return
      case 'group': {
        for (const one of states) {
          if (one !== undefined)
            for (const value of driver.indexes[drive.by]?.(one) ?? []) node.waiting.add(value)
        }
      }
    }
  }

  #wake(input: Input): void {
    for (const { node, key } of input.dependents()) {
      const table = this.#nodes[node]
      if (table === undefined) this.#watches[node - this.#nodes.length]?.causes.set(key, input)
      else table.waiting.add(key)
    }
  }

  /** Wakes the key of a node that may have read the row of that key. */
  #wakeOwn(place: number, key: string, { table }: TableNode): void {
    const reader = this.#nodes[place]
    const watch = this.#watches[place - this.#nodes.length]
    if (reader !== undefined) reader.waiting.add(key)
    else if (watch !== undefined && this.#isRead(watch, key)) watch.causes.set(key, `${table.name}[${key}]`)
  }

  #isRead({ groups, place }: WatchNode, key: string): boolean {
    return groups.has(key) || this.#base?.watchAt(place)?.groups.has(key) === true
  }

  watchAt(place: number): WatchNode | undefined {
    return this.#watches[place - this.#nodes.length]
  }

  #unsettle(): void {
    if (!this.#isSettled) return
    this.#isSettled = false
    this.#options.onChange()
  }

  #nodeOf(table: AnyTable): TableNode {
    return this.node(this.#graph.placeOf(table))
  }

  /** Keys of the rows that a group gave when it was last derived, here or in the base. */
  #rowKeysOf(node: TableNode, value: string): readonly string[] {
    return node.groups.get(value)?.rowKeys ?? this.#base?.node(node.place).groups.get(value)?.rowKeys ?? []
  }
}

type Outcome<R> =
  { readonly isThrown: false; readonly result: R } | { readonly isThrown: true; readonly error: unknown }

/** What fails may succeed when something that it read is different, so what it read counts all the same. */
function outcomeOf<R>(compute: () => R): Outcome<R> {
  try {
    return { isThrown: false, result: compute() }
  } catch (error) {
    return { isThrown: true, error }
  }
}

/** Takes keys out of a set one by one, those too that come meanwhile. */
function* taken(keys: Set<string>, derive: (key: string) => void): Iterable<() => void> {
  for (const key of keys) {
    keys.delete(key)
    yield () => derive(key)
  }
}

/** The selectors that each object had before one selector changed. */
function* formerSelectors(
  { joined, left }: SelectionChange,
  selector: string,
  selection: SelectionRows['selection'],
): Iterable<readonly [object: string, before: readonly string[]]> {
  for (const object of joined)
    yield [object, sorted(selection.selectorsOf(object)).filter((key) => key !== selector)]
  for (const object of left) yield [object, sorted([...selection.selectorsOf(object), selector])]
}
