import { describe, expect, it } from 'vitest'
import { countTests, renderCounts } from './vitest.ts'

describe('countTests', () => {
  it('counts a file that could not be loaded as one failure', () => {
    const report = { testResults: [{ status: 'failed', assertionResults: [] }] }
    expect(countTests(report)).toEqual({ passed: 0, failed: 1, skipped: 0 })
  })

  it('counts a failed test once, not its file as well', () => {
    const report = {
      testResults: [{ status: 'failed', assertionResults: [{ status: 'failed' }, { status: 'passed' }] }],
    }
    expect(countTests(report)).toEqual({ passed: 1, failed: 1, skipped: 0 })
  })

  it('counts whatever neither passed nor failed as skipped', () => {
    const report = {
      testResults: [
        {
          status: 'passed',
          assertionResults: [{ status: 'pending' }, { status: 'todo' }, { status: 'passed' }],
        },
      ],
    }
    expect(renderCounts(countTests(report))).toBe('1 passed, 0 failed, 2 skipped')
  })
})
