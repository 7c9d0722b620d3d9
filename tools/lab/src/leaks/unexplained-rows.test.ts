import { expect, it } from 'vitest'
import { unexplainedIn } from './unexplained-rows.ts'

const uuid = (digit: number): readonly [string, string] => ['uuid', `${digit}`.repeat(8)]
const ids = (...pairs: readonly (readonly [string, string])[]): readonly [string, unknown] => ['map', pairs]

function dumpOf(caption: string, headings: readonly string[], data: readonly (readonly unknown[])[]): string {
  return JSON.stringify({ caption: `${caption} table`, headings, data })
}

it('finds the rows that are of no object', () => {
  const dump = [
    dumpOf(
      'Logical_Switch',
      ['_uuid', 'external_ids', 'name'],
      [
        [uuid(1), ids(['owner', 'subnet/blue']), 'blue'],
        [uuid(2), ids(), 'lost'],
        [uuid(3), ids(['vendor', 'kube-ovn']), 'early'],
        [uuid(4), ids(['owner', 'gone-feature/blue']), 'late'],
      ],
    ),
    dumpOf(
      'ACL',
      ['_uuid', 'external_ids', 'name', 'sample_new'],
      [[uuid(5), ids(['owner', 'security-group/a']), ['set', []], uuid(6)]],
    ),
    dumpOf(
      'Sample',
      ['_uuid', 'metadata'],
      [
        [uuid(6), 1],
        [uuid(7), 2],
      ],
    ),
    // OVN's own.
    dumpOf('Connection', ['_uuid', 'target'], [[uuid(8), 'ptcp:6641']]),
  ].join('\n')
  expect(unexplainedIn(dump)).toEqual([
    'Logical_Switch lost {}: nobody of ours',
    'Logical_Switch early {vendor=kube-ovn}: of kube-ovn, not adopted yet',
    'Logical_Switch late {owner=gone-feature/blue}: of gone-feature/blue',
    `Sample ${'7'.repeat(8)} {}: nobody of ours`,
  ])
})
