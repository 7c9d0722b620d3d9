import { expect, it } from 'vitest'
import { judgeProbation, type Probation } from './probation.ts'

function probation(state: Probation<string>['state']): Probation<string> {
  return { fragment: 'of now', state, untilMs: 1000, kept: 'before' }
}

it.each([
  { probation: undefined, fragment: 'of now', nowMs: 0, verdict: 'begin' },
  { probation: probation('open'), fragment: 'of now', nowMs: 999, verdict: 'confirm' },
  { probation: probation('open'), fragment: 'of now', nowMs: 1000, verdict: 'take-back' },
  // What was begun is brought to its end, whatever is wanted by now.
  { probation: probation('open'), fragment: 'another', nowMs: 999, verdict: 'confirm' },
  { probation: probation('open'), fragment: undefined, nowMs: 1000, verdict: 'take-back' },
  { probation: probation('reverted'), fragment: 'of now', nowMs: 5000, verdict: 'refuse' },
  { probation: probation('reverted'), fragment: 'another', nowMs: 5000, verdict: 'begin' },
  { probation: probation('confirmed'), fragment: 'of now', nowMs: 5000, verdict: 'hold' },
  { probation: probation('confirmed'), fragment: 'another', nowMs: 5000, verdict: 'hold' },
] as const)('$probation.state for $fragment at $nowMs: $verdict', ({ probation: known, ...rest }) => {
  expect(judgeProbation(known, rest.fragment, rest.nowMs)).toBe(rest.verdict)
})
