import { parseOwnerMark, type ProblemLog } from '@kube-ovn/reconcile/work'
import type { FragmentMetrics } from '@kube-ovn/telemetry'
import type { Owner } from './sink.ts'

/** Tells, once for as long as it is so, which fragments are not used and why: in the log, as a metric, and whoever wants to hear. */
export class Refusals {
  readonly #problems: ProblemLog
  readonly #metrics: FragmentMetrics
  readonly #tell: (feature: string, problem: Error) => void
  /** By sink and owner: where the fragment is refused. */
  readonly #refused = new Map<string, Map<Owner, Set<string>>>()

  constructor(
    problems: ProblemLog,
    metrics: FragmentMetrics,
    tell: (feature: string, problem: Error) => void,
  ) {
    this.#problems = problems
    this.#metrics = metrics
    this.#tell = tell
  }

  /** A fragment was refused, or is not any more. `target` is absent when it is of no use whatever the node is like. */
  judge(sink: string, owner: Owner, problem: Error | undefined, target = ''): void {
    const owners = this.#refused.get(sink) ?? new Map<Owner, Set<string>>()
    this.#refused.set(sink, owners)
    const targets = owners.get(owner) ?? new Set<string>()
    const mark = target === '' ? owner : `${owner} (${sink} ${target})`
    if (problem === undefined && !targets.has(target)) return
    if (problem === undefined) {
      targets.delete(target)
      this.#problems.clear(mark)
    } else {
      targets.add(target)
      if (this.#problems.report(mark, problem, { attempt: 1 })) this.#tell(featureOf(owner), problem)
    }
    if (targets.size === 0) owners.delete(owner)
    else owners.set(owner, targets)
    const feature = featureOf(owner)
    const count = [...owners.keys()].filter((one) => featureOf(one) === feature).length
    this.#metrics.refused(feature, sink, count)
  }
}

function featureOf(owner: Owner): string {
  return parseOwnerMark(owner)?.feature ?? ''
}
