import { globSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runNx } from './nx.ts'
import { outcomeIn, repository, type TestOutcome } from './vitest.ts'

const results = join(repository, 'test-results/unit')

/** Runs the unit tests of each package whose files, or whose dependencies', have changed since they last passed. */
export async function runUnitTests(): Promise<readonly TestOutcome[]> {
  // Those of packages that are gone are not to be counted.
  rmSync(results, { recursive: true, force: true })
  const exitCode = await runNx(['run-many', '--targets=unit'])
  const outcomes = globSync('**/report.json', { cwd: results })
    .sort()
    .map((report) => outcomeIn(join(results, dirname(report))))
  if (exitCode === 0 || outcomes.some(({ counts }) => counts.failed > 0)) return outcomes
  const why = `  unit tests: no test failed, but nx ended with ${exitCode}; see its output`
  return [...outcomes, { counts: { passed: 0, failed: 1, skipped: 0 }, failures: [why] }]
}
