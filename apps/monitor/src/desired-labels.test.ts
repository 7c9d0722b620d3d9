import type { Pod } from '@kube-ovn/kube'
import { expect, it } from 'vitest'
import { desiredLabels } from './desired-labels.ts'
import type { Role } from './roles.ts'

function central(node: string, labels: Readonly<Record<string, string>> = {}, isReady = true): Pod {
  return {
    metadata: { name: `on-${node}`, namespace: 'kube-system', labels: { app: 'ovn-central', ...labels } },
    spec: { nodeName: node, containers: [] },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  }
}

const [leads, follows] = ['true', 'false']
const known = new Map<Role, boolean>([
  ['nb', true],
  ['sb', false],
  ['northd', true],
])

it('writes what the member of this node is, on its pod alone', () => {
  expect(desiredLabels([central('a'), central('b')], 'a', known)).toEqual([
    {
      ...{ name: 'on-a', namespace: 'kube-system' },
      labels: { 'ovn-nb-leader': 'true', 'ovn-sb-leader': 'false', 'ovn-northd-leader': 'true' },
    },
  ])
})

it('writes only what differs, and nothing that is not known yet', () => {
  const pod = central('a', { 'ovn-nb-leader': leads, 'ovn-sb-leader': leads })
  expect(desiredLabels([pod], 'a', known)).toEqual([
    expect.objectContaining({ labels: { 'ovn-sb-leader': 'false', 'ovn-northd-leader': 'true' } }),
  ])
  expect(desiredLabels([pod], 'a', new Map([['nb', true]]))).toEqual([])
  expect(desiredLabels([pod], 'a', new Map())).toEqual([])
})

it('takes a label from a pod whose node is gone, and leaves those of pods that are ready to their monitors', () => {
  const stale = { 'ovn-nb-leader': leads, 'ovn-sb-leader': leads, 'ovn-northd-leader': follows }
  const own = central('a', { 'ovn-nb-leader': leads, 'ovn-sb-leader': follows, 'ovn-northd-leader': leads })
  expect(desiredLabels([own, central('b', stale, false), central('c', stale)], 'a', known)).toEqual([
    { name: 'on-b', namespace: 'kube-system', labels: { 'ovn-nb-leader': 'false' } },
  ])
})
