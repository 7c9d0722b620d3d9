import { providerNetwork, vlan, type VlanFields } from '@kube-ovn/testing-builders'
import type { VlanStatus } from '@kube-ovn/kube-api'
import { expect, it } from 'vitest'
import { stillWorld } from '../testing/still-world.ts'

interface Given extends VlanFields {
  readonly created?: string
  readonly status?: VlanStatus
}

function states(...given: readonly Given[]): Readonly<Record<string, string>> {
  const vlans = given.map(({ created = '1', status, ...fields }) => {
    const { metadata, ...rest } = vlan(fields)
    const of = { ...metadata, generation: 2, creationTimestamp: `2026-01-01T00:00:0${created}Z` }
    return { ...rest, metadata: of, ...(status === undefined ? {} : { status }) }
  })
  const providerNetworks = ['quay', 'provider'].map((name) => providerNetwork({ name }))
  const world = stillWorld({ vlans, providerNetworks }, {})
  return Object.fromEntries(
    given.map(({ name }) => {
      const { tag, problem, isConflict } = world.vlanStates.get(name) ?? {}
      const told =
        problem === undefined ? 'fine' : `${problem.field}${isConflict === true ? ' conflict' : ''}`
      return [name, `${tag?.id} on ${tag?.provider}: ${told}`]
    }),
  )
}

it.each<{ name: string; given: readonly Given[]; want: Readonly<Record<string, string>> }>([
  {
    name: 'ids that differ',
    given: [
      { name: 'a', id: 10 },
      { name: 'b', id: 11 },
    ],
    want: { a: '10 on quay: fine', b: '11 on quay: fine' },
  },
  {
    name: 'one id on two networks',
    given: [
      { name: 'a', id: 10 },
      { name: 'b', id: 10, provider: 'provider' },
    ],
    want: { a: '10 on quay: fine', b: '10 on provider: fine' },
  },
  {
    name: 'any number without a tag',
    given: [{ name: 'a', id: 0 }, { name: 'b' }],
    want: { a: '0 on quay: fine', b: '0 on quay: fine' },
  },
  {
    name: 'the older one of two',
    given: [
      { name: 'a', id: 10, created: '2' },
      { name: 'b', id: 10, created: '1' },
    ],
    want: { a: '10 on quay: spec.id conflict', b: '10 on quay: fine' },
  },
  {
    name: 'the one that was told to have the id, rather than an older one that comes to want it',
    given: [
      { name: 'a', id: 10, created: '1', status: { observedGeneration: 1 } },
      { name: 'b', id: 10, created: '2', status: { observedGeneration: 2 } },
    ],
    want: { a: '10 on quay: spec.id conflict', b: '10 on quay: fine' },
  },
  {
    name: 'an older one, rather than one that was told to contradict it',
    given: [
      { name: 'a', id: 10, created: '2', status: { observedGeneration: 2, conflict: true } },
      { name: 'b', id: 10, created: '1' },
    ],
    want: { a: '10 on quay: spec.id conflict', b: '10 on quay: fine' },
  },
  {
    name: 'what stands in fields of old, unless those in their place say something',
    given: [
      { name: 'a', id: 0, vlanId: 7, provider: '', providerInterfaceName: 'quay' },
      { name: 'b', id: 8, vlanId: 9, provider: 'quay', providerInterfaceName: 'none' },
      { name: 'c', id: 8, provider: '' },
    ],
    want: { a: '7 on quay: fine', b: '8 on quay: fine', c: '8 on provider: fine' },
  },
  {
    name: 'no network that there is not',
    given: [{ name: 'a', id: 10, provider: 'none' }],
    want: { a: '10 on none: spec.provider' },
  },
  {
    name: 'no id that no frame can have',
    given: [
      { name: 'a', id: 4096 },
      { name: 'b', id: -1 },
      { name: 'c', id: 1.5 },
      { name: 'd', id: 4095 },
    ],
    want: {
      a: '4096 on quay: spec.id',
      b: '-1 on quay: spec.id',
      c: '1.5 on quay: spec.id',
      d: '4095 on quay: fine',
    },
  },
])('takes $name', ({ given, want }) => {
  expect(states(...given)).toEqual(want)
})
