import { expect, it } from 'vitest'
import { FastClock } from './fast-clock.ts'

const hourMs = 3_600_000

it('calls what is due when it is put forward, in a later turn, and nothing else', async () => {
  const clock = new FastClock(1)
  const startMs = clock.now()
  const called: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  clock.setTimer(hourMs, () => {
    called.push('due')
    resolve()
  })
  using _later = clock.setTimer(3 * hourMs, () => called.push('later'))
  const cancelled = clock.setTimer(hourMs, () => called.push('cancelled'))
  cancelled[Symbol.dispose]()
  clock.putForward(hourMs)
  expect(called).toEqual([])
  await promise
  expect(called).toEqual(['due'])
  expect(clock.now() - startMs).toBeGreaterThanOrEqual(hourMs)
})

it('calls what is set when that is due, sooner than the machine’s clock would', async () => {
  const clock = new FastClock(1_000_000)
  const startMs = clock.now()
  await new Promise<void>((resolve) => void clock.setTimer(hourMs, resolve))
  expect(clock.now() - startMs).toBeGreaterThanOrEqual(hourMs)
})
