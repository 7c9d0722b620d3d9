import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Says at the end of a run what was skipped and why, which vitest's own reporters do not for whole files. */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')])
    if (skipped.length > 0) process.stdout.write(`${renderSkipped(skipped.map(skippedTest))}\n`)
  }
}

export interface SkippedTest {
  readonly file: string
  /** The names of what it is in, and its own. */
  readonly path: readonly string[]
  /** What it said when it skipped itself. One that is skipped from outside has the reason in a name of its path. */
  readonly note: string | undefined
}

/** One line for each test, for all of a group that is skipped as a whole, and for those of a file that say no reason, e.g. as `-t` left them out. */
export function renderSkipped(tests: readonly SkippedTest[]): string {
  const counts = new Map<string, number>()
  for (const test of tests) {
    const line = `  ${test.file}: ${reasonOf(test)}`
    counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  const lines = [...counts].map(([line, count]) => (count === 1 ? line : `${line}, ${count} tests`))
  return [`skipped: ${tests.length}`, ...lines].join('\n')
}

function reasonOf({ path, note }: SkippedTest): string {
  if (note !== undefined) return `${path.join(' › ')} (skipped: ${note})`
  const group = path.findIndex((name) => name.includes('(skipped: '))
  return group === -1 ? 'no reason said' : path.slice(0, group + 1).join(' › ')
}

function skippedTest(test: TestCase): SkippedTest {
  const result = test.result()
  const path = [test.name]
  for (let { parent } = test; parent.type === 'suite'; parent = parent.parent) path.unshift(parent.name)
  return {
    file: test.module.relativeModuleId,
    path,
    note: result.state === 'skipped' ? result.note : undefined,
  }
}
