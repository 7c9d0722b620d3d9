import { expect, it } from 'vitest'
import { within } from './within.ts'

it('yields what happens in time', async () => {
  await expect(within(60_000, () => 'it', Promise.resolve(1))).resolves.toBe(1)
  await expect(within(60_000, () => 'it', Promise.reject(new Error('no')))).rejects.toThrow('no')
})

it('says what never happens', async () => {
  const never = Promise.withResolvers<void>().promise
  await expect(within(1, () => '3 of 4 pods', never)).rejects.toThrow('not within 0.001 s: 3 of 4 pods')
})
