import { expect, it } from 'vitest'
import { writtenMac } from './written-mac.ts'

it.each([
  { name: 'nobody wrote', texts: [undefined, ''], want: '00:00:5e:00:53:01' },
  { name: 'somebody wrote', texts: [undefined, '00:00:5E:00:53:01'], want: '00:00:5E:00:53:01' },
  { name: 'several wrote', texts: ['00:00:5e:00:53:01', '00:00:5E:00:53:01'], want: '00:00:5e:00:53:01' },
  { name: 'another one was written', texts: ['00:00:5E:00:53:02'], want: '00:00:5e:00:53:01' },
])('is in the letters of the first who wrote it: $name', ({ texts, want }) => {
  expect(writtenMac('00:00:5e:00:53:01', texts)).toBe(want)
})

it('is none where there is none', () => {
  expect(writtenMac(undefined, ['00:00:5e:00:53:01'])).toBeUndefined()
})
