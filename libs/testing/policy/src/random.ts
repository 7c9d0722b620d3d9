/** Draws that are the same each time for one seed. */
export class Random {
  #state: number

  constructor(seed: number) {
    // Seeds that follow each other are not to begin alike.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  /** From 0 to below 1 (mulberry32). */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  chance(probability: number): boolean {
    return this.#next() < probability
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1))
  }

  /** One of them. */
  of<T>(...choices: readonly [T, ...T[]]): T {
    return choices[this.between(0, choices.length - 1)] ?? choices[0]
  }

  /** One of them, or nothing where there is none. */
  among<T>(choices: readonly T[]): T | undefined {
    return choices[this.between(0, choices.length - 1)]
  }

  /** As many as a draw says. */
  some<T>(least: number, most: number, draw: (index: number) => T): readonly T[] {
    return Array.from({ length: this.between(least, most) }, (_, index) => draw(index))
  }

  /** An object with those entries that come out. */
  maybe<T extends object>(probability: number, draw: () => T): T | object {
    return this.chance(probability) ? draw() : {}
  }
}
