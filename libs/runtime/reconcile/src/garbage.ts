import { MultiMap } from '@kube-ovn/collections'
import type { Logger } from '@kube-ovn/log'
import type { KernelMetrics } from '@kube-ovn/telemetry'
import type { Adoption } from './adoption.ts'
import type { Catalog } from './catalog.ts'
import { featureOf, parseIdMark, type OwnerMark } from './marks.ts'
import {
  excessiveDeletions,
  excessiveRemovals,
  kindMarkOf,
  rowsOwnedBy,
  tokenOf,
  type HeldDeletion,
} from './orphans.ts'
import { planRemoval, type Plan } from './plan.ts'
import { retryOf } from './problems.ts'
import type { TableRow } from './resolve.ts'
import type { Rows } from './rows.ts'
import { planMemberRemoval, type StrayMember, type StrayMembers } from './stray-members.ts'

interface GarbageOptions {
  readonly rows: Rows
  readonly catalog: Catalog
  readonly adoption: Adoption
  readonly strays: StrayMembers
  readonly logger: Logger
  readonly metrics: KernelMetrics
  /** Reconciles a key whose rows may now be deleted. */
  readonly release: (owner: OwnerMark) => void
  readonly commit: (plan: Pick<Plan, 'steps' | 'outcomes'>) => Promise<unknown>
  /** Lets {@link Garbage.lookAgain} be called after a while, the longer the more often it has failed since it last succeeded. */
  readonly retry: (attempt: number) => void
  readonly onHeld?: (held: HeldDeletion | undefined) => void
}

type Doomed = TableRow & { readonly kind: string }

/**
 * Collects rows without an object: those whose owner this process never saw alive, and rows of the vendor that no
 * key has adopted once every key has been looked at; likewise values in shared sets that no key wants there.
 *
 * They are looked at together, when nothing else is left to do, and held back when they are suspiciously many.
 */
export class Garbage {
  readonly #options: GarbageOptions
  readonly #orphans = new Set<OwnerMark>()
  readonly #released = new Set<OwnerMark>()
  /** Keys, by feature, of which it is not known yet which rows they want. */
  readonly #failing = new MultiMap<string, OwnerMark>()
  #heldToken: string | undefined
  #confirmedToken: string | undefined
  #hasNews = true
  #failures = 0

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
    this.#failing.add(featureOf(owner), owner)
  }

  markSettled(owner: OwnerMark): void {
    this.#released.delete(owner)
    this.#orphans.delete(owner)
    const feature = featureOf(owner)
    if (this.#failing.delete(feature, owner) && this.#isSettled(feature)) this.#hasNews = true
  }

  /** Rows without an owner, or values that nobody wants, may have appeared. */
  lookAgain(): void {
    this.#hasNews = true
  }

  /** Lets the deletion of this name go ahead, whether it is held already or will be. */
  confirm(token: string): void {
    if (token === this.#confirmedToken) return
    this.#confirmedToken = token
    this.#hasNews = true
  }

  async collect(): Promise<void> {
    this.#hasNews = false
    const { rows, catalog, strays, release } = this.#options
    const leftOver = this.#leftOver()
    const orphaned = [...this.#orphans].flatMap((owner) =>
      rowsOwnedBy(owner, rows, catalog).map((one): Doomed => ({ ...one, kind: kindMarkOf(one.row) ?? '' })),
    )
    const members = strays.find((feature) => this.#isSettled(feature))
    const held = this.#heldOf([...orphaned, ...leftOver], members)
    this.#report(held)
    if (held !== undefined) return
    for (const owner of this.#orphans) {
      this.#released.add(owner)
      release(owner)
    }
    this.#orphans.clear()
    await this.#sweep(leftOver, members)
  }

  #heldOf(doomed: readonly Doomed[], members: readonly StrayMember[]): HeldDeletion | undefined {
    const { rows, catalog, strays } = this.#options
    const kinds = [...excessiveDeletions(doomed, rows, catalog), ...excessiveRemovals(members, strays)]
    if (kinds.length === 0) return undefined
    const token = tokenOf(doomed, members)
    return token === this.#confirmedToken ? undefined : { token, kinds }
  }

  #isSettled(feature: string): boolean {
    return this.#failing.get(feature).size === 0
  }

  /** What a failing key would adopt cannot be told from what nobody wants: kinds of its feature are left out. */
  #leftOver(): readonly Doomed[] {
    const { adoption, catalog } = this.#options
    const found = adoption.leftOver().map(({ table, row, id }) => ({
      table,
      row,
      kind: parseIdMark(id)?.kind ?? '',
    }))
    return found.filter(({ kind }) => this.#isSettled(catalog.featureOfKind.get(kind) ?? ''))
  }

  async #sweep(leftOver: readonly Doomed[], members: readonly StrayMember[]): Promise<void> {
    const { rows, catalog, adoption, logger, commit, retry } = this.#options
    const removal = planRemoval(leftOver, { wants: [], rows, catalog, adoptable: adoption })
    const departure = planMemberRemoval(members, '')
    const steps = [...removal.steps, ...departure.steps]
    if (steps.length === 0) return
    const counts = { deleted: removal.outcomes.length, removed: members.length }
    try {
      await commit({ steps, outcomes: [...removal.outcomes, ...departure.outcomes] })
      this.#failures = 0
      logger.info('rows without owner removed', counts)
    } catch (err) {
      logger.warn('rows without owner not removed', { ...counts, retry: retryOf(err), err })
      retry(this.#failures++)
    }
  }

  #report(held: HeldDeletion | undefined): void {
    if (held?.token === this.#heldToken) return
    this.#heldToken = held?.token
    const { logger, metrics, onHeld } = this.#options
    metrics.orphansHeld(new Map(held?.kinds.map(({ kind, rows }) => [kind, rows])))
    for (const { kind, rows, of, owners } of held?.kinds ?? []) {
      logger.error('deletion of rows without object held', { kind, rows, of, owners, token: held?.token })
    }
    onHeld?.(held)
  }
}
