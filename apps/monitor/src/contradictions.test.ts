import { expect, it } from 'vitest'
import { SeenContradictions } from './contradictions.ts'

function look(seen: SeenContradictions, nowMs: number, ...names: readonly string[]) {
  return seen.look(new Map([['port-without-binding', new Set(names)]]), nowMs).get('port-without-binding')
}

it('tells since when the same one is there, not since when there is one', () => {
  const seen = new SeenContradictions()
  // Ports that come and go, each of which waits for ovn-northd for a while.
  for (let second = 0; second < 3600; second += 15)
    expect(look(seen, second * 1000, `web-${second}`, `web-${second + 15}`)).toEqual({
      count: 2,
      seconds: second === 0 ? 0 : 15,
    })
  expect(look(seen, 3_600_000, 'lost')).toEqual({ count: 1, seconds: 0 })
  expect(look(seen, 3_700_000, 'lost', 'other')).toEqual({ count: 2, seconds: 100 })
  expect(look(seen, 3_800_000)).toEqual({ count: 0, seconds: 0 })
  expect(look(seen, 3_900_000, 'lost')).toEqual({ count: 1, seconds: 0 })
})
