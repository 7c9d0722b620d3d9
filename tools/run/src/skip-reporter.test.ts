import { expect, it } from 'vitest'
import { renderSkipped } from './skip-reporter.ts'

it('names each test with its reason, and a group that is skipped as a whole once', () => {
  const file = 'a.test.ts'
  const group = 'a machine (skipped: no KubeVirt)'
  expect(
    renderSkipped([
      { file, path: ['links', 'can be VLANs'], note: 'no 802.1Q in this kernel' },
      { file, path: [group, 'starts'], note: undefined },
      { file, path: [group, 'moves', 'away'], note: undefined },
      { file, path: ['links', 'move'], note: undefined },
    ]),
  ).toBe(
    [
      'skipped: 4',
      '  a.test.ts: links › can be VLANs (skipped: no 802.1Q in this kernel)',
      '  a.test.ts: a machine (skipped: no KubeVirt), 2 tests',
      '  a.test.ts: no reason said',
    ].join('\n'),
  )
})
