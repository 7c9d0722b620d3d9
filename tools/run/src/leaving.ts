import { watchUplink } from '@kube-ovn/lab'
import type { TestOutcome } from './vitest.ts'

/** Runs tests, and counts as a failure when a packet of theirs left the machine meanwhile, or was about to. */
export async function watchLeaving(run: () => Promise<TestOutcome>): Promise<readonly TestOutcome[]> {
  const watch = await watchUplink()
  let outcome: TestOutcome
  try {
    outcome = await run()
  } catch (error) {
    await watch.stop()
    throw error
  }
  return [outcome, leavingOutcome(await watch.stop())]
}

/** What the packets that a watch has noted are among the outcomes of tests. */
export function leavingOutcome(packets: readonly string[]): TestOutcome {
  const isQuiet = packets.length === 0
  const failure = ['  packets left the machine', ...packets.map((packet) => `    ${packet}`)].join('\n')
  return {
    counts: { passed: 0, failed: isQuiet ? 0 : 1, skipped: 0 },
    failures: isQuiet ? [] : [failure],
  }
}
