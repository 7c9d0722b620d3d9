import { isPassed, renderOutcomes, runProject, type ProjectName, type TestOutcome } from './vitest.ts'
import { runUnitTests } from './unit-tests.ts'

/** One after the other: a cluster and its pods want the whole machine, and cheap tests should fail first. */
const projects: readonly ProjectName[] = ['unit', 'integration', 'e2e']

const filters = process.argv.slice(2)
const all: TestOutcome[] = []
for (const project of projects) {
  process.stdout.write(`\n── ${project} tests\n`)
  const isWhole = project === 'unit' && filters.length === 0
  all.push(...(isWhole ? await runUnitTests() : [await runProject(project, filters)]))
}
process.exitCode = isPassed(all) ? 0 : 1
process.stdout.write(`${renderOutcomes(all)}\n`)
