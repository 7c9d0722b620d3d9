import { describe, expect, it } from 'vitest'
import { countTests, describeFailure, renderOutcomes } from './vitest.ts'

const passed = { status: 'passed' }
const failed = { status: 'failed' }

function file(tests: readonly { status: string }[], status = 'passed') {
  return { status, assertionResults: tests }
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
      testResults: [file([{ status: 'pending' }, { status: 'todo' }, passed])],
    }
    expect(countTests(report)).toEqual({ passed: 1, failed: 0, skipped: 2 })
  })
})

describe('describeFailure', () => {
  it('names what failed with why, without colours', () => {
    const why = '\u001b[31mAssertionError: 1 is not 2\u001b[39m\n\n    at lanes.ts:7'
    expect(describeFailure({ what: 'lanes.test.ts: lanes stop', why })).toBe(
      ['  lanes.test.ts: lanes stop', '    AssertionError: 1 is not 2', '        at lanes.ts:7'].join('\n'),
    )
  })

  it('keeps the beginning of a long text', () => {
    const why = Array.from({ length: 40 }, (_, n) => `line ${n}`).join('\n')
    const lines = describeFailure({ what: 'lanes.test.ts', why }).split('\n')
    expect(lines.slice(-2)).toEqual(['    line 15', '    (24 lines more above)'])
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
