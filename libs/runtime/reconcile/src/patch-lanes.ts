import type { KubePatch } from './feature.ts'
import type { BasedPatch } from './list-writes.ts'
import { objectKeyOf, resourceKey } from './objects.ts'

/** What is to be written to one object and subresource. */
type Target = string

export function targetOf(patch: KubePatch): Target {
  const part = patch.apply === undefined ? patch.subresource : 'apply'
  return `${resourceKey(patch.resource)} ${objectKeyOf(patch)} ${part ?? ''}`
}

interface Lane {
  /** Patches of all keys that have not been sent. */
  readonly waiting: Set<BasedPatch>
  busy: Promise<unknown> | undefined
}

/**
 * Lets writes to one object go one after the other, and tells which others wait for it: they can go along.
 *
 * Each key compares its patch with the object when its turn comes. What has gone along with another's then differs no
 * more, so that keys that concern the same object cost one write together.
 */
export class PatchLanes {
  readonly #lanes = new Map<Target, Lane>()

  /** Announces patches that will have their turn, until the answer is disposed. */
  announce(patches: readonly BasedPatch[]): Disposable {
    for (const patch of patches) this.#lane(targetOf(patch)).waiting.add(patch)
    return {
      [Symbol.dispose]: () => {
        for (const patch of patches) this.#withdraw(patch)
      },
    }
  }

  /** Waits for the writes to the same object that are under way, then sends. */
  async inTurn<T>(patch: BasedPatch, send: (others: readonly BasedPatch[]) => Promise<T>): Promise<T> {
    const lane = this.#lane(targetOf(patch))
    while (lane.busy !== undefined) await lane.busy
    lane.waiting.delete(patch)
    const sent = send([...lane.waiting].filter((other) => other.remove !== true))
    lane.busy = sent.catch(() => undefined)
    try {
      return await sent
    } finally {
      lane.busy = undefined
      this.#withdraw(patch)
    }
  }

  #lane(target: Target): Lane {
    const known = this.#lanes.get(target)
    if (known !== undefined) return known
    const lane: Lane = { waiting: new Set(), busy: undefined }
    this.#lanes.set(target, lane)
    return lane
  }

  #withdraw(patch: BasedPatch): void {
    const target = targetOf(patch)
    const lane = this.#lanes.get(target)
    lane?.waiting.delete(patch)
    if (lane !== undefined && lane.waiting.size === 0 && lane.busy === undefined) this.#lanes.delete(target)
  }
}
