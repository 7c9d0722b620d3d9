import type { KernelGauges, QueueMetrics } from '@kube-ovn/telemetry'
import { featureOf, type OwnerMark } from './marks.ts'
import type { QueueObserver, WorkQueue } from './queue.ts'

/** Counts what a queue does, by feature. */
export function queueObserver(metrics: QueueMetrics): QueueObserver<OwnerMark> {
  return {
    added: (owner) => metrics.added(featureOf(owner)),
    taken: (owner, waitedMs) => metrics.taken(featureOf(owner), waitedMs),
    finished: (owner, workedMs) => metrics.finished(featureOf(owner), workedMs),
  }
}

/** Shows the state of a queue at a scrape. A feature without keys is shown with none. */
export function queueGauges(
  queue: WorkQueue<OwnerMark>,
  features: readonly string[],
  concurrency: number,
): KernelGauges {
  return {
    concurrency,
    depth() {
      const depths = new Map(features.map((name) => [name, 0]))
      for (const owner of queue.waiting())
        depths.set(featureOf(owner), (depths.get(featureOf(owner)) ?? 0) + 1)
      return depths
    },
    working() {
      const seconds = new Map<string, number[]>(features.map((name) => [name, []]))
      for (const [owner, workedMs] of queue.working()) seconds.get(featureOf(owner))?.push(workedMs / 1000)
      return seconds
    },
  }
}
