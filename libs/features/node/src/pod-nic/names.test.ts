import { expect, it } from 'vitest'
import { formerHostNicName, hostNicName, isHostNicName } from './names.ts'

const id = '0123456789abcdef0123456789abcdef'

it.each([
  ['eth0', '0123456789ab_h', undefined],
  ['net1', '01234567_net1_h', undefined],
  ['net10', '5ccf3f5ad44b_h', '0123456_net10_h'],
  ['pod1a2b3c4d5e6', '84fe5cded950_h', '01234_1a2b3c4_h'],
  ['elevenchars', '7d2d57825f5c_h', '0_elevenchars_h'],
  ['fifteen-letters', '0ef01e3c6c41_h', undefined],
])('names the host end of %s %s, within 15 characters; upstream: %s', (ifName, want, former) => {
  expect(hostNicName(id, ifName)).toBe(want)
  expect(formerHostNicName(id, ifName)).toBe(former)
  expect(want.length).toBeLessThanOrEqual(15)
  expect(isHostNicName(want)).toBe(true)
})

it.each(['eth0', 'storage', 'elevenchars', 'pod1a2b3c4d5e6'])(
  'tells containers apart whose ids begin alike, as the names of their %s do',
  (ifName) => {
    expect(hostNicName(`01234567f${id}`, ifName)).not.toBe(
      hostNicName(`01234567e${id}`.padEnd(64, '0'), ifName),
    )
  },
)
