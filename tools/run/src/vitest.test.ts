import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { countTests, describeFailures, renderOutcomes, repository } from './vitest.ts'

const passed = { status: 'passed', fullName: 'lanes run' }
const failed = {
  status: 'failed',
  fullName: 'lanes stop',
  failureMessages: [
    '\u001b[31mAssertionError: 1 is not 2\u001b[39m\n    at lanes.ts:7\n    at /a/node_modules/b.js:1\n',
  ],
}

function file(
  tests: readonly { status: string; fullName: string; failureMessages?: readonly string[] }[],
  status = 'passed',
  message = '',
) {
  return { name: join(repository, 'libs/lanes.test.ts'), status, message, assertionResults: tests }
}

describe('countTests', () => {
  it('counts a file that could not be loaded as one failure', () => {
    const report = { testResults: [file([], 'failed')] }
    expect(countTests(report)).toEqual({ passed: 0, failed: 1, skipped: 0 })
  })

  it('counts a failed test once, not its file as well', () => {
    const report = { testResults: [file([failed, passed], 'failed')] }
    expect(countTests(report)).toEqual({ passed: 1, failed: 1, skipped: 0 })
  })

  it('counts whatever neither passed nor failed as skipped', () => {
    const report = {
      testResults: [file([{ ...passed, status: 'pending' }, { ...passed, status: 'todo' }, passed])],
    }
    expect(countTests(report)).toEqual({ passed: 1, failed: 0, skipped: 2 })
  })
})

describe('describeFailures', () => {
  it('names what failed with why, and nothing that passed', () => {
    expect(describeFailures({ testResults: [file([passed]), file([failed, passed], 'failed')] })).toEqual([
      ['  libs/lanes.test.ts: lanes stop', '    AssertionError: 1 is not 2', '        at lanes.ts:7'].join(
        '\n',
      ),
    ])
  })

  it('names a file that could not be loaded', () => {
    expect(describeFailures({ testResults: [file([], 'failed', 'no such module')] })).toEqual([
      '  libs/lanes.test.ts\n    no such module',
    ])
  })

  it('keeps the beginning of a long message', () => {
    const message = Array.from({ length: 40 }, (_, n) => `line ${n}`).join('\n')
    const [text = ''] = describeFailures({ testResults: [file([], 'failed', message)] })
    expect(text.split('\n').slice(-2)).toEqual(['    line 11', '    (28 lines more above)'])
  })
})

describe('renderOutcomes', () => {
  it('says all failures before the sum of all counts, which is the last line', () => {
    expect(
      renderOutcomes([
        { counts: { passed: 2, failed: 1, skipped: 0 }, failures: ['  a.test.ts: first'] },
        { counts: { passed: 3, failed: 1, skipped: 4 }, failures: ['  b.test.ts: second'] },
      ]),
    ).toBe('failed:\n  a.test.ts: first\n  b.test.ts: second\n5 passed, 2 failed, 4 skipped')
  })

  it('is one line where nothing failed', () => {
    expect(renderOutcomes([{ counts: { passed: 2, failed: 0, skipped: 1 }, failures: [] }])).toBe(
      '2 passed, 0 failed, 1 skipped',
    )
  })
})
