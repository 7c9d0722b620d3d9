import { expect, it } from 'vitest'
import { hostNicName } from './names.ts'

const id = '0123456789abcdef0123456789abcdef'

it.each([
  ['eth0', '0123456789ab_h'],
  ['net1', '01234567_net1_h'],
  ['pod1a2b3c4d5e6', '01234_1a2b3c4_h'],
  ['elevenchars', '0_elevenchars_h'],
])('names the host end of %s %s, within 15 characters', (ifName, want) => {
  expect(hostNicName(id, ifName)).toBe(want)
  expect(want.length).toBeLessThanOrEqual(15)
})

it('has no name for an interface whose own name is too long', () => {
  expect(hostNicName(id, 'twelve-chars')).toBeUndefined()
})
