import type { NorthboundTable } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { expect, it } from 'vitest'
import { unexplained } from './unexplained.ts'

interface SomeRow {
  readonly _uuid: string
  readonly name?: string
  readonly external_ids?: Readonly<Record<string, string>>
  readonly sample_new?: string
}

function holding(tables: Partial<Record<NorthboundTable, readonly SomeRow[]>>) {
  return {
    scan: <N extends NorthboundTable>(table: N): Iterable<OvnNorthbound[N]> =>
      (tables[table] ?? []) as readonly unknown[] as readonly OvnNorthbound[N][],
  }
}

const nothing: ReadonlySet<string> = new Set()

it('names the rows that are of no object, each with its table and what it says', () => {
  const northbound = holding({
    Logical_Switch: [
      { _uuid: '1', name: 'blue', external_ids: { vendor: 'kube-ovn', owner: 'subnet/blue' } },
      { _uuid: '2', name: 'early', external_ids: { vendor: 'kube-ovn' } },
      { _uuid: '3', name: 'theirs', external_ids: { tenant: 'a' } },
    ],
    ACL: [{ _uuid: '4', external_ids: { owner: 'subnet/blue/too/long', id: 'acl/x' } }],
    Load_Balancer_Group: [{ _uuid: '5', name: 'theirs' }],
  })
  expect(unexplained(northbound, { inserted: nothing, declared: nothing })).toEqual([
    'Logical_Switch early {vendor=kube-ovn}: of kube-ovn, not adopted yet',
    'ACL 4 {owner=subnet/blue/too/long, id=acl/x}: of subnet/blue/too/long',
  ])
  const declared = new Set(['Logical_Switch early', 'ACL 4'])
  expect(unexplained(northbound, { inserted: nothing, declared })).toEqual([])
})

it('takes no row for foreign that a controller has inserted, marked or not', () => {
  const northbound = holding({
    ACL: [{ _uuid: '1', external_ids: { owner: 'security-group/a' }, sample_new: '2' }],
    Sample: [{ _uuid: '2' }, { _uuid: '3' }],
    Load_Balancer_Group: [{ _uuid: '4', name: 'nameless' }],
  })
  const inserted = new Set(['1', '2', '3', '4'])
  expect(unexplained(northbound, { inserted, declared: nothing })).toEqual([
    'Load_Balancer_Group nameless {}: nobody of ours',
    'Sample 3 {}: nobody of ours',
  ])
})
