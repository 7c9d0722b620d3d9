import type { Logger } from '@kube-ovn/log'
import type { KernelMetrics } from '@kube-ovn/telemetry'
import type { Adoption } from './adoption.ts'
import type { Catalog } from './catalog.ts'
import { parseIdMark, type OwnerMark } from './marks.ts'
import { excessiveDeletions, kindMarkOf, rowsOwnedBy, type HeldOrphans } from './orphans.ts'
import { planRemoval, type Plan } from './plan.ts'
import { retryOf } from './problems.ts'
import type { TableRow } from './resolve.ts'
import type { Rows } from './rows.ts'

interface GarbageOptions {
  readonly rows: Rows
  readonly catalog: Catalog
  readonly adoption: Adoption
  readonly logger: Logger
  readonly metrics: KernelMetrics
  /** Reconciles a key whose rows may now be deleted. */
  readonly release: (owner: OwnerMark) => void
  readonly commit: (plan: Plan) => Promise<number>
  readonly onHeld?: (held: readonly HeldOrphans[]) => void
}

type Doomed = TableRow & { readonly kind: string }

/**
 * Collects rows without an object: those whose owner this process never saw alive, and rows of the vendor that no
 * key adopted in the first pass over all keys.
 *
 * They are looked at together, when nothing else is left to do, and held back when they are suspiciously many.
 */
export class Garbage {
  readonly #options: GarbageOptions
  readonly #orphans = new Set<OwnerMark>()
  readonly #released = new Set<OwnerMark>()
  /** Keys of which it is not known yet which rows they want. */
  readonly #failing = new Set<OwnerMark>()
  #heldText = ''
  #isConfirmed = false
  #hasNews = true
  #hasSwept = false

  constructor(options: GarbageOptions) {
    this.#options = options
  }

  /** There is something to look at. */
  get hasWork(): boolean {
    return this.#hasNews
  }

  /** Puts a key aside whose rows may be deleted only together with the others. */
  addOrphan(owner: OwnerMark): void {
    this.#orphans.add(owner)
    this.#hasNews = true
  }

  isReleased(owner: OwnerMark): boolean {
    return this.#released.has(owner)
  }

  isHeld(owner: OwnerMark): boolean {
    return this.#orphans.has(owner)
  }

  markFailing(owner: OwnerMark): void {
    this.#failing.add(owner)
  }

  markSettled(owner: OwnerMark): void {
    this.#released.delete(owner)
    this.#orphans.delete(owner)
    if (this.#failing.delete(owner) && this.#failing.size === 0 && !this.#hasSwept) this.#hasNews = true
  }

  confirm(): void {
    this.#isConfirmed = true
    this.#hasNews = true
  }

  async collect(): Promise<void> {
    this.#hasNews = false
    const { rows, catalog, release } = this.#options
    // What a failing key would adopt cannot be told from what nobody wants.
    const leftOver = this.#hasSwept || this.#failing.size > 0 ? [] : this.#leftOver()
    const orphaned = [...this.#orphans].flatMap((owner) =>
      rowsOwnedBy(owner, rows, catalog).map((one): Doomed => ({ ...one, kind: kindMarkOf(one.row) ?? '' })),
    )
    const excessive = this.#isConfirmed ? [] : excessiveDeletions([...orphaned, ...leftOver], rows, catalog)
    this.#report(excessive)
    if (excessive.length > 0) return
    this.#isConfirmed = false
    for (const owner of this.#orphans) {
      this.#released.add(owner)
      release(owner)
    }
    this.#orphans.clear()
    if (leftOver.length > 0) await this.#sweep(leftOver)
    else if (this.#failing.size === 0) this.#hasSwept = true
  }

  #leftOver(): readonly Doomed[] {
    return this.#options.adoption.leftOver().map(({ table, row, id }) => ({
      table,
      row,
      kind: parseIdMark(id)?.kind ?? '',
    }))
  }

  async #sweep(leftOver: readonly Doomed[]): Promise<void> {
    const { rows, catalog, adoption, logger, commit } = this.#options
    const plan = planRemoval(leftOver, { wants: [], rows, catalog, adoptable: adoption })
    this.#hasSwept = true
    if (plan.steps.length === 0) return
    try {
      await commit(plan)
      logger.info('rows without owner removed', { deleted: plan.outcomes.length })
    } catch (err) {
      this.#hasSwept = false
      logger.warn('rows without owner not removed', { rows: plan.outcomes.length, retry: retryOf(err), err })
    }
  }

  #report(held: readonly HeldOrphans[]): void {
    const text = held.map(({ kind, rows }) => `${kind}=${rows}`).join(' ')
    if (text === this.#heldText) return
    this.#heldText = text
    const { logger, metrics, onHeld } = this.#options
    metrics.orphansHeld(new Map(held.map(({ kind, rows }) => [kind, rows])))
    for (const { kind, rows, of, owners } of held) {
      logger.error('deletion of rows without object held', { kind, rows, of, owners })
    }
    onHeld?.(held)
  }
}
