import { controlFeatures, northboundTables } from '@kube-ovn/assembly-controller'
import { featuresWithRows, objectTables } from '@kube-ovn/ovn-names'
import { expect, it } from 'vitest'
import { askedKind } from './asked-kind.ts'

it('looks into every table that features write', () => {
  // The only row of this one is of the whole.
  const written = Object.keys(northboundTables()).filter((table) => table !== 'NB_Global')
  const looked = new Set<string>(objectTables)
  expect(written.filter((table) => !looked.has(table))).toEqual([])
  expect(written.length).toBeGreaterThan(15)
})

it('knows of every feature that has rows what its keys are, and of no other', () => {
  const withRows = controlFeatures.filter(({ kinds }) => kinds.length > 0).map(({ name }) => name)
  expect(featuresWithRows.toSorted()).toEqual(withRows.toSorted())
})

it.each([
  ['pod', { kind: 'Pod' }],
  ['Pods', { kind: 'Pod' }],
  ['po', { kind: 'Pod' }],
  ['svc', { kind: 'Service' }],
  ['netpol', { kind: 'NetworkPolicy' }],
  ['egressfirewall', { kind: 'EgressFirewall' }],
  ['egress-firewall', { kind: 'EgressFirewall' }],
  ['vpc', { kind: 'Vpc' }],
  ['sg', { kind: 'SecurityGroup' }],
  ['security-group', { kind: 'SecurityGroup' }],
  ['mnp', { kind: 'MultiNetworkPolicy' }],
  ['virtualmachine', { kind: 'VirtualMachine' }],
  ['vmi', { kind: 'VirtualMachine' }],
  ['subnet-acl', { feature: 'subnet-acl' }],
])('takes %s for %j', (text, asked) => {
  expect(askedKind(text)).toMatchObject(asked)
})

it('knows no other kinds', () => {
  expect(() => askedKind('constructor')).toThrow('command line is wrong')
})
