/** Lets one task at a time work on a key, in the order in which they came; other keys do not wait. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>()
  readonly #onIdle: (key: string) => void

  /** `onIdle` is told of each key that nobody works on any more. */
  constructor(onIdle: (key: string) => void = () => undefined) {
    this.#onIdle = onIdle
  }

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const mine = before.then(task, task)
    this.#tails.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#tails.get(key) === mine) {
        this.#tails.delete(key)
        this.#onIdle(key)
      }
    }
  }

  has(key: string): boolean {
    return this.#tails.has(key)
  }
}
