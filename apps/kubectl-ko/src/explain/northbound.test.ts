import { northboundTables } from '@kube-ovn/assembly-controller'
import { balancerGroupName } from '@kube-ovn/ovn-names'
import { expect, it } from 'vitest'
import { objectTables, ownerOf } from './northbound.ts'

it('looks into every table that features write', () => {
  // The only row of this one is of the whole.
  const written = Object.keys(northboundTables()).filter((table) => table !== 'NB_Global')
  const looked = new Set<string>(objectTables)
  expect(written.filter((table) => !looked.has(table))).toEqual([])
  expect(written.length).toBeGreaterThan(15)
})

it('knows whose a row is by its mark, and by its name where it can have none', () => {
  const marks = (...pairs: readonly (readonly [string, string])[]) => ({ external_ids: pairs })
  expect(ownerOf('ACL', marks(['vendor', 'kube-ovn'], ['owner', 'subnet-acl/blue']))).toBe('subnet-acl/blue')
  expect(ownerOf('ACL', marks(['vendor', 'kube-ovn']))).toBe('kube-ovn, not adopted yet')
  expect(ownerOf('ACL', marks(['owned-by', 'somebody']))).toBe('nobody of ours')
  expect(ownerOf('Load_Balancer_Group', { name: balancerGroupName('red') })).toBe('load-balancer/red')
  expect(ownerOf('Load_Balancer_Group', { name: 'somebody' })).toBe('nobody of ours')
})
