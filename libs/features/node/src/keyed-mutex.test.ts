import { expect, it } from 'vitest'
import { KeyedMutex } from './keyed-mutex.ts'

it('runs the tasks of a key one after the other, also after a failure, and forgets the key', async () => {
  const idle: string[] = []
  const mutex = new KeyedMutex((key) => idle.push(key))
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
  expect(idle).toEqual(['b'])
  gate.resolve()
  await expect(first).rejects.toThrow('failed')
  await second
  expect(order).toEqual(['other', 'first', 'second'])
  expect(mutex.has('a')).toBe(false)
  expect(idle).toEqual(['b', 'a'])
})
