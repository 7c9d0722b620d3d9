import type { Logger } from '@kube-ovn/log'
import type { PingerMetrics, TriedPort } from '@kube-ovn/telemetry'
import { checkOf, describeOutcome, isGood, type Outcome } from './outcome.ts'
import type { Targets } from './targets.ts'

/** Subjects that a line of the log names; it counts the others. */
const namedInLog = 5

/** Shows rounds in the metrics, and in the log when a check begins to fail or is well again: one line for each. */
export class Record {
  readonly #metrics: PingerMetrics
  readonly #log: Logger
  readonly #failing = new Set<string>()

  constructor(metrics: PingerMetrics, log: Logger) {
    this.#metrics = metrics
    this.#log = log
  }

  take(outcomes: readonly Outcome[], targets: Targets): void {
    const ports: TriedPort[] = []
    for (const outcome of outcomes) {
      if (outcome.kind === 'health' && outcome.metric !== undefined)
        this.#metrics.health(outcome.metric, outcome.isGood, outcome.tookMs)
      if (outcome.kind === 'ping') this.#metrics.pinged(outcome.target, outcome.sent, outcome.roundTripMs)
      if (outcome.kind === 'bindings') this.#metrics.inconsistentBindings(outcome.missing?.length)
      if (outcome.kind === 'port') {
        const { check, address: target, protocol, port } = outcome.target
        ports.push({ check, target, protocol, port, tookMs: outcome.tookMs })
      }
    }
    this.#metrics.keepPinged(targets.pings)
    this.#metrics.ports(ports)
    const byCheck = Map.groupBy(outcomes, checkOf)
    this.#metrics.checked(new Map([...byCheck].map(([check, all]) => [check, all.every(isGood)])))
    this.#tell(byCheck)
  }

  #tell(byCheck: ReadonlyMap<string, readonly Outcome[]>): void {
    for (const [check, outcomes] of byCheck) {
      const bad = outcomes.filter((outcome) => !isGood(outcome))
      if (bad.length > 0 && !this.#failing.has(check)) {
        const first = bad.slice(0, namedInLog).map(describeOutcome)
        const failed = first.map(({ subject, result }) => `${subject}: ${result}`)
        this.#log.warn('check failed', { check, failed, count: bad.length, of: outcomes.length })
        this.#failing.add(check)
      } else if (bad.length === 0 && this.#failing.delete(check))
        this.#log.info('check is well again', { check })
    }
    for (const check of this.#failing) {
      if (byCheck.has(check)) continue
      this.#failing.delete(check)
      this.#log.info('check is well again', { check })
    }
  }
}
