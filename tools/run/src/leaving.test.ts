import { expect, it } from 'vitest'
import { leavingOutcome } from './leaving.ts'
import { isPassed, renderOutcomes } from './vitest.ts'

const passed = { counts: { passed: 1, failed: 0, skipped: 0 }, failures: [] }

it('fails a run whose packets left the machine, and says which', () => {
  const packet = '192.0.2.2 > 100.64.0.2 tcp: 3 packets sent by the uplink'
  const outcomes = [passed, leavingOutcome([packet])]
  expect(isPassed(outcomes)).toBe(false)
  expect(renderOutcomes(outcomes)).toBe(
    `failed:\n  packets left the machine\n    ${packet}\n1 passed, 1 failed, 0 skipped`,
  )
})

it('counts nothing where none did', () => {
  expect(renderOutcomes([passed, leavingOutcome([])])).toBe('1 passed, 0 failed, 0 skipped')
})
