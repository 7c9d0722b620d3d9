import type { Logger } from '@kube-ovn/log'

/** Keeps who answers, of those whom the monitor asks. A line is logged when one ceases to answer and when it does again, not for each question. */
export class Sources {
  readonly #log: Logger
  readonly #up = new Map<string, boolean>()
  #failures = 0

  constructor(log: Logger) {
    this.#log = log
  }

  /** Of all questions since the start. */
  get failures(): number {
    return this.#failures
  }

  get states(): ReadonlyMap<string, boolean> {
    return this.#up
  }

  answered(source: string): void {
    if (this.#up.get(source) === false) this.#log.info('source answers again', { source })
    this.#up.set(source, true)
  }

  failed(source: string, err: unknown): void {
    this.#failures++
    if (this.#up.get(source) !== false) this.#log.warn('source does not answer', { source, err })
    this.#up.set(source, false)
  }
}
