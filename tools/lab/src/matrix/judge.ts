import type { Outcome } from '../probe/question.ts'
import type { Expectation } from './declaration.ts'
import type { Endpoint } from './endpoints.ts'

export interface Judgement {
  readonly verdict: 'as expected' | 'differs' | 'skipped'
  readonly expected: string
  readonly seen: string
}

/** Holds what was seen against what was expected. */
export function judge(
  expect: Expectation,
  from: Pick<Endpoint, 'addresses' | 'nodeAddresses'>,
  outcome: Outcome,
): Judgement {
  const expected = describeExpectation(expect)
  if (outcome.kind === 'skipped') return { verdict: 'skipped', expected, seen: outcome.reason }
  if (typeof expect === 'string') {
    const isReached = outcome.kind === 'reached'
    const isAsExpected = isReached === (expect === 'reach')
    const seen = isReached ? 'reached' : outcome.reason
    return { verdict: isAsExpected ? 'as expected' : 'differs', expected, seen }
  }
  if (outcome.kind === 'lost') return { verdict: 'differs', expected, seen: outcome.reason }
  if (outcome.seen === undefined)
    return { verdict: 'skipped', expected, seen: 'who answers does not tell the source' }
  const { source } = outcome.seen
  const isWanted = sourcesOf(expect.source, from).includes(source)
  return { verdict: isWanted ? 'as expected' : 'differs', expected, seen: `reached from ${source}` }
}

function describeExpectation(expect: Expectation): string {
  if (expect === 'reach') return 'reached'
  if (expect === 'no-reach') return 'not reached'
  return expect.source === 'own' || expect.source === 'node'
    ? `reached from its ${expect.source} address`
    : `reached from ${expect.source}`
}

function sourcesOf(source: string, from: Pick<Endpoint, 'addresses' | 'nodeAddresses'>): readonly string[] {
  if (source === 'own') return from.addresses
  if (source === 'node') return from.nodeAddresses
  return [source]
}
