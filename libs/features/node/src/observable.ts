/** A value that tells when it becomes another one. */
export class Observable<T> {
  readonly #listeners = new Set<() => void>()
  #value: T

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of [...this.#listeners]) listener()
  }

  onChange(listener: () => void): Disposable {
    // Wrapped, so that the same function may listen twice.
    const entry = (): void => listener()
    this.#listeners.add(entry)
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) }
  }
}
