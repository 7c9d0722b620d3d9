import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { failuresVariable, type Failure } from './failure-reporter.ts'

/** The checkout. */
export const repository = resolve(import.meta.dirname, '../../..')

export type ProjectName = 'unit' | 'integration' | 'e2e'

export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export interface TestOutcome {
  readonly counts: TestCounts
  /** What failed and the beginning of why, one text of some lines for each. */
  readonly failures: readonly string[]
}

/** The part of vitest's JSON report that is read here. */
interface JsonReport {
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

const shownLines = 16

/**
 * Runs one vitest project with its output passed through, and returns what it counted and what failed.
 *
 * A file that failed without a failed test in it (it could not be loaded, or a hook failed) counts as one failure, and so does a
 * run that ended badly although no test did (an unhandled rejection).
 *
 * @param results folder below `test-results` that is made anew for its reports
 */
export async function runProject(
  project: ProjectName,
  filters: readonly string[],
  results: string = project,
): Promise<TestOutcome> {
  const directory = join(repository, 'test-results', results)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  const { report, failures } = filesIn(directory)
  const own = ['skip-reporter.ts', 'failure-reporter.ts'].map((name) => join(import.meta.dirname, name))
  const reporters = ['default', 'json', ...own]
  const options = [
    '--project',
    project,
    '--passWithNoTests',
    ...reporters.map((name) => `--reporter=${name}`),
  ]
  const exitCode = await runVitest([...options, `--outputFile.json=${report}`, ...filters], {
    [failuresVariable]: failures,
  })
  const outcome = outcomeIn(directory)
  if (exitCode === 0 || outcome.counts.failed > 0) return outcome
  const ending = `  ${project} tests: no test failed, but the run ended with ${exitCode}; see its output`
  return {
    counts: { ...outcome.counts, failed: 1 },
    failures: outcome.failures.length > 0 ? outcome.failures : [ending],
  }
}

/** Reads what a run left in the folder of its results. */
export function outcomeIn(directory: string): TestOutcome {
  const { report, failures } = filesIn(directory)
  return {
    counts: countTests(read<JsonReport>(report) ?? { testResults: [] }),
    failures: (read<readonly Failure[]>(failures) ?? []).map(describeFailure),
  }
}

function filesIn(directory: string): { readonly report: string; readonly failures: string } {
  return { report: join(directory, 'report.json'), failures: join(directory, 'failures.json') }
}

function addCounts(all: readonly TestCounts[]): TestCounts {
  return all.reduce(
    (sum, counts) => ({
      passed: sum.passed + counts.passed,
      failed: sum.failed + counts.failed,
      skipped: sum.skipped + counts.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  )
}

/** What failed, and the line that every run of tests ends with: who reads a long log begins at its end. */
export function renderOutcomes(all: readonly TestOutcome[]): string {
  const failures = all.flatMap((outcome) => outcome.failures)
  const counts = renderCounts(addCounts(all.map((outcome) => outcome.counts)))
  return failures.length === 0 ? counts : ['failed:', ...failures, counts].join('\n')
}

/** Whether tests ran and none failed. */
export function isPassed(all: readonly TestOutcome[]): boolean {
  const counts = addCounts(all.map((outcome) => outcome.counts))
  return counts.failed === 0 && counts.passed > 0
}

function renderCounts(counts: TestCounts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`
}

/** Counts the tests of a report. */
export function countTests(report: JsonReport): TestCounts {
  return addCounts(
    report.testResults.map((file) => {
      const statuses = file.assertionResults.map((test) => test.status)
      const failed = statuses.filter((status) => status === 'failed').length
      const passed = statuses.filter((status) => status === 'passed').length
      return {
        passed,
        failed: failed === 0 && file.status === 'failed' ? 1 : failed,
        skipped: statuses.length - passed - failed,
      }
    }),
  )
}

/** Names what failed, with the beginning of why. */
export function describeFailure({ what, why }: Failure): string {
  const lines = stripVTControlCharacters(why)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const rest = lines.length - shownLines
  const shown = lines.slice(0, shownLines).map((line) => `    ${line}`)
  return [`  ${what}`, ...shown, ...(rest > 0 ? [`    (${rest} lines more above)`] : [])].join('\n')
}

/** Reads a report; there is none when the run did not get as far. */
function read<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T
  } catch {
    return undefined
  }
}

function runVitest(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(
    process.execPath,
    [join(repository, 'node_modules/vitest/vitest.mjs'), 'run', ...args],
    {
      cwd: repository,
      env: { ...process.env, ...env },
      stdio: 'inherit',
    },
  )
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
