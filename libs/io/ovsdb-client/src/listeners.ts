/** Functions to be called when something happens. */
export class Listeners<A> {
  readonly #listeners = new Set<(argument: A) => void>()

  add(listener: (argument: A) => void): Disposable {
    // Wrapped, so that adding a function twice and disposing once leaves one.
    const entry = (argument: A): void => listener(argument)
    this.#listeners.add(entry)
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) }
  }

  /**
   * Calls every listener.
   *
   * One that throws neither keeps the others from hearing nor harms the caller: its exception goes uncaught.
   */
  emit(argument: A): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(argument)
      } catch (error) {
        process.nextTick(() => {
          throw error
        })
      }
    }
  }
}
