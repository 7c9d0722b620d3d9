import { vip } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { desiredSource } from './desired.ts'

const owner = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', name: 'blue', uid: 'u' }
const users = vip({ name: 'blue', subnet: 'blue' })
const ours = { ...users, metadata: { ...users.metadata, ownerReferences: [owner] } }

it.each([
  { what: 'makes a Vip where there is none', isWanted: true, is: undefined, uid: 'u', want: 'create' },
  { what: 'waits for a Subnet', isWanted: true, is: undefined, uid: undefined, want: '' },
  { what: 'leaves the one that is there', isWanted: true, is: ours, uid: 'u', want: '' },
  { what: 'removes its own', isWanted: false, is: ours, uid: undefined, want: 'remove' },
  { what: 'keeps that of a user', isWanted: false, is: users, uid: 'u', want: '' },
  { what: 'has nothing to do where nothing is asked', isWanted: false, is: undefined, uid: 'u', want: '' },
])('$what', ({ isWanted, is, uid, want }) => {
  const { patches } = desiredSource({ subnet: 'blue', uid, isWanted, vip: is })
  expect(patches.map(({ remove }) => (remove === true ? 'remove' : 'create')).join()).toBe(want)
})

it('makes a Vip that goes with its Subnet', () => {
  const { patches } = desiredSource({ subnet: 'blue', uid: 'u', isWanted: true, vip: undefined })
  expect(patches[0]?.create).toEqual({
    apiVersion: 'kubeovn.io/v1',
    kind: 'Vip',
    metadata: { name: 'blue', ownerReferences: [owner] },
    spec: { subnet: 'blue' },
  })
})
