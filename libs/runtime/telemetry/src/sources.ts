import type { Logger } from '@kube-ovn/log'

/** Keeps who answers, of those whom a process asks again and again. A line is logged when one ceases to answer and when it does again, not for each question. */
export class Sources {
  readonly #log: Logger
  readonly #up = new Map<string, boolean>()
  readonly #listeners = new Set<() => void>()
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

  /** Calls `listener` when somebody ceases to answer, answers again, or is heard of for the first time, until the answer is disposed. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  /** Asks somebody, and keeps whether there was an answer; `undefined` without one. */
  async ask<T>(source: string, ask: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await ask()
      this.answered(source)
      return answer
    } catch (error) {
      this.failed(source, error)
      return undefined
    }
  }

  answered(source: string): void {
    if (this.#up.get(source) === false) this.#log.info('source answers again', { source })
    this.#set(source, true)
  }

  failed(source: string, err: unknown): void {
    this.#failures++
    if (this.#up.get(source) !== false) this.#log.warn('source does not answer', { source, err })
    this.#set(source, false)
  }

  #set(source: string, isUp: boolean): void {
    if (this.#up.get(source) === isUp) return
    this.#up.set(source, isUp)
    for (const listener of this.#listeners) listener()
  }
}
