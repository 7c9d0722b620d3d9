import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite } from 'vitest/node'

/** What failed and why: a test, a hook of a group or of a file, a file that could not be loaded, or something that nobody caught. */
export interface Failure {
  readonly what: string
  readonly why: string
}

/** Names the file that a run's failures are written to. */
export const failuresVariable = 'KUBE_OVN_TEST_FAILURES'

/**
 * Writes down what failed, with what errors say in their details. vitest's JSON report keeps no error of a hook, and of
 * those of tests the stack alone.
 */
export default class FailureReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const path = process.env[failuresVariable]
    if (path === undefined) return
    const failures = [
      ...modules.flatMap(failuresOf),
      ...unhandled.map((error) => ({ what: 'an error that nobody caught', why: explain(error) })),
    ]
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(failures))
  }
}

function failuresOf(module: TestModule): Failure[] {
  const named = (one: TestSuite | TestCase): string => `${module.relativeModuleId}: ${one.fullName}`
  return [
    ...module.errors().map((error) => ({ what: module.relativeModuleId, why: explain(error) })),
    ...[...module.children.allSuites()].flatMap((suite) =>
      suite.errors().map((error) => ({ what: `${named(suite)} (a hook)`, why: explain(error) })),
    ),
    ...[...module.children.allTests('failed')].map((test) => ({
      what: named(test),
      why: (test.result().errors ?? []).map(explain).join('\n'),
    })),
  ]
}

/** An error in full: its sentence and details, what was expected, where it was thrown, and what caused it. */
function explain(error: SerializedError): string {
  const { name = 'Error', message, stack = '', diff, cause } = error
  const details: unknown = error['details']
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line) && !isOfPackage(line))
  return [
    // The reporter before this one has written that into the name.
    `${name.replace(/^Caused by: /, '')}: ${message}`,
    ...(details === undefined ? [] : [JSON.stringify(details).slice(0, longestDetails)]),
    ...(typeof diff === 'string' ? [diff] : []),
    ...frames,
    ...(cause === undefined ? [] : [`caused by ${explain(cause)}`]),
  ].join('\n')
}

const longestDetails = 2000

function isOfPackage(frame: string): boolean {
  return frame.includes('/node_modules/') || frame.includes('node:internal')
}
