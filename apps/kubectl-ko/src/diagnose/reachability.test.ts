import { expect, it } from 'vitest'
import { cellOf, drawReachability, reachabilityTable, type Reached } from './reachability.ts'

function one(from: string, to: string, rest: Partial<Reached> = {}): Reached {
  return { from, to, kind: 'pod', family: 4, sent: 3, lost: 0, ms: 0.4, ...rest }
}

it.each([
  [[], ''],
  [[one('a', 'b')], '0.40'],
  [[one('a', 'b'), one('a', 'b', { family: 6, ms: 0.9 })], '0.90'],
  [[one('a', 'b', { lost: 1 })], '0.40 (33 % lost)'],
  [[one('a', 'b'), one('a', 'b', { family: 6, lost: 3, ms: undefined })], 'LOST'],
])('shows the worst of %j', (measured, text) => {
  expect(cellOf(measured)).toBe(text)
})

it('has a row for who asks and a column for who is asked', () => {
  const { names, rows } = reachabilityTable([one('b', 'a'), one('a', 'b'), one('a', 'a', { ms: 0.1 })])
  expect(names).toEqual(['a', 'b'])
  expect(rows.map(({ from, cells }) => [from, ...cells.values()])).toEqual([
    ['a', '0.10', '0.40'],
    ['b', '0.40', ''],
  ])
})

it('draws names as text, whatever is in them', () => {
  expect(drawReachability([one('<script>', 'b')], 't')).toContain('&lt;script&gt; to b: 0.40')
})
