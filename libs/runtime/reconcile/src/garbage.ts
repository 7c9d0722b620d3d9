import { MultiMap } from '@kube-ovn/collections'
import type { Logger } from '@kube-ovn/log'
import type { RowRef } from '@kube-ovn/ovn-names'
import type { KernelMetrics } from '@kube-ovn/telemetry'
import type { Adoption } from './adoption.ts'
import type { Catalog } from './catalog.ts'
import { isFaultOfContent } from './commit.ts'
import type { Feature, Key } from './feature.ts'
import type { Memory } from './memory.ts'
import { featureOf, ownerMark, parseIdMark, parseOwnerMark, type OwnerMark } from './marks.ts'
import { holdBack, kindMarkOf, rowsOwnedBy, type Doom, type DoomedRow, type HeldDeletion } from './orphans.ts'
import { planRemoval, type Plan } from './plan.ts'
import { retryOf } from './problems.ts'
import type { Rows } from './rows.ts'
import { planMemberRemoval, type StrayMember, type StrayMembers } from './stray-members.ts'

interface GarbageOptions {
  readonly rows: Rows
  readonly catalog: Catalog
  readonly adoption: Adoption
  readonly memory: Memory
  readonly strays: StrayMembers
  /** Whether it is known what a key wants; without a key, what all of the feature want. */
  readonly isHeard: (feature: string, key: Key | undefined) => boolean
  readonly logger: Logger
  readonly metrics: KernelMetrics
  /** Reconciles a key whose rows may now be deleted. */
  readonly release: (owner: OwnerMark) => void
  /** They say which key could want a row of a name, whatever it is that it wants. */
  readonly features: ReadonlyMap<string, Pick<Feature, 'mayOwn' | 'keysOf'>>
  readonly commit: (plan: Pick<Plan, 'steps' | 'outcomes'>) => Promise<unknown>
  /** Lets {@link Garbage.lookAgain} be called after a while, the longer the more often it has failed since it last succeeded. */
  readonly retry: (attempt: number) => void
  readonly onHeld?: (held: HeldDeletion | undefined) => void
}

/**
 * Collects rows without an object: those whose owner this process never saw alive, and rows of the vendor that no
 * key has adopted once every key has been looked at; likewise values in shared sets that no key wants there.
 *
 * They are looked at when nothing else is left to do. Of what there are suspiciously many is held back; the rest goes.
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
    if (this.#failing.delete(featureOf(owner), owner)) this.#hasNews = true
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
    const { rows, catalog, strays, isHeard, release } = this.#options
    const orphans = [...this.#orphans].map((owner) => ({
      owner,
      rows: rowsOwnedBy(owner, rows, catalog).map((one) => ({ ...one, kind: kindMarkOf(one.row) ?? '' })),
    }))
    const doom: Doom = {
      orphans,
      leftOver: this.#leftOver(),
      members: strays.find(isHeard),
    }
    const { held, free } = holdBack(doom, { rows, catalog, strays, confirmedToken: this.#confirmedToken })
    this.#report(held)
    for (const { owner } of free.orphans) {
      this.#orphans.delete(owner)
      this.#released.add(owner)
      release(owner)
    }
    await this.#sweep(free.leftOver, free.members)
  }

  /** What a failing key may want is left out. */
  #leftOver(): readonly DoomedRow[] {
    const { adoption, memory } = this.#options
    return adoption.leftOver().flatMap(({ table, row, ids }) => {
      // A row that can not be marked looks like one that nobody has adopted.
      if (ids.some((id) => memory.holderOf(id) !== undefined)) return []
      const refs = ids.flatMap((id) => parseIdMark(id) ?? [])
      return refs.some((ref) => this.#mayBeWanted(ref)) ? [] : [{ table, row, kind: refs[0]?.kind ?? '' }]
    })
  }

  /** A row that nobody has adopted may be that of a key of which it is not known yet what it wants. */
  #mayBeWanted(ref: RowRef): boolean {
    const { catalog, features } = this.#options
    const name = catalog.featureOfKind.get(ref.kind) ?? ''
    const failing = this.#failing.get(name)
    if (failing.size === 0) return false
    const feature = features.get(name)
    // There may be ten thousand rows, and as many keys that fail: those of a subnet that can not be served, after an upgrade.
    const keys = feature?.keysOf?.(ref)
    if (keys !== undefined) return keys.some((key) => failing.has(ownerMark(name, key)))
    for (const owner of failing) if (feature?.mayOwn?.(keyOf(owner), ref) !== false) return true
    return false
  }

  async #sweep(leftOver: readonly DoomedRow[], members: readonly StrayMember[]): Promise<void> {
    const isAllGone = await this.#remove(leftOver, members)
    if (isAllGone) this.#failures = 0
    else this.#options.retry(this.#failures++)
  }

  /**
   * Answers whether all of it is gone. What is refused for its content is halved until what is at fault is alone, as with keys: a row that
   * somebody else's row holds must not keep everything else.
   */
  async #remove(leftOver: readonly DoomedRow[], members: readonly StrayMember[]): Promise<boolean> {
    const { rows, catalog, adoption, logger, commit } = this.#options
    const removal = planRemoval(leftOver, { wants: [], rows, catalog, adoptable: adoption })
    const departure = planMemberRemoval(members, '')
    const steps = [...removal.steps, ...departure.steps]
    if (steps.length === 0) return true
    const counts = { deleted: removal.outcomes.length, removed: members.length }
    try {
      await commit({ steps, outcomes: [...removal.outcomes, ...departure.outcomes] })
      logger.info('rows without owner removed', counts)
      return true
    } catch (err) {
      if (isFaultOfContent(err) && leftOver.length + members.length > 1) {
        const [moreRows, fewerRows] = halves(leftOver)
        const [moreMembers, fewerMembers] = halves(members)
        // Crosswise, so that each time it is less: of one row and one value, each is alone.
        const isFirstGone = await this.#remove(moreRows, fewerMembers)
        const isSecondGone = await this.#remove(fewerRows, moreMembers)
        return isFirstGone && isSecondGone
      }
      logger.warn('rows without owner not removed', { ...counts, retry: retryOf(err), err })
      return false
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

/** The first is as long as the second, or longer by one. */
function halves<T>(all: readonly T[]): readonly [readonly T[], readonly T[]] {
  const middle = Math.ceil(all.length / 2)
  return [all.slice(0, middle), all.slice(middle)]
}

function keyOf(owner: OwnerMark): Key {
  return parseOwnerMark(owner)?.key ?? ''
}
