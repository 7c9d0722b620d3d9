import { systemClock } from '@kube-ovn/process'
import { replayCase } from '@kube-ovn/testing-golden'
import type { DeclaredDifference, GoldenCase, StepResult } from '@kube-ovn/testing-golden'
import { startController } from './controller-process.ts'
import { groupByProfile, startStage } from './stage.ts'

/** How long nothing must have changed before a snapshot is taken. */
export const settleMs = 2000

export interface PlayedCase {
  readonly golden: GoldenCase
  readonly results: readonly StepResult[]
  /** What the controller tried and the chart gives it no right to. */
  readonly missingRights: readonly string[]
  readonly ms: number
}

/** Plays cases one after the other, each on an emptied cluster with a controller of its own. */
export async function* playCases(
  cases: readonly GoldenCase[],
  repository: string,
  declared: readonly DeclaredDifference[],
  logs: string,
): AsyncGenerator<PlayedCase> {
  for (const [profile, group] of groupByProfile(cases)) {
    await using stage = await startStage(profile)
    for (const golden of group) {
      const startedMs = systemClock.monotonic()
      await stage.reset()
      await using _controller = await startController(repository, stage, golden, logs)
      const results = await replayCase(golden, {
        client: stage.kube.client,
        northboundAddress: stage.northbound.address,
        clock: systemClock,
        declared,
        settleMs,
      })
      const missingRights = await stage.kube.missingRights()
      yield { golden, results, missingRights, ms: systemClock.monotonic() - startedMs }
    }
  }
}
