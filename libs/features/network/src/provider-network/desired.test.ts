import { providerNetwork } from '@kube-ovn/testing-builders'
import { shownPatches } from '@kube-ovn/domains-control/testing/shown'
import { expect, it } from 'vitest'
import { desiredNetwork, type ProviderNetworkSnapshot } from './desired.ts'

const object = providerNetwork({ name: 'quay' })
const base = {
  name: 'quay',
  object,
  nodes: [],
  vlans: [],
  subnets: [],
  observed: { observedGeneration: 1 },
  now: 1000,
}
const at = '1970-01-01T00:00:01Z'
const times = { lastUpdateTime: at, lastTransitionTime: at }

function shown(network: ProviderNetworkSnapshot, object: string) {
  return shownPatches(desiredNetwork(network)).filter((patch) => patch['object'] === object)
}

const shownStatus = (network: ProviderNetworkSnapshot) => shown(network, 'provider-networks/quay/status')

it('says of each node whether it is connected, and why not', () => {
  const nodes = [
    { name: 'n1', isReady: true, problem: 'of before' },
    { name: 'n2', isReady: false, problem: 'there is no link eth1' },
    { name: 'n3', isReady: false, problem: undefined },
  ]
  const failed = { type: 'Ready', status: 'False', reason: 'InitOVSBridgeFailed', observedGeneration: 1 }
  expect(shownStatus({ ...base, nodes, vlans: ['v10'] })).toEqual([
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
  expect(shownStatus(base)[0]?.['status']).toEqual({
    observedGeneration: 1,
    ready: true,
    ...none,
  })
})

it('empties lists in which there is nothing any more, and keeps times of what is as it was', () => {
  const nodes = [{ name: 'n1', isReady: true, problem: undefined }]
  const [first] = shownStatus({ ...base, nodes, vlans: ['v10'] })
  const written = first?.['status'] as typeof object.status
  const { notReadyNodes: _null, ...status } = { ...written }
  const before = { ...base, object: { ...object, status }, now: 99_000 }
  expect(shownStatus({ ...before, nodes, vlans: ['v10'] })).toEqual([first])
  expect(shownStatus(before)[0]?.['status']).toMatchObject({
    ready: true,
    readyNodes: [],
    vlans: [],
    conditions: [],
  })
})

const ours = 'kubeovn.io/kube-ovn-controller'
const deletionTimestamp = '2026-01-01T00:00:00Z'

it.each([
  { of: 'one that nobody is on', metadata: {}, on: {}, want: undefined },
  { of: 'one that a Vlan is on', metadata: {}, on: { vlans: ['v10'] }, want: [ours] },
  {
    of: 'one that a subnet is on, whose Vlan is gone',
    metadata: { finalizers: ['theirs', 'kube-ovn-controller'] },
    on: { subnets: ['yard'] },
    want: ['theirs', ours],
  },
  { of: 'one that everybody has left', metadata: { finalizers: [ours] }, on: {}, want: [] },
  {
    of: 'one that is deleted while somebody is on it',
    metadata: { finalizers: [ours], deletionTimestamp },
    on: { vlans: ['v10'] },
    want: undefined,
  },
  {
    of: 'one that is deleted, and free',
    metadata: { finalizers: [ours, 'theirs'], deletionTimestamp },
    on: {},
    want: ['theirs'],
  },
])('writes the finalizers of $of', ({ metadata, on, want }) => {
  const network = { ...base, object: { ...object, metadata: { name: 'quay', ...metadata } }, ...on }
  const patches = shown(network, 'provider-networks/quay')
  expect(patches.map((patch) => patch['metadata'])).toEqual(want === undefined ? [] : [{ finalizers: want }])
})

it('says who keeps it from going, once, beside the conditions of nodes, and no more when it is not deleted', () => {
  const nodes = [{ name: 'n1', isReady: true, problem: undefined }]
  const metadata = { name: 'quay', uid: 'u', finalizers: [ours], deletionTimestamp }
  const held = { ...base, nodes, vlans: ['v10', 'v11'], object: { ...object, metadata } }
  const told = { ...held, subnets: ['yard'] }
  const message =
    'the network has the Vlans v10, v11 and the Subnets yard: delete them, or put them on another network, first'
  expect(desiredNetwork(told).events).toMatchObject([{ reason: 'ProviderNetworkInUse', message }])
  const status = shownStatus(told)[0]?.['status'] as NonNullable<typeof object.status>
  expect(status.conditions).toMatchObject([
    { type: 'Ready', node: 'n1' },
    { type: 'Error', status: 'True', reason: 'ProviderNetworkInUse', message, observedGeneration: 1 },
  ])
  const again = { ...told, object: { ...told.object, status }, now: 99_000 }
  expect(desiredNetwork(again).events).toEqual([])
  expect(shownStatus(again)[0]?.['status']).toMatchObject({ conditions: status.conditions })
  const anew = { ...again, object: { ...object, status } }
  expect(shownStatus(anew)[0]?.['status']).toMatchObject({ conditions: [{ node: 'n1' }] })
})
