import { expect, it } from 'vitest'
import { KeyedMutex } from './keyed-mutex.ts'

it('runs the tasks of a key one after the other, also after a failure, and forgets the key', async () => {
  const mutex = new KeyedMutex()
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const first = mutex.run('a', async () => {
    await gate.promise
    order.push('first')
    throw new Error('failed')
  })
  const second = mutex.run('a', async () => {
    order.push('second')
  })
  const other = mutex.run('b', async () => {
    order.push('other')
  })
  await other
  gate.resolve()
  await expect(first).rejects.toThrow('failed')
  await second
  expect(order).toEqual(['other', 'first', 'second'])
  expect(mutex.has('a')).toBe(false)
})
