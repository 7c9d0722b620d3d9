import { isPassed, renderOutcomes, runProject, type ProjectName, type TestOutcome } from './vitest.ts'
import { runUnitTests } from './unit-tests.ts'
import { watchLeaving } from './leaving.ts'

/** One after the other: a cluster and its pods want the whole machine, and cheap tests should fail first. */
const projects: readonly ProjectName[] = ['unit', 'integration', 'e2e']

const filters = process.argv.slice(2)
const all: TestOutcome[] = []
for (const project of projects) {
  process.stdout.write(`\n── ${project} tests\n`)
  all.push(...(await runTests(project)))
}
process.exitCode = isPassed(all) ? 0 : 1
process.stdout.write(`${renderOutcomes(all)}\n`)

async function runTests(project: ProjectName): Promise<readonly TestOutcome[]> {
  if (project === 'unit' && filters.length === 0) return runUnitTests()
  // Tests on a cluster watch for themselves, also when they run alone.
  if (project !== 'integration') return [await runProject(project, filters)]
  return watchLeaving(() => runProject(project, filters))
}
