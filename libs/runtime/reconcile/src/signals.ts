/**
 * Carries "something changed that is neither an object nor a row" from where it happens to whom it concerns.
 *
 * It is made before the world and the kernel, so that parts of the world can raise signals.
 */
export class Signals {
  readonly #listeners = new Set<(signal: string, subject: string) => void>()

  raise(signal: string, subject: string): void {
    for (const listener of this.#listeners) listener(signal, subject)
  }

  onRaise(listener: (signal: string, subject: string) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}
