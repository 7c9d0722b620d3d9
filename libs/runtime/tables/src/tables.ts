import { Evaluation } from './evaluation.ts'
import { Graph } from './graph.ts'
import type { AnyTable, Table, ViewOf } from './table.ts'
import { TableDeclarationError } from './errors.ts'
import { TableFork } from './table-fork.ts'
import type { Watch, WatchDeclaration } from './watch.ts'

export interface TablesOptions {
  /** What is wanted; whatever these are made from comes along. */
  readonly tables: Iterable<AnyTable>
  /** A derivation threw, which is a defect. What it gave before stays. */
  onDefect(table: string, key: string, error: unknown): void
  /** Something waits to be derived, and did not before. */
  onChange?(): void
  /** Milliseconds, from any beginning; without it {@link Tables.settle} knows no budget. */
  monotonic?(): number
}

/**
 * Keeps derived tables what their declarations say, whatever changes.
 *
 * Changes are taken in at once, and derived when {@link settle} is called: each row once, in an order in which everything
 * that it reads has been derived before. A row that comes out as it was is no change.
 */
export class Tables {
  readonly #graph: Graph
  readonly #options: TablesOptions
  readonly #evaluation: Evaluation

  /** Throws a TableDeclarationError when two tables have one name. */
  constructor(options: TablesOptions) {
    this.#options = options
    this.#graph = new Graph(options.tables)
    const { onDefect, onChange = () => undefined, monotonic = () => 0 } = options
    this.#evaluation = new Evaluation({ graph: this.#graph, onDefect, onChange, monotonic })
  }

  /** All tables, each behind those that it is made from. */
  get declarations(): readonly AnyTable[] {
    return this.#graph.tables
  }

  /** Says where the rows of a source are, before the start. It must have the indexes of the table. */
  attach<R, I extends string>(table: Table<R, I>, source: Source<R>): void {
    if (table.origin.kind !== 'source') throw new TableDeclarationError(table.name, 'it is derived')
    this.#evaluation.attach(this.#graph.placeOf(table), source)
  }

  /** Takes in that a row of a source was changed. The source has the new one already. */
  changed<R, I extends string>(
    table: Table<R, I>,
    key: string,
    old: R | undefined,
    row: R | undefined,
  ): void {
    this.#evaluation.changed(this.#graph.placeOf(table), key, old, row)
  }

  /** Begins to derive: rows of sources are taken in by {@link settle}. All sources must be complete; they may change from then on. */
  start(): void {
    this.#evaluation.start()
  }

  /**
   * Derives what waits, for about that long at most.
   *
   * @returns whether nothing waits any more
   */
  settle(budgetMs: number = Number.POSITIVE_INFINITY): boolean {
    return this.#evaluation.settle(budgetMs)
  }

  get isSettled(): boolean {
    return this.#evaluation.isSettled
  }

  /** Rows as they are, without anybody being told when they change. */
  view<T extends AnyTable>(table: T): ViewOf<T> {
    return this.#evaluation.view(this.#graph.placeOf(table)) as ViewOf<T>
  }

  /**
   * Rows as they are; whoever reads them within {@link Watch.read} is told when they change. For those to whom views are
   * handed once and not with each key.
   */
  noted<T extends AnyTable>(table: T): ViewOf<T> {
    return this.#evaluation.notedView(this.#graph.placeOf(table)) as ViewOf<T>
  }

  /** Follows what keys read. Before the start only, so that no change is missed. */
  watch(declaration: WatchDeclaration): Watch {
    return this.#evaluation.watch(declaration)
  }

  /** A copy in which changes can be tried. This one must not change while it is used. */
  fork(): TableFork {
    return new TableFork(this.#graph, this.#evaluation.fork({ onDefect: this.#options.onDefect }))
  }
}

/** Rows that somebody else keeps. */
export interface Source<R> {
  get(key: string): R | undefined
  keysOf(index: string, value: string): Iterable<string>
  keys(): Iterable<string>
}
