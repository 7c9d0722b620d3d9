type Bound = number | bigint

/** First and last value of something that is in order. */
export type Span = readonly [first: Bound, last: Bound]

/** Meets every other one. */
export const everything: Span = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]

/** Which of some spans have a value in common with another one: a bit for each, the first span's the lowest. */
export class SpanIndex {
  readonly #begun: Steps
  readonly #ended: Steps

  constructor(spans: readonly Span[]) {
    this.#begun = new Steps(spans.map(([first]) => first))
    this.#ended = new Steps(spans.map(([, last]) => last))
  }

  /** Those that begin before it ends, but for those of them that end before it begins. */
  meeting([first, last]: Span): bigint {
    return this.#begun.upTo((value) => value <= last) ^ this.#ended.upTo((value) => value < first)
  }
}

/** Values in their order; with each the places of it and of those before it, as bits. */
class Steps {
  readonly #values: readonly Bound[]
  readonly #bits: readonly bigint[]

  constructor(values: readonly Bound[]) {
    const places = [...values.keys()].sort((one, other) => compare(values[one], values[other]))
    this.#values = places.flatMap((place) => values[place] ?? [])
    let bits = 0n
    this.#bits = [0n, ...places.map((place) => (bits |= 1n << BigInt(place)))]
  }

  /** The places of those that it holds for: of some values, and of all that are lower than one of these. */
  upTo(holds: (value: Bound) => boolean): bigint {
    let [from, to] = [0, this.#values.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      const value = this.#values[middle]
      if (value !== undefined && holds(value)) from = middle + 1
      else to = middle
    }
    return this.#bits[from] ?? 0n
  }
}

function compare(one: Bound = 0, other: Bound = 0): number {
  return one < other ? -1 : one > other ? 1 : 0
}
