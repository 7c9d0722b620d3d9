import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The checkout. */
export const repository = resolve(import.meta.dirname, '../../..')

export type ProjectName = 'unit' | 'integration' | 'e2e'

export interface TestCounts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** The part of vitest's JSON report that is read here. */
interface JsonReport {
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

/**
 * Runs one vitest project with its output passed through, and returns what it counted.
 *
 * A file that failed without a failed test in it (it could not be loaded, or a hook failed) counts as one failure, and so does a
 * run that ended badly although no test did (an unhandled rejection).
 */
export async function runProject(project: ProjectName, filters: readonly string[]): Promise<TestCounts> {
  const report = join(repository, 'test-results', `${project}.json`)
  mkdirSync(dirname(report), { recursive: true })
  rmSync(report, { force: true })
  const reporters = ['default', 'json', join(import.meta.dirname, 'skip-reporter.ts')]
  const options = [
    '--project',
    project,
    '--passWithNoTests',
    ...reporters.map((name) => `--reporter=${name}`),
  ]
  const exitCode = await runVitest([...options, `--outputFile.json=${report}`, ...filters])
  const counts = countTests(readReport(report))
  return exitCode !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

/** Adds up counts of several projects. */
export function addCounts(all: readonly TestCounts[]): TestCounts {
  return all.reduce(
    (sum, counts) => ({
      passed: sum.passed + counts.passed,
      failed: sum.failed + counts.failed,
      skipped: sum.skipped + counts.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  )
}

/** The line that every run of tests ends with. */
export function renderCounts(counts: TestCounts): string {
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

function readReport(path: string): JsonReport {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as JsonReport
  } catch {
    return { testResults: [] }
  }
}

function runVitest(args: readonly string[]): Promise<number> {
  const child = spawn(
    process.execPath,
    [join(repository, 'node_modules/vitest/vitest.mjs'), 'run', ...args],
    {
      cwd: repository,
      stdio: 'inherit',
    },
  )
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
