import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { WorkQueue } from './queue.ts'

function queueWith(paceMs = 0) {
  const clock = new ManualClock()
  let calls = 0
  const queue = new WorkQueue<string>({ clock, paceMs: () => paceMs, onReady: () => void calls++ })
  return { clock, queue, calls: () => calls }
}

it('holds a key once and hands out live ones first', () => {
  const { queue } = queueWith()
  for (const key of ['a', 'b', 'a', 'c']) queue.add(key, 'initial')
  queue.add('d', 'live')
  queue.add('c', 'live')
  expect(queue.take(3)).toEqual(['d', 'c', 'a'])
  expect(queue.take(3)).toEqual(['b'])
  expect(queue.hasReady).toBe(false)
})

it('queues a key again that changed while it was worked on', () => {
  const { queue } = queueWith()
  queue.add('a', 'live')
  queue.take(1)
  queue.add('a', 'live')
  expect(queue.take(1)).toEqual([])
  queue.done('a')
  expect(queue.take(1)).toEqual(['a'])
  queue.done('a')
  expect(queue.isIdle).toBe(true)
})

it('serves the first change at once and later ones once a period', () => {
  const { clock, queue } = queueWith(1000)
  queue.add('a', 'live')
  expect(queue.take(1)).toEqual(['a'])
  queue.done('a')
  clock.advance(400)
  queue.add('a', 'live')
  queue.add('a', 'live')
  expect(queue.hasReady).toBe(false)
  expect(queue.isIdle).toBe(false)
  clock.advance(599)
  expect(queue.hasReady).toBe(false)
  clock.advance(1)
  expect(queue.take(1)).toEqual(['a'])
  queue.done('a')
  clock.advance(5000)
  queue.add('a', 'live')
  expect(queue.hasReady).toBe(true)
})

it('lets a change supersede a retry', () => {
  const { clock, queue } = queueWith()
  queue.addAfter('a', 500)
  expect(queue.isIdle).toBe(true)
  queue.add('a', 'live')
  expect(queue.take(1)).toEqual(['a'])
  queue.done('a')
  clock.advance(1000)
  expect(queue.hasReady).toBe(false)
  queue.addAfter('a', 500)
  clock.advance(500)
  expect(queue.take(1)).toEqual(['a'])
})

it('tells the age of the oldest key that is not served', () => {
  const { clock, queue } = queueWith()
  expect(queue.oldestMs).toBe(0)
  queue.add('a', 'live')
  clock.advance(300)
  queue.add('b', 'live')
  expect(queue.oldestMs).toBe(300)
  expect([...queue.waiting()]).toEqual(['a', 'b'])
  queue.take(1)
  clock.advance(100)
  expect([...queue.working()]).toEqual([['a', 100]])
  queue.done('a')
  expect(queue.oldestMs).toBe(100)
  queue[Symbol.dispose]()
  expect(queue.isIdle).toBe(true)
})

it('takes nothing and sets no timer once it is closed', () => {
  const { clock, queue } = queueWith(1000)
  queue.add('a', 'live')
  queue.take(1)
  queue[Symbol.dispose]()
  queue.done('a')
  queue.add('a', 'live')
  queue.addAfter('b', 500)
  expect(clock.pendingTimers).toBe(0)
  expect(queue.hasReady).toBe(false)
})
