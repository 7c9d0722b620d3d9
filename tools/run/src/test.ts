import { addCounts, renderCounts, runProject, type ProjectName, type TestCounts } from './vitest.ts'

/** One after the other: a cluster and its pods want the whole machine, and cheap tests should fail first. */
const projects: readonly ProjectName[] = ['unit', 'integration', 'e2e']

const all: TestCounts[] = []
for (const project of projects) {
  process.stdout.write(`\n── ${project} tests\n`)
  all.push(await runProject(project, process.argv.slice(2)))
}
const counts = addCounts(all)
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
process.stdout.write(`${renderCounts(counts)}\n`)
