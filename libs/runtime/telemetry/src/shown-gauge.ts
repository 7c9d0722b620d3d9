import { Gauge, type GaugeConfiguration } from 'prom-client'
import { labelsText, type WrittenFamily } from './page.ts'

/** A series of a gauge: its labels and its value. */
export type Series = readonly [labels: Readonly<Record<string, string>>, value: number]

/**
 * A gauge whose series are asked for when somebody looks, all at once.
 *
 * What is gone is not among them, so nothing has to be removed; and nobody sees them half written. It costs no hash of labels for each series, of
 * which there may be tens of thousands.
 */
export class ShownGauge extends Gauge {
  readonly #show: () => Iterable<Series>

  constructor(configuration: GaugeConfiguration<string>, show: () => Iterable<Series>) {
    super(configuration)
    this.#show = show
  }

  override async get(): ReturnType<Gauge['get']> {
    const values = [...this.#values()]
    return { ...(await super.get()), values }
  }

  /** What prom-client asks for when it writes text: so no series is kept that is written already. */
  async getForPromString(): Promise<object> {
    const values = this.#values()
    return { ...(await super.get()), values }
  }

  #values(): Iterable<{ readonly labels: Series[0]; readonly value: number }> {
    return Iterator.from(this.#show()).map(([labels, value]) => ({ labels, value }))
  }
}

/** One of so many series that it writes their lines itself, from what is there while the page is taken. */
export class WrittenGauge extends ShownGauge implements WrittenFamily {
  readonly #name: string
  readonly #show: () => Iterable<Series>

  constructor(configuration: GaugeConfiguration<string>, show: () => Iterable<Series>) {
    super(configuration, show)
    this.#name = configuration.name
    this.#show = show
  }

  *lines(): Generator<string> {
    for (const [labels, value] of this.#show()) yield `${this.#name}{${labelsText(labels)}} ${value}\n`
  }
}

/** Reads once for all that ask in one turn, as the metrics of a scrape do. */
export function oncePerTurn<T>(read: () => T): () => T {
  let last: { readonly value: T } | undefined
  return () => {
    if (last !== undefined) return last.value
    last = { value: read() }
    queueMicrotask(() => (last = undefined))
    return last.value
  }
}
