import type { Evaluation } from './evaluation.ts'
import type { Graph } from './graph.ts'
import type { AnyTable, Table, ViewOf } from './table.ts'
import type { ForkedWatch, Watch } from './watch.ts'

/** Tables as they would be after some changes, which are made here alone. */
export class TableFork {
  readonly #graph: Graph
  readonly #evaluation: Evaluation

  constructor(graph: Graph, evaluation: Evaluation) {
    this.#graph = graph
    this.#evaluation = evaluation
  }

  /** Puts a row into a source; `undefined` takes it out. */
  put<R, I extends string>(table: Table<R, I>, key: string, row: R | undefined): void {
    this.#evaluation.put(this.#graph.placeOf(table), key, row)
  }

  /** Derives all that follows from what was put. */
  settle(): void {
    this.#evaluation.settle(Number.POSITIVE_INFINITY)
  }

  view<T extends AnyTable>(table: T): ViewOf<T> {
    return this.#evaluation.view(this.#graph.placeOf(table)) as ViewOf<T>
  }

  /** As {@link Tables.noted}, for what is read here. */
  noted<T extends AnyTable>(table: T): ViewOf<T> {
    return this.#evaluation.notedView(this.#graph.placeOf(table)) as ViewOf<T>
  }

  /** What a watch of the tables would follow here. */
  watch(watch: Watch): ForkedWatch {
    return this.#evaluation.forkedWatch(watch)
  }
}
