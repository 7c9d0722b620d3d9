import { recordingLogger, silentLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { LevelLoop } from './level-loop.ts'

function loopOf(
  reconcile: () => Promise<void> | void,
  clock = new ManualClock(),
  log = silentLogger,
): LevelLoop {
  return new LevelLoop({ name: 'test', clock, log, random: () => 0, reconcile })
}

it('runs once for many triggers of one turn', async () => {
  let runs = 0
  using loop = loopOf(() => {
    runs += 1
  })
  loop.trigger()
  loop.trigger()
  await loop.idle
  expect(runs).toBe(1)
})

it('runs once more when triggered while it runs, and never twice at once', async () => {
  let running = 0
  let runs = 0
  using loop: LevelLoop = loopOf(async () => {
    running += 1
    expect(running).toBe(1)
    runs += 1
    if (runs === 1) {
      loop.trigger()
      loop.trigger()
    }
    await Promise.resolve()
    running -= 1
  })
  loop.trigger()
  await loop.idle
  expect(runs).toBe(2)
})

it('tries again after a failure, and logs the same failure once', async () => {
  const clock = new ManualClock()
  const log = recordingLogger()
  let runs = 0
  using loop = loopOf(
    () => {
      runs += 1
      if (runs < 3) throw new Error('refused')
    },
    clock,
    log,
  )
  loop.trigger()
  await loop.idle
  expect(loop.isHealthy).toBe(false)
  clock.advance(200)
  await loop.idle
  clock.advance(400)
  await loop.idle
  expect(runs).toBe(3)
  expect(loop.isHealthy).toBe(true)
  expect(log.lines.filter((line) => line.level === 'warn')).toHaveLength(1)
})

it('does nothing any more once disposed', async () => {
  let runs = 0
  const loop = loopOf(() => {
    runs += 1
  })
  loop[Symbol.dispose]()
  loop.trigger()
  await loop.idle
  expect(runs).toBe(0)
})
