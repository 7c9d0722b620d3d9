import type { Adoption } from './adoption.ts'
import type { Catalog } from './catalog.ts'
import { wantOf, type Job } from './jobs.ts'
import { idIndex, ownerOf, parseIdMark, type OwnerMark } from './marks.ts'
import { Batch, type Memory } from './memory.ts'
import { MissingColumns } from './missing-columns.ts'
import { planRows, type Plan } from './plan.ts'
import type { Rows } from './rows.ts'
import { referencesOf } from './want.ts'

interface PlannerOptions {
  readonly rows: Rows
  readonly catalog: Catalog
  readonly memory: Memory
  readonly adoption: Adoption
}

/** Compares what keys want with what the server has, and remembers what they wanted. */
export class Planner<W> {
  readonly #options: PlannerOptions
  #missing: MissingColumns

  constructor(options: PlannerOptions) {
    this.#options = options
    this.#missing = new MissingColumns([], options.catalog)
  }

  /** Tables (`T`) and columns (`T.c`) that the server lacks, in the order of their text. */
  get missing(): readonly string[] {
    return this.#missing.names
  }

  /** Takes note of what a server lacks; answers whether that is other than before. */
  setMissing(names: readonly string[]): boolean {
    const before = this.missing
    this.#missing = new MissingColumns(names, this.#options.catalog)
    return this.missing.join() !== before.join()
  }

  /** The job without what the server cannot keep. */
  possible(job: Job<W>): Job<W> {
    const desired = this.#missing.without(job.desired)
    return desired === job.desired ? job : { ...job, desired }
  }

  /** What it takes to give all of these keys what they want. Throws what one of them can not have at all. */
  plan(jobs: readonly Job<W>[]): Plan {
    const { rows, catalog, memory, adoption } = this.#options
    const planned = jobs.filter((job) => job.desired.hold !== true)
    const batch = new Batch(planned.map((job) => [job.owner, job.desired]))
    return planRows({
      wants: planned.map((job) => wantOf(job, memory, batch)),
      rows,
      catalog,
      adoptable: adoption,
      holderOf: (id) => memory.holderOf(id),
    })
  }

  /**
   * Keeps what a key wants, for the day on which it wants something else.
   *
   * @returns other keys that rows which nobody wants any more are marked with: while somebody did, they left these alone
   */
  remember(job: Job<W>, isSettled: boolean): readonly OwnerMark[] {
    const { rows, catalog, memory } = this.#options
    const references = referencesOf(wantOf(job, memory), catalog, () => true)
    const abandoned = memory.remember(job.owner, job.desired, references, isSettled)
    return abandoned.flatMap((id) => {
      const table = catalog.kinds.get(parseIdMark(id)?.kind ?? '')?.table
      const found = table === undefined ? [] : rows.find(table, idIndex, id)
      return found.flatMap((row) => ownerOf(row) ?? []).filter((owner) => owner !== job.owner)
    })
  }
}
