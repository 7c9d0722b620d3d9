import { providerNetwork } from '@kube-ovn/testing-builders'
import { shownPatches } from '@kube-ovn/domains-control/testing/shown'
import { expect, it } from 'vitest'
import { desiredStatus } from './desired.ts'

const object = providerNetwork({ name: 'quay' })
const base = { name: 'quay', object, nodes: [], vlans: [], observed: { observedGeneration: 1 }, now: 1000 }
const at = '1970-01-01T00:00:01Z'
const times = { lastUpdateTime: at, lastTransitionTime: at }

it('says of each node whether it is connected, and why not', () => {
  const nodes = [
    { name: 'n1', isReady: true, problem: 'of before' },
    { name: 'n2', isReady: false, problem: 'there is no link eth1' },
    { name: 'n3', isReady: false, problem: undefined },
  ]
  const failed = { type: 'Ready', status: 'False', reason: 'InitOVSBridgeFailed', observedGeneration: 1 }
  expect(shownPatches(desiredStatus({ ...base, nodes, vlans: ['v10'] }))).toEqual([
    {
      object: 'provider-networks/quay/status',
      status: {
        observedGeneration: 1,
        ready: false,
        readyNodes: ['n1'],
        notReadyNodes: ['n2', 'n3'],
        vlans: ['v10'],
        conditions: [
          {
            ...{ type: 'Ready', status: 'True', reason: 'InitOVSBridgeSucceeded' },
            ...{ observedGeneration: 1, ...times, node: 'n1' },
          },
          { ...failed, message: 'there is no link eth1', ...times, node: 'n2' },
          { ...failed, message: 'its agent has yet to connect it', ...times, node: 'n3' },
        ],
      },
    },
  ])
})

it('is ready where no node takes part, and has no lists that say nothing', () => {
  const none = { readyNodes: null, notReadyNodes: null, vlans: null, conditions: null }
  expect(shownPatches(desiredStatus(base))[0]?.['status']).toEqual({
    observedGeneration: 1,
    ready: true,
    ...none,
  })
})

it('empties lists in which there is nothing any more, and keeps times of what is as it was', () => {
  const nodes = [{ name: 'n1', isReady: true, problem: undefined }]
  const [first] = shownPatches(desiredStatus({ ...base, nodes, vlans: ['v10'] }))
  const written = first?.['status'] as typeof object.status
  const { notReadyNodes: _null, ...status } = { ...written }
  const before = { ...base, object: { ...object, status }, now: 99_000 }
  expect(shownPatches(desiredStatus({ ...before, nodes, vlans: ['v10'] }))).toEqual([first])
  expect(shownPatches(desiredStatus(before))[0]?.['status']).toMatchObject({
    ready: true,
    readyNodes: [],
    vlans: [],
    conditions: [],
  })
})
