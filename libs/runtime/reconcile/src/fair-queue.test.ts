import { expect, it } from 'vitest'
import { FairQueue } from './fair-queue.ts'

it('lets one of each group go after the other, however many there are of one', () => {
  const queue = new FairQueue<string>()
  for (const one of ['p1', 'p2', 'p3', 's1', 's2', 'v1']) queue.push(one.charAt(0), one)
  const taken = [queue.shift(), queue.shift()]
  queue.push('v', 'v2')
  queue.push('n', 'n1')
  expect(queue.size).toBe(6)
  while (queue.size > 0) taken.push(queue.shift())
  expect(taken).toEqual(['p1', 's1', 'v1', 'p2', 's2', 'n1', 'v2', 'p3'])
  expect(queue.shift()).toBeUndefined()
  expect(queue.size).toBe(0)
})
