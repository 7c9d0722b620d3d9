import { expect, it } from 'vitest'
import type { Difference } from './compare.ts'
import { describeDifferences } from './describe-differences.ts'
import type { JsonObject } from './dump.ts'

function differences(
  kind: string,
  recorded: readonly JsonObject[],
  ours: readonly JsonObject[],
): readonly Difference[] {
  return [
    ...recorded.map((object): Difference => ({ kind, side: 'recorded', object })),
    ...ours.map((object): Difference => ({ kind, side: 'ours', object })),
  ]
}

it('shows of two objects of one name the fields in which they differ', () => {
  const recorded = { name: 'web.default', addresses: ['a', 'b'], options: { mtu: '1400' }, up: true }
  const ours = { name: 'web.default', addresses: ['a', 'c'], options: {}, up: true, tag: 7 }
  const other = { name: 'db.default', addresses: ['a', 'b'], options: { mtu: '1400' }, up: true }
  expect(describeDifferences(differences('Logical_Switch_Port', [recorded], [other, ours]))).toEqual([
    'Logical_Switch_Port web.default:',
    '  - addresses[]: "b"',
    '  + addresses[]: "c"',
    '  - options.mtu: "1400"',
    '  + tag: 7',
    'Logical_Switch_Port db.default: only ours',
    '  + name: "db.default"',
    '  + addresses[]: "a"',
    '  + addresses[]: "b"',
    '  + options.mtu: "1400"',
    '  + up: true',
  ])
})

it('takes rows without a name for the same when most of them is', () => {
  const acl = { action: 'drop', direction: 'to-lport', match: 'ip4', priority: 1000 }
  const far = { action: 'allow', direction: 'from-lport', match: 'tcp', priority: 7 }
  expect(describeDifferences(differences('ACL', [acl], [far, { ...acl, priority: 1001 }]))).toEqual([
    'ACL: match: "ip4"',
    '  - priority: 1000',
    '  + priority: 1001',
    'ACL: only ours',
    '  + action: "allow"',
    '  + direction: "from-lport"',
    '  + match: "tcp"',
    '  + priority: 7',
  ])
})

it('names Kubernetes objects by namespace and name, and tells elements of lists of objects apart', () => {
  const pod = (ip: string): JsonObject => ({
    metadata: { namespace: 'shop', name: 'web' },
    status: { podIPs: [{ ip: '10.16.0.2' }, { ip }] },
  })
  expect(describeDifferences(differences('Pod', [pod('fd00::2')], [pod('fd00::3')]))).toEqual([
    'Pod shop/web:',
    '  - status.podIPs[1].ip: "fd00::2"',
    '  + status.podIPs[1].ip: "fd00::3"',
  ])
})
