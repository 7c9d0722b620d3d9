import type { KubeOvnError } from '@kube-ovn/errors'
import { ownerMark } from '@kube-ovn/reconcile/work'
import { InvalidFragmentError } from './errors.ts'
import type { Answer, Contribution, NodeFeature } from './feature.ts'
import type { Claim, Owner, SinkKind } from './sink.ts'

/** A table of fragments, and where it stands. */
export interface Place extends Contribution {
  readonly feature: string
  /** Features that stand before others win where they contradict each other. */
  readonly order: number
  readonly sink: SinkKind<unknown>
}

export function placesOf(features: readonly NodeFeature[]): readonly Place[] {
  return features.flatMap(({ name, contributions }, featureOrder) =>
    contributions.map(({ sink, table }, index) => ({
      feature: name,
      order: featureOrder * 1000 + index,
      // A contribution is made of a sink and a table of its fragments.
      sink: sink as SinkKind<unknown>,
      table,
    })),
  )
}

/**
 * The targets of a fragment that can be used.
 *
 * @throws Error that tells why it can not be; the kernel has a use of its own for a target without a name
 */
function targetsOf(sink: SinkKind<unknown>, fragment: unknown): readonly string[] {
  sink.validate(fragment)
  const targets = sink.targets(fragment)
  if (!targets.includes('')) return targets
  const cure = 'name the part of the node that it is about'
  throw new InvalidFragmentError({ field: `target of ${sink.name}`, value: '', cure })
}

/** What became of an answer. */
export interface Taken {
  readonly owner: Owner
  /** Targets of which something else is wanted than before. */
  readonly targets: readonly string[]
  readonly problem?: KubeOvnError | Error
  /** When the answer is to be taken again, milliseconds from now: it is not used before. */
  readonly dueMs?: number
}

interface Entry {
  readonly place: Place
  readonly key: string
  readonly owner: Owner
  /** The last fragment that could be used. */
  claim?: Claim<unknown>
  targets: readonly string[]
  /** Whether it is known what is wanted: from the first fragment on that could be used. */
  isKnown: boolean
  /** What it is about while that is not known, if that is known. */
  about?: readonly string[] | undefined
  /** Since when it is wanted after a while, milliseconds of a monotonic clock. */
  delayedSinceMs?: number | undefined
}

/** What all features want, as far as it can be used: one bad fragment leaves the one before it in its place, and all others. */
export class Claims {
  readonly #entries: Map<string, Entry>

  constructor(base?: Claims) {
    this.#entries = new Map([...(base?.entries ?? [])].map(([id, entry]) => [id, { ...entry }]))
  }

  get entries(): Iterable<readonly [id: string, Entry]> {
    return this.#entries
  }

  /** Takes what a table says of a key; `undefined`: it says nothing. `nowMs` is of a monotonic clock. */
  take(place: Place, key: string, answer: Answer<unknown> | undefined, nowMs: number): Taken {
    const owner = ownerMark(place.feature, key)
    const id = `${place.order} ${key}`
    const known = this.#entries.get(id)
    if (answer === undefined) {
      this.#entries.delete(id)
      return { owner, targets: [...(known?.targets ?? []), ...(known?.about ?? [])] }
    }
    const entry = known ?? { place, key, owner, targets: [], isKnown: false }
    this.#entries.set(id, entry)
    entry.about = 'about' in answer ? answer.about : undefined
    if ('wait' in answer) return { owner, targets: [] }
    if (!('want' in answer)) return { owner, targets: [], problem: answer.problem }
    let targets: readonly string[]
    try {
      targets = targetsOf(place.sink, answer.want)
    } catch (error) {
      return { owner, targets: [], problem: error instanceof Error ? error : new TypeError(String(error)) }
    }
    const { afterMs } = answer
    entry.delayedSinceMs = afterMs === undefined ? undefined : (entry.delayedSinceMs ?? nowMs)
    const dueMs = (entry.delayedSinceMs ?? nowMs) + (afterMs ?? 0) - nowMs
    if (dueMs > 0) return { owner, targets: [], dueMs }
    const before = entry.targets
    entry.claim = { owner, fragment: answer.want }
    entry.targets = targets
    entry.isKnown = true
    const { problem } = answer
    return {
      owner,
      targets: [...new Set([...before, ...entry.targets])],
      ...(problem && { problem }),
    }
  }

  /** What is wanted of a target, in the order of the features. */
  of(sink: string, target: string): readonly Claim<unknown>[] {
    const entries = [...this.#entries.values()]
      .filter(({ place }) => place.sink.name === sink)
      .sort((a, b) => a.place.order - b.place.order || (a.key < b.key ? -1 : 1))
    return entries.flatMap(({ claim, targets }) =>
      claim !== undefined && targets.includes(target) ? [claim] : [],
    )
  }

  /** Whether all features have said what they want of a sink, or of one of its targets, by what they know. */
  isComplete(sink: string, target?: string): boolean {
    for (const { place, isKnown, about } of this.#entries.values()) {
      if (place.sink.name !== sink || isKnown) continue
      if (about === undefined || (target !== undefined && about.includes(target))) return false
    }
    return true
  }

  targetsOf(sink: string): readonly string[] {
    const entries = [...this.#entries.values()].filter(({ place }) => place.sink.name === sink)
    return [...new Set(entries.flatMap(({ targets }) => targets))]
  }
}
