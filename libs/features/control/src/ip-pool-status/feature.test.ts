import { expect, it } from 'vitest'
import { shownPatches } from '../testing/shown.ts'
import { desiredStatus } from './feature.ts'

it('publishes the counts of both families under the names of the kind', () => {
  const v4 = { available: 3n, using: 1n, availableRanges: '10.1.0.2-10.1.0.4', usingRanges: '10.1.0.1' }
  expect(shownPatches(desiredStatus({ name: 'blue', statistics: { v4, v6: undefined } }))).toEqual([
    {
      object: 'ippools/blue/status',
      status: {
        v4AvailableIPs: 3,
        v4AvailableIPRange: '10.1.0.2-10.1.0.4',
        v4UsingIPs: 1,
        v4UsingIPRange: '10.1.0.1',
        v6AvailableIPs: 0,
        v6AvailableIPRange: '',
        v6UsingIPs: 0,
        v6UsingIPRange: '',
      },
    },
  ])
})
