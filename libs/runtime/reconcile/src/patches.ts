import {
  applyMergePatch,
  KubeAlreadyExistsError,
  KubeBadRequestError,
  KubeConflictError,
  KubeDeniedError,
  KubeInvalidError,
  KubeNotFoundError,
  mergePatch,
  objectKey,
  type JsonValue,
  type KubeObject,
  type Resource,
} from '@kube-ovn/kube'
import type { KernelMetrics } from '@kube-ovn/telemetry'
import type { Clock } from '@kube-ovn/time'
import { asApplied, differsFromApplied, toApply, type Configuration } from './applied.ts'
import { NotAppliedError, TrimmedFieldError, UnwatchedResourceError } from './errors.ts'
import { FairQueue } from './fair-queue.ts'
import type { KubePatch } from './feature.ts'
import { hasOtherLists, isAnotherObject, ofThisVersion, type BasedPatch } from './list-writes.ts'
import type { OwnerMark } from './marks.ts'
import { objectKeyOf, resourceKey, type Objects } from './objects.ts'
import { PatchLanes, targetOf } from './patch-lanes.ts'

/** Whether the server refused a patch for what it contains, so that another one may be taken. */
function isFaultOfPatch(error: unknown): boolean {
  return faultsOfPatch.some((type) => error instanceof type)
}

const faultsOfPatch = [KubeInvalidError, KubeBadRequestError, KubeDeniedError]

/** What is to be sent for a patch. Nothing differs when there is none. */
export type Write =
  | { readonly verb: 'create'; readonly object: KubeObject }
  | { readonly verb: 'apply'; readonly sent: Configuration }
  | { readonly verb: 'patch'; readonly patch: JsonValue }
  | { readonly verb: 'delete'; readonly uid: string; readonly patch: JsonValue | undefined }

/** Compares a patch with the object as it was last seen. */
export function planWrite(patch: KubePatch, current: KubeObject | undefined): Write | undefined {
  if (patch.apply !== undefined && patch.remove !== true) return planApply(toApply(patch.apply), current)
  if (current === undefined) {
    return patch.create === undefined || patch.remove === true
      ? undefined
      : { verb: 'create', object: patch.create }
  }
  const fields = differenceOf(patch, current)
  const difference = fields === undefined ? undefined : ofThisVersion(fields, current)
  if (patch.remove === true) {
    const { uid = '', deletionTimestamp } = current.metadata
    if (deletionTimestamp !== undefined)
      return difference === undefined ? undefined : { verb: 'patch', patch: difference }
    return { verb: 'delete', uid, patch: difference }
  }
  return difference === undefined ? undefined : { verb: 'patch', patch: difference }
}

/** What is being deleted is applied anew when it is gone. */
function planApply(sent: Configuration, current: KubeObject | undefined): Write | undefined {
  if (current !== undefined) {
    const isGoing = current.metadata.deletionTimestamp !== undefined
    if (isGoing || differsFromApplied(sent, current) === undefined) return undefined
  }
  return { verb: 'apply', sent }
}

/**
 * Joins the patches of one key that concern the same object and subresource, so that each is written once.
 *
 * Where two name the same field, the later one counts.
 */
export function joinPatches<P extends KubePatch>(patches: readonly P[]): readonly P[] {
  const joined = new Map<string, P>()
  for (const patch of patches) {
    const target = targetOf(patch)
    const before = joined.get(target)
    const merge = before?.merge === undefined ? patch.merge : joinFragments(before.merge, patch.merge ?? {})
    joined.set(target, { ...before, ...patch, ...(merge === undefined ? {} : { merge }) })
  }
  return [...joined.values()]
}

function differenceOf(patch: KubePatch, current: KubeObject | undefined): Fragment | undefined {
  if (current === undefined || patch.merge === undefined) return undefined
  return mergePatch(current, patch.merge)
}

/** The object as a write leaves it; `undefined` where it is new, or gone. */
function writtenBy(write: Write, current: KubeObject): KubeObject | undefined {
  if (write.verb === 'apply') return asApplied(write.sent, current)
  return write.verb === 'patch' ? (applyMergePatch(current, write.patch) as KubeObject) : undefined
}

/** The first field in which an object is not as a patch wants it. */
function fieldLeft(patch: KubePatch, object: KubeObject): string | undefined {
  if (patch.apply !== undefined) return differsFromApplied(toApply(patch.apply), object)
  const difference = differenceOf(patch, object)
  return difference === undefined ? undefined : firstFieldOf(difference)
}

