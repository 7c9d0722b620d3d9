import { describe, expect, it } from 'vitest'
import { shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredVlan, type VlanSnapshot } from './desired.ts'

const tag = { name: 'v10', provider: 'net1', id: 10 }
const cure = 'choose another id, or another provider: Vlan v9 has this one on net1'
const conflict = { field: 'spec.id', value: '10', cure }

const free: VlanSnapshot = {
  name: 'v10',
  object: { metadata: { name: 'v10', uid: 'u1' }, spec: { id: 10, provider: 'net1' } },
  state: { tag, problem: undefined, isConflict: false },
  written: { provider: 'net1' },
  subnets: [],
  observed: { observedGeneration: 1 },
  now: Date.UTC(2026, 0, 1),
}
const taken: VlanSnapshot = { ...free, state: { tag, problem: conflict, isConflict: true } }
const told = {
  type: 'Validated',
  status: 'False',
  reason: 'ValidateVlanFailed',
  message: `spec.id "10": ${cure}`,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  lastUpdateTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
}

/** What the status says after a Vlan said this before. */
function statusOf(vlan: VlanSnapshot, before?: VlanSnapshot['object']['status']): unknown {
  const object = before === undefined ? vlan.object : { ...vlan.object, status: before }
  return shownPatches(desiredVlan({ ...vlan, object }))[1]
}

describe('desiredVlan', () => {
  it.each<[string, VlanSnapshot, VlanSnapshot['object']['status'], unknown]>([
    ['says nothing of what is not there', free, undefined, { subnets: null, conflict: null }],
    [
      'names the subnets on it',
      { ...free, subnets: ['blue', 'red'] },
      undefined,
      { subnets: ['blue', 'red'], conflict: null },
    ],
    [
      'keeps lists and marks that were there, emptied',
      free,
      { subnets: ['blue'], conflict: true },
      { subnets: [], conflict: false },
    ],
    [
      'tells who has its tag',
      taken,
      undefined,
      { subnets: null, conflict: true, conditions: [expect.objectContaining({ ...told })] },
    ],
    [
      'takes the condition back once it is mended',
      free,
      { conflict: true, conditions: [told] },
      { subnets: null, conflict: false, conditions: [] },
    ],
  ])('%s', (_name, vlan, before, want) => {
    expect(statusOf(vlan, before)).toEqual({
      object: 'vlans/v10/status',
      status: { observedGeneration: 1, ...(want as object) },
    })
  })

  it.each([
    ['a provider', { provider: 'net1' }],
    ['an id that stood in the deprecated field', { provider: 'net1', id: 10 }],
  ])('completes the specification by %s, and writes no rows', (_name, written) => {
    const desired = desiredVlan({ ...free, written })
    expect(shownRows(desired)).toEqual([])
    expect(shownPatches(desired)[0]).toEqual({ object: 'vlans/v10', spec: written })
  })

  it('has an event for what is wrong, and none for an object that it knows no uid of', () => {
    const [event] = desiredVlan(taken).events ?? []
    expect(event).toMatchObject({ type: 'Warning', reason: 'ValidateVlanFailed', message: told.message })
    expect(desiredVlan(free).events).toEqual([])
    const { uid: _uid, ...metadata } = taken.object.metadata
    expect(desiredVlan({ ...taken, object: { ...taken.object, metadata } }).events).toEqual([])
  })
})
