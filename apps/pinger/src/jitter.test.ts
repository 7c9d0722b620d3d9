import { expect, it } from 'vitest'
import { jittered } from './jitter.ts'

it('waits a fifth less or more, as chance has it', () => {
  expect([0, 0.25, 0.5, 0.75].map((draw) => jittered(5000, () => draw))).toEqual([4000, 4500, 5000, 5500])
  expect(jittered(5000, () => 1 - Number.EPSILON)).toBeLessThanOrEqual(6000)
})

it('has a thousand who begin together spread over a whole interval within thirty rounds', () => {
  let seed = 1
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  const at = Array.from({ length: 1000 }, () => {
    let ms = 0
    for (let round = 0; round < 30; round++) ms += jittered(5000, random)
    return ms % 5000
  })
  // In each of ten parts of the interval: a tenth of them, give or take half of that.
  const counts = Array.from(
    { length: 10 },
    (_, part) => at.filter((ms) => Math.floor(ms / 500) === part).length,
  )
  for (const count of counts) expect(Math.abs(count - 100)).toBeLessThan(50)
})