/** The first field of an object that what is kept of it has not: a patch that names it would differ for ever. */
export function fieldTrimmedAway(
  object: KubeObject & Readonly<Record<string, unknown>>,
  kept: KubeObject,
): string | undefined {
  const difference = mergePatch(kept, object as Fragment)
  return difference === undefined ? undefined : firstFieldOf(difference)
}

function firstFieldOf(fragment: Fragment): string {
  const [[key, value] = ['', undefined]] = Object.entries(fragment)
  return isFragment(value) && Object.keys(value).length > 0 ? `${key}.${firstFieldOf(value)}` : key
}

type Fragment = NonNullable<KubePatch['merge']>

function joinFragments(one: Fragment, other: Fragment): Fragment {
  const result: Record<string, JsonValue> = { ...one }
  for (const [key, value] of Object.entries(other)) {
    const before = result[key]
    result[key] = isFragment(before) && isFragment(value) ? joinFragments(before, value) : value
  }
  return result
}

function isFragment(value: JsonValue | undefined): value is Fragment {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a key's patches went through: `again` when an object turned out to be other than it was last seen. */
type PatchOutcome = 'done' | 'again'

interface PatchSenderOptions {
  readonly objects: Objects
  readonly metrics: KernelMetrics
  readonly clock: Clock
  /** How many keys have a request under way at a time. */
  readonly concurrency: number
}

/** With so many keys under way, less than a batch of keys is better off gathering than going by itself. */
const busyKeys = 4

/** So many answers let it go all the same: then it is a part of a batch, and has waited for half of a concurrency's worth of requests. */
const enoughAnswers = 16

/** With so many keys that wait for the API server, more transactions would only run ahead of it, and take memory. */
const mostKeys = 10_000

/** An API server that has answered nothing for so long no longer sets the pace. */
const stallMs = 1_000

/**
 * Sends patches: those of a key in order, those of different keys side by side, but one at a time to an object. When there are more than may
 * be under way, features take turns, so that what there is little of does not wait behind ten thousand pods.
 */
export class PatchSender {
  readonly #options: PatchSenderOptions
  readonly #lanes = new PatchLanes()
  readonly #queue = new FairQueue<() => void>()
  #running = 0
  /** Keys that came to their end since the last round. */
  #answers = 0
  #progressAtMs = 0
  #isClosed = false

  constructor(options: PatchSenderOptions) {
    this.#options = options
  }

  /** The writes that patches amount to at this moment. Throws when one would be wanted again and again. */
  plan(owner: OwnerMark, patches: readonly KubePatch[]): readonly { patch: KubePatch; write: Write }[] {
    return joinPatches(patches).flatMap((patch) => {
      const current = this.#current(owner, patch)
      const write = planWrite(patch, current)
      if (write !== undefined && current !== undefined) this.#expectKept(owner, patch, write, current)
      return write === undefined ? [] : [{ patch, write }]
    })
  }

  /**
   * Sends what differs. Each patch is compared when its turn comes, so that it sees what the one before answered. One that
   * would write a list which changed since its key looked is not sent, nor one for an object in whose place there is another by now.
   *
   * Rejects with what the server refused, or with {@link UnwatchedResourceError} or {@link TrimmedFieldError}.
   */
  async send(owner: OwnerMark, feature: string, patches: readonly BasedPatch[]): Promise<PatchOutcome> {
    if (this.plan(owner, patches).length === 0) return 'done'
    const joined = joinPatches(patches)
    using _announced = this.#lanes.announce(joined)
    await this.#enter(feature)
    try {
      let outcome: PatchOutcome = 'done'
      for (const patch of joined) {
        const one = await this.#lanes.inTurn(patch, (others) => this.#sendWith(owner, feature, patch, others))
        if (one === 'again') outcome = 'again'
      }
      return outcome
    } finally {
      this.#leave()
    }
  }

  /** Takes along what other keys are about to write to the same object, unless that is what the server refuses. */
  async #sendWith(
    owner: OwnerMark,
    feature: string,
    patch: BasedPatch,
    others: readonly BasedPatch[],
  ): Promise<PatchOutcome> {
    const current = this.#current(owner, patch)
    const isOutdated = (one: BasedPatch) =>
      isAnotherObject(one, current) || hasOtherLists(one, differenceOf(one, current), current)
    if (isOutdated(patch)) return 'again'
    const merges = others
      .filter((other) => !isOutdated(other))
      .map(({ merge }) => merge)
      .filter((merge) => merge !== undefined)
    const isPlain = patch.remove !== true && patch.apply === undefined && current !== undefined
    if (!isPlain || merges.length === 0 || this.#differsNot(owner, patch)) {
      return this.#sendOne(owner, feature, patch)
    }
    try {
      return await this.#sendOne(owner, feature, {
        ...patch,
        merge: merges.reduce(joinFragments, patch.merge ?? {}),
      })
    } catch (error) {
      if (!isFaultOfPatch(error)) throw error
      return this.#sendOne(owner, feature, patch)
    }
  }

  #differsNot(owner: OwnerMark, patch: KubePatch): boolean {
    return planWrite(patch, this.#current(owner, patch)) === undefined
  }

  async #sendOne(owner: OwnerMark, feature: string, patch: KubePatch): Promise<PatchOutcome> {
    const { objects, metrics } = this.#options
    if (this.#isClosed) throw new DOMException('Nothing is written any more', 'AbortError')
    const current = this.#current(owner, patch)
    const write = planWrite(patch, current)
    if (write === undefined) return 'done'
    try {
      if (write.verb === 'create') await objects.create(patch.resource, write.object)
      else if (write.verb === 'apply') await this.#apply(patch.resource, write.sent)
      else {
        if (write.patch !== undefined)
          await objects.patch(patch.resource, patch, write.patch, {
            subresource: patch.subresource,
            uid: current?.metadata.uid,
          })
        if (write.verb === 'delete') await objects.remove(patch.resource, patch, write.uid)
      }
      metrics.patched(feature, write.verb, 'ok')
      return 'done'
    } catch (error) {
      metrics.patched(feature, write.verb, 'failed')
      // Gone meanwhile: its removal is on its way to the store, and will queue whom it concerns.
      const makesNone = write.verb !== 'create' && write.verb !== 'apply'
      if (error instanceof KubeNotFoundError && error.details.hasName && makesNone) return 'done'
      if (!(error instanceof KubeAlreadyExistsError) && !(error instanceof KubeConflictError)) throw error
      await objects.refresh(patch.resource, patch)
      return 'again'
    }
  }

  /** Rejects when the server did not make of the object what it was asked for, so that it would be asked again for ever. */
  async #apply(resource: Resource, sent: Configuration): Promise<void> {
    const answer = await this.#options.objects.apply(resource, sent)
    const field = differsFromApplied(sent, answer)
    if (field !== undefined) throw new NotAppliedError(resourceKey(resource), objectKey(sent), field)
  }

  /**
   * What the watch trims away differs for ever: it would be written again after each write.
   *
   * @throws TrimmedFieldError
   */
  #expectKept(owner: OwnerMark, patch: KubePatch, write: Write, current: KubeObject): void {
    const written = writtenBy(write, current)
    if (written === undefined) return
    const field = fieldLeft(patch, this.#options.objects.trim(patch.resource, written))
    if (field !== undefined) throw new TrimmedFieldError(owner, resourceKey(patch.resource), field)
  }

  #current(owner: OwnerMark, patch: KubePatch): KubeObject | undefined {
    const { resource } = patch
    const store = this.#options.objects.store(resource)
    if (store === undefined) throw new UnwatchedResourceError(owner, resource.group, resource.plural)
    return store.get(objectKeyOf(patch))
  }

  /**
   * For how long, at most, it is worth waiting before more is sent; 0 when there is no reason to wait.
   *
   * While keys wait for the API server, those that arrive gather, and go into one transaction. A whole batch need not gather, and goes on
   * until ten thousand keys wait.
   */
  busyForMs(hasBatch: boolean): number {
    const isFull = this.#running + this.#queue.size >= mostKeys
    const isGathering = !hasBatch && this.#running >= busyKeys && this.#answers < enoughAnswers
    if (!isFull && !isGathering) return 0
    return Math.max(0, this.#progressAtMs + stallMs - this.#options.clock.monotonic())
  }

  /** Keys were taken: those that come from now on gather anew. */
  startRound(): void {
    this.#answers = 0
  }

  /**
   * Sends nothing more but what is under way: what waits is rejected. Another process may be the leader by now, and objects are not
   * followed any more, so that what was decided may be wrong.
   */
  close(): void {
    this.#isClosed = true
  }

  #enter(feature: string): Promise<void> {
    if (this.#running === 0) this.#progressAtMs = this.#options.clock.monotonic()
    if (this.#running < this.#options.concurrency) {
      this.#running++
      return Promise.resolve()
    }
    return new Promise((resolve) => this.#queue.push(feature, resolve))
  }

  #leave(): void {
    this.#progressAtMs = this.#options.clock.monotonic()
    this.#answers++
    const next = this.#queue.shift()
    if (next === undefined) this.#running--
    else next()
  }
}
