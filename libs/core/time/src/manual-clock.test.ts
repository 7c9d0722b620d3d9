import { expect, it } from 'vitest'
import { sleep } from './clock.ts'
import { ManualClock } from './manual-clock.ts'

it('fires timers in order of time, then of setting, each at its own time', () => {
  const clock = new ManualClock(0)
  const fired: [string, number][] = []
  clock.setTimer(20, () => fired.push(['late', clock.now()]))
  clock.setTimer(10, () => fired.push(['first', clock.now()]))
  clock.setTimer(10, () => {
    fired.push(['second', clock.now()])
    clock.setTimer(5, () => fired.push(['nested', clock.now()]))
  })
  clock.advance(19)
  expect(fired).toEqual([
    ['first', 10],
    ['second', 10],
    ['nested', 15],
  ])
  expect(clock.nextTimerMs).toBe(1)
  clock.advance(1)
  expect(fired.at(-1)).toEqual(['late', 20])
  expect(clock.pendingTimers).toBe(0)
  expect(clock.monotonic()).toBe(20)
})

it('does not fire a cancelled timer', () => {
  const clock = new ManualClock()
  let fired = 0
  const timer = clock.setTimer(1, () => (fired += 1))
  timer[Symbol.dispose]()
  clock.advance(10)
  expect(fired).toBe(0)
})

it('ends a sleep when its time has come', async () => {
  const clock = new ManualClock()
  const controller = new AbortController()
  const slept = sleep(clock, 100, controller.signal)
  clock.advance(100)
  await expect(slept).resolves.toBeUndefined()
})

it('ends a sleep with the reason of its signal and cancels the timer', async () => {
  const clock = new ManualClock()
  const controller = new AbortController()
  const slept = sleep(clock, 100, controller.signal)
  controller.abort(new Error('stopped'))
  await expect(slept).rejects.toThrow('stopped')
  expect(clock.pendingTimers).toBe(0)
  await expect(sleep(clock, 100, controller.signal)).rejects.toThrow('stopped')
})
