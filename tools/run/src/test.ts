import { isPassed, renderOutcomes, runProject, type ProjectName, type TestOutcome } from './vitest.ts'

/** One after the other: a cluster and its pods want the whole machine, and cheap tests should fail first. */
const projects: readonly ProjectName[] = ['unit', 'integration', 'e2e']

const all: TestOutcome[] = []
for (const project of projects) {
  process.stdout.write(`\n── ${project} tests\n`)
  all.push(await runProject(project, process.argv.slice(2)))
}
process.exitCode = isPassed(all) ? 0 : 1
process.stdout.write(`${renderOutcomes(all)}\n`)
