import type { Logger } from '@kube-ovn/log'
import type { AddressAuditMetrics } from '@kube-ovn/telemetry'
import type { Clock } from '@kube-ovn/time'
import { findingKey, findingRules, type Finding } from './finding.ts'

export interface AddressAuditOptions {
  /** Begins an audit, to be done step by step. */
  readonly steps: () => Iterator<void, readonly Finding[], undefined>
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: AddressAuditMetrics
  /** From the end of one audit to the beginning of the next. */
  readonly intervalMs: number
}

/** How long the event loop may be kept from other work; a step that takes longer ends the slice. */
const sliceMs = 5

/** Rest after a slice, so that an audit takes a fifth of one core at most. */
const restMs = 20

/** Lines of one audit about what appeared. */
const mostLines = 50

/**
 * Audits all addresses again and again, a slice at a time.
 *
 * A finding stands once two audits in a row had it: then it is logged and counted, until an audit has it no more.
 * What is under way at the moment of an audit is done by the next one.
 */
export class AddressAudit implements Disposable {
  readonly #options: AddressAuditOptions
  #timer: Disposable | undefined
  #before: ReadonlyMap<string, Finding> = new Map()
  #standing: ReadonlyMap<string, Finding> = new Map()

  constructor(options: AddressAuditOptions) {
    this.#options = options
  }

  start(): void {
    this.#rest(this.#options.intervalMs, () => this.#begin())
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#options.metrics.ended()
  }

  #rest(delayMs: number, then: () => void): void {
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      try {
        then()
      } catch (error) {
        // A defect in the audit must not end the controller, nor the audits to come.
        this.#options.log.error('address audit failed', { err: error })
        this.#options.metrics.failed()
        this.start()
      }
    })
  }

  #begin(): void {
    this.#slice({ steps: this.#options.steps(), workMs: 0, longestSliceMs: 0 })
  }

  #slice(audit: RunningAudit): void {
    const { clock } = this.#options
    const startedMs = clock.monotonic()
    let found: readonly Finding[] | undefined
    let tookMs = 0
    while (found === undefined && tookMs < sliceMs) {
      const step = audit.steps.next()
      if (step.done === true) found = step.value
      tookMs = clock.monotonic() - startedMs
    }
    const workMs = audit.workMs + tookMs
    const longestSliceMs = Math.max(audit.longestSliceMs, tookMs)
    if (found === undefined) this.#rest(restMs, () => this.#slice({ ...audit, workMs, longestSliceMs }))
    else this.#end(found, workMs, longestSliceMs)
  }

  #end(found: readonly Finding[], workMs: number, longestSliceMs: number): void {
    const { clock, metrics } = this.#options
    const now = new Map(found.map((finding) => [findingKey(finding), finding]))
    const standing = new Map([...now].filter(([key]) => this.#before.has(key)))
    this.#tell(standing)
    this.#before = now
    this.#standing = standing
    metrics.audited({ standing: countByRule(standing), workMs, longestSliceMs, endedAtMs: clock.now() })
    this.start()
  }

  #tell(standing: ReadonlyMap<string, Finding>): void {
    const { log } = this.#options
    const appeared = [...standing].filter(([key]) => !this.#standing.has(key)).map(([, finding]) => finding)
    for (const finding of appeared.slice(0, mostLines))
      log.error('address finding appeared', fieldsOf(finding))
    if (appeared.length > mostLines)
      log.error('more address findings appeared', { count: appeared.length - mostLines })
    const gone = [...this.#standing].filter(([key]) => !standing.has(key)).map(([, finding]) => finding)
    for (const finding of gone.slice(0, mostLines)) log.info('address finding gone', fieldsOf(finding))
    if (gone.length > mostLines) log.info('more address findings gone', { count: gone.length - mostLines })
  }
}

interface RunningAudit {
  readonly steps: Iterator<void, readonly Finding[], undefined>
  readonly workMs: number
  readonly longestSliceMs: number
}

function countByRule(findings: ReadonlyMap<string, Finding>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>(findingRules.map((rule) => [rule, 0]))
  for (const { rule } of findings.values()) counts.set(rule, (counts.get(rule) ?? 0) + 1)
  return counts
}

function fieldsOf({ rule, subnet, name, source, value, owners, cure }: Finding) {
  return { rule, subnet, name, source, value, owners, cure }
}
