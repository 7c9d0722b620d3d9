import type { Adoption } from './adoption.ts'
import type { Catalog } from './catalog.ts'
import { contend, type EntryLookup } from './contention.ts'
import type { MapMember, Membership } from './feature.ts'
import { lacking, wantOf, type Job } from './jobs.ts'
import { idIndex, idMark, ownerOf, parseIdMark, type IdMark, type OwnerMark } from './marks.ts'
import { Batch, type Memory } from './memory.ts'
import { MissingColumns } from './missing-columns.ts'
import { placeOf } from './places.ts'
import { planRows, type Plan } from './plan.ts'
import { mapOf, type Rows } from './rows.ts'
import { findExisting } from './resolve.ts'
import type { Unheard } from './unheard.ts'
import { isRef } from './values.ts'
import { referencesOf, tableOf } from './want.ts'

interface PlannerOptions {
  readonly rows: Rows
  readonly catalog: Catalog
  readonly memory: Memory
  readonly adoption: Adoption
  readonly features: readonly { readonly name: string; readonly memberships?: readonly Membership[] }[]
  readonly unheard: Unheard
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
    const wanted = jobs.filter((job) => job.desired.hold !== true)
    const lacks = contend(wanted, this.#entries(jobs))
    const planned = lacks.size === 0 ? wanted : wanted.map((job) => lacking(job, lacks.get(job.owner)))
    const batch = new Batch(planned.map((job) => [job.owner, job.desired]))
    return planRows({
      wants: planned.map((job) => wantOf(job, { memory, batch })),
      rows,
      catalog,
      adoptable: adoption,
      holderOf: (id) => memory.holderOf(id),
      lacks,
    })
  }

  /**
   * Keeps what a key wants, for the day on which it wants something else.
   *
   * @returns other keys that rows which nobody wants any more are marked with: while somebody did, they left these alone; and those that wait
   *   for what it had
   */
  remember(job: Job<W>, isSettled: boolean): readonly OwnerMark[] {
    const { rows, catalog, memory, unheard } = this.#options
    const references = referencesOf(wantOf(job), catalog, () => true)
    const { abandoned, freed } = memory.remember(job.owner, job.desired, references, isSettled)
    unheard.hear(job.owner)
    this.#await(job)
    const marked = abandoned.flatMap((id) => {
      const table = catalog.kinds.get(parseIdMark(id)?.kind ?? '')?.table
      const found = table === undefined ? [] : rows.find(table, idIndex, id)
      return found.flatMap((row) => ownerOf(row) ?? []).filter((owner) => owner !== job.owner)
    })
    return [...marked, ...freed]
  }

  /** It is not known at present what a key wants. */
  hold(owner: OwnerMark): void {
    this.#options.unheard.hold(owner)
  }

  /** Whoever can not have an entry is woken when it is free, or when it is known whose it is. */
  #await({ owner, lacks = [] }: Job<W>): void {
    const { memory, unheard } = this.#options
    const taken = lacks.filter(({ holder }) => holder !== undefined)
    if (taken.length > 0)
      memory.awaitEntries(
        owner,
        taken.map(({ entry }) => placeOf(entry)),
      )
    for (const { unheard: awaited } of lacks) if (awaited !== undefined) unheard.await(awaited, owner)
  }

  #entries(jobs: readonly Job<W>[]): EntryLookup {
    const { rows, catalog, memory, adoption, features, unheard } = this.#options
    const lookup = {
      rows,
      catalog,
      adoptable: adoption,
      isWanted: (id: IdMark) => memory.holderOf(id) !== undefined,
    }
    const current = ({ of, column, key }: MapMember) => {
      const table = tableOf(of, catalog)
      const uuid = findExisting(of, idMark(of), lookup)
      const row = table === undefined || uuid === undefined ? undefined : rows.get(table, uuid)
      return row === undefined ? undefined : mapOf(row, column)[key]
    }
    return {
      claimsOn: (place) => memory.claimsOn(place),
      compare(entry) {
        const { value } = entry
        const found = current(entry)
        const wanted = isRef(value) ? findExisting(value, idMark(value), lookup) : value
        if (found === undefined) return value === undefined ? 'equal' : 'absent'
        return found === wanted ? 'equal' : 'different'
      },
      unheard(entry) {
        const { of, column } = entry
        const there: MapMember = { ...entry, value: current(entry) }
        const planned = new Set(jobs.map(({ owner }) => owner))
        for (const { name, memberships = [] } of features) {
          for (const membership of memberships) {
            if (membership.kind !== of.kind || membership.column !== column) continue
            const key = membership.keyOf?.(there)
            if (membership.keyOf !== undefined && key === undefined) continue
            const awaited = unheard.find(name, key, planned)
            if (awaited !== undefined) return awaited
          }
        }
        return undefined
      },
    }
  }
}
