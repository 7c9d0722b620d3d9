import { describe, expect, it } from 'vitest'
import { balancerGroupName } from './names.ts'
import { objectsOfOwner, ownerOfRow, ownersOfRows, unexplainedRows, type SampledRow } from './row-owner.ts'

function row(table: string, externalIds: Readonly<Record<string, string>>, more = {}): SampledRow {
  return { table, name: '', row: '', sample: '', externalIds: new Map(Object.entries(externalIds)), ...more }
}

describe('whose a row is', () => {
  it('is said by its mark, or by its name where it can have none', () => {
    expect(ownerOfRow(row('ACL', { vendor: 'kube-ovn', owner: 'subnet-acl/blue' }))).toBe('subnet-acl/blue')
    expect(ownerOfRow(row('ACL', { vendor: 'kube-ovn' }))).toBe('kube-ovn, not adopted yet')
    expect(ownerOfRow(row('ACL', { 'owned-by': 'somebody' }))).toBe('nobody of ours')
    const group = (name: string) => row('Load_Balancer_Group', {}, { name })
    expect(ownerOfRow(group(balancerGroupName('red')))).toBe('load-balancer/red')
    expect(ownerOfRow(group('somebody'))).toBe('nobody of ours')
  })

  it('is said of a sample by the ACL that has it taken', () => {
    const acl = row('ACL', { owner: 'security-group/a' }, { row: '1', sample: '2' })
    const samples = ['2', '3'].map((id) => row('Sample', {}, { row: id }))
    expect(ownersOfRows([acl, ...samples]).map(({ owner }) => owner)).toEqual([
      'security-group/a',
      'security-group/a',
      'nobody of ours',
    ])
  })
})

it('names the rows that are of no object, each with its marks', () => {
  const rows = [
    row('Logical_Switch', { vendor: 'kube-ovn', owner: 'subnet/blue' }, { name: 'blue' }),
    row('Logical_Switch', {}, { name: 'lost' }),
    row('Logical_Switch', { vendor: 'kube-ovn' }, { name: 'early' }),
    row('Logical_Switch', { owner: 'gone-feature/blue', id: 'ls/blue' }, { name: 'late' }),
    row('ACL', { owner: 'security-group/a' }, { row: '5', sample: '6' }),
    row('Sample', {}, { row: '6' }),
    row('Sample', {}, { row: '7' }),
  ]
  expect(unexplainedRows(rows).map(({ text }) => text)).toEqual([
    'Logical_Switch lost {}: nobody of ours',
    'Logical_Switch early {vendor=kube-ovn}: of kube-ovn, not adopted yet',
    'Logical_Switch late {owner=gone-feature/blue, id=ls/blue}: of gone-feature/blue',
    'Sample 7 {}: nobody of ours',
  ])
})

describe('an owner', () => {
  it.each([
    ['subnet/blue', ['Subnet blue']],
    ['vpc/blue', ['Vpc blue']],
    ['load-balancer/blue', ['Vpc blue']],
    ['pod-port/shop/web-0', ['Pod shop/web-0', 'VirtualMachine shop/web-0']],
    ['subnet-gw/blue/node-1', ['Subnet blue', 'Node node-1']],
    ['network-policy/shop/web', ['NetworkPolicy shop/web']],
    ['network-policy/multi:shop/web', ['MultiNetworkPolicy shop/web']],
    ['admin-policy/banp/default', ['BaselineAdminNetworkPolicy default']],
    ['egress-firewall/shop/default', ['EgressFirewall shop/default']],
    ['egress-firewall/inside', []],
    ['sg/deny-all', []],
    ['node-addresses/4', []],
  ])('%s is of %j', (owner, objects) => {
    expect(objectsOfOwner(owner)?.map(({ kind, key }) => `${kind} ${key}`)).toEqual(objects)
  })

  it.each([
    ...['subnet/blue/x', 'pod-port/web-0', 'subnet-gw/blue', 'sg/other', 'admin-policy/np/a', 'nobody'],
    ...['somebody/blue', '/blue', 'nobody of ours', 'kube-ovn, not adopted yet', 'constructor/a', 'subnet/'],
  ])('%s is not known', (owner) => {
    expect(objectsOfOwner(owner)).toBeUndefined()
  })
})
