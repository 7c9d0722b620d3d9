import { expect, it } from 'vitest'
import { judgeReadiness } from './readiness.ts'

const ready = { isDatabaseConnected: true, unsynced: [], isTunnelKnown: true, isNodeNicInstalled: true }

it('is ready when nothing is missing', () => {
  expect(judgeReadiness(ready).reasons).toEqual([])
})

it.each([
  ['database', { isDatabaseConnected: false }, 51, 'Open vSwitch database'],
  ['pods', { unsynced: ['pods'] }, 50, 'has not sent the pods'],
  ['tunnel', { isTunnelKnown: false }, 50, 'end of the tunnels'],
  ['ovn0', { isNodeNicInstalled: false }, 50, 'flows of ovn0'],
] as const)(
  'names the missing %s and says by its code whether attached pods suffer',
  (_name, facts, code, reason) => {
    expect(judgeReadiness({ ...ready, ...facts })).toEqual({
      code,
      reasons: [expect.stringContaining(reason)],
    })
  },
)
