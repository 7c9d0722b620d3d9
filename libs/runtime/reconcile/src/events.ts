import type { Desired, KubeEvent } from './feature.ts'
import type { OwnerMark } from './marks.ts'

/** Sends the events of each key when they come up, and not again for as long as the key has them. */
export class EventLog {
  readonly #record: (event: KubeEvent) => void
  readonly #sent = new Map<OwnerMark, ReadonlySet<string>>()

  constructor(record: (event: KubeEvent) => void) {
    this.#record = record
  }

  send(owner: OwnerMark, { events }: Pick<Desired, 'events'>): void {
    const before = this.#sent.get(owner)
    const now = new Set<string>()
    for (const event of events) {
      const { uid, name } = event.regarding
      const text = JSON.stringify([uid, name, event.reason, event.message])
      if (before?.has(text) !== true && !now.has(text)) this.#record(event)
      now.add(text)
    }
    if (now.size > 0) this.#sent.set(owner, now)
    else this.#sent.delete(owner)
  }

  forget(owner: OwnerMark): void {
    this.#sent.delete(owner)
  }
}
