import { Counter, Histogram, type CounterConfiguration, type Registry } from 'prom-client'
import { labelsText, type WrittenFamily } from './page.ts'

type Labels = Readonly<Record<string, string>>

/** What is measured of one target. */
interface Pinged {
  readonly labels: Labels
  /** The labels as they are on a page: written once, and not for each of a dozen series of each page. */
  readonly text: string
  /** How many rounds took so long, for each bucket and above. */
  readonly rounds: number[]
  sumMs: number
  answered: number
  lost: number
  sent: number
}

export interface PingFamiliesOptions {
  readonly registry: Registry
  /** The beginning of the names. */
  readonly name: string
  readonly labelNames: readonly string[]
  /** Upper bounds, in ms, ascending. */
  readonly bucketsMs: readonly number[]
}

/**
 * Latency, packets and lost packets of many targets, of which each has a dozen series.
 *
 * They are kept as numbers and written when somebody looks: as metrics of their own they took twenty times the memory of their page.
 */
export class PingFamilies {
  readonly #targets = new Map<string, Pinged>()
  readonly #bucketsMs: readonly number[]

  constructor({ registry, name, labelNames, bucketsMs }: PingFamiliesOptions) {
    this.#bucketsMs = bucketsMs
    const common = { labelNames, registers: [registry] }
    new PingHistogram(
      {
        ...common,
        name: `${name}_ping_latency_ms`,
        help: 'Average round trip of a round.',
        buckets: [...bucketsMs],
      },
      () => this.#targets.values(),
    )
    new PingCounter(
      { ...common, name: `${name}_ping_lost_total`, help: 'Packets without an answer.' },
      () => this.#targets.values(),
      ({ lost }) => lost,
    )
    new PingCounter(
      { ...common, name: `${name}_ping_count_total`, help: 'Packets sent.' },
      () => this.#targets.values(),
      ({ sent }) => sent,
    )
  }

  pinged(labels: Labels, sent: number, roundTripMs: readonly number[]): void {
    const text = labelsText(labels)
    const target = this.#targets.get(text) ?? this.#begin(labels, text)
    target.sent += sent
    target.lost += sent - roundTripMs.length
    // Upstream observes 0 when all is lost, which makes a dead target look fast.
    if (roundTripMs.length === 0) return
    const averageMs = roundTripMs.reduce((sum, one) => sum + one, 0) / roundTripMs.length
    target.answered++
    target.sumMs += averageMs
    const bucket = this.#bucketsMs.findIndex((bound) => averageMs <= bound)
    if (bucket >= 0) target.rounds[bucket] = (target.rounds[bucket] ?? 0) + 1
  }

  /** Forgets who is not asked any more. */
  keep(all: readonly Labels[]): void {
    const kept = new Set(all.map(labelsText))
    for (const text of this.#targets.keys()) if (!kept.has(text)) this.#targets.delete(text)
  }

  #begin(labels: Labels, text: string): Pinged {
    const rounds = this.#bucketsMs.map(() => 0)
    const target = { labels, text, rounds, sumMs: 0, answered: 0, lost: 0, sent: 0 }
    this.#targets.set(text, target)
    return target
  }
}

class PingHistogram extends Histogram implements WrittenFamily {
  readonly #targets: () => Iterable<Pinged>
  readonly #name: string
  readonly #bucketsMs: readonly number[]

  constructor(
    configuration: ConstructorParameters<typeof Histogram>[0] & { readonly buckets: number[] },
    targets: () => Iterable<Pinged>,
  ) {
    super(configuration)
    this.#targets = targets
    this.#name = configuration.name
    this.#bucketsMs = configuration.buckets
  }

  *lines(): Generator<string> {
    for (const { text, rounds, sumMs, answered } of this.#targets()) {
      // What never answered has no latency.
      if (answered === 0) continue
      let lines = ''
      let below = 0
      for (const [index, bound] of this.#bucketsMs.entries()) {
        below += rounds[index] ?? 0
        lines += `${this.#name}_bucket{le="${bound}",${text}} ${below}\n`
      }
      lines += `${this.#name}_bucket{le="+Inf",${text}} ${answered}\n`
      yield `${lines}${this.#name}_sum{${text}} ${sumMs}\n${this.#name}_count{${text}} ${answered}\n`
    }
  }

  /** What prom-client asks for, for text and for JSON. */
  async getForPromString(): Promise<object> {
    const { name, help, type, aggregator } = this as unknown as Readonly<Record<string, string>>
    return { name, help, type, aggregator, values: [...this.#values()] }
  }

  *#values() {
    for (const { labels: sharedLabels, rounds, sumMs, answered } of this.#targets()) {
      if (answered === 0) continue
      const common = { metricName: `${this.#name}_bucket`, sharedLabels }
      let below = 0
      for (const [index, le] of this.#bucketsMs.entries()) {
        below += rounds[index] ?? 0
        yield { ...common, labels: { le }, value: below }
      }
      yield { ...common, labels: { le: '+Inf' }, value: answered }
      yield { ...common, metricName: `${this.#name}_sum`, labels: {}, value: sumMs }
      yield { ...common, metricName: `${this.#name}_count`, labels: {}, value: answered }
    }
  }
}

class PingCounter extends Counter implements WrittenFamily {
  readonly #targets: () => Iterable<Pinged>
  readonly #valueOf: (target: Pinged) => number
  readonly #name: string

  constructor(
    configuration: CounterConfiguration<string>,
    targets: () => Iterable<Pinged>,
    valueOf: (target: Pinged) => number,
  ) {
    super(configuration)
    this.#targets = targets
    this.#valueOf = valueOf
    this.#name = configuration.name
  }

  *lines(): Generator<string> {
    for (const target of this.#targets()) yield `${this.#name}{${target.text}} ${this.#valueOf(target)}\n`
  }

  override async get(): ReturnType<Counter['get']> {
    const values = [...this.#targets()].map((target) => ({
      labels: target.labels,
      value: this.#valueOf(target),
    }))
    return { ...(await super.get()), values }
  }
}
