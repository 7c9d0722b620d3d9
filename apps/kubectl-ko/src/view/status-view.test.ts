import type { Pod } from '@kube-ovn/kube'
import { expect, it } from 'vitest'
import type { ClusterFacts, Workload } from '../facts.ts'
import { ageText } from './age-text.ts'
import { statusView } from './status-view.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')
const ready = { conditions: [{ type: 'Ready', status: 'True' as const }] }

function workload(name: string, ready = 1): Workload {
  return {
    metadata: { name, namespace: 'kube-system' },
    status: { desiredNumberScheduled: 1, numberReady: ready },
  }
}

function component(app: string, workload: string): Pod {
  return {
    metadata: {
      name: `${workload}-x`,
      namespace: 'kube-system',
      labels: { app },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: workload, uid: 'u' }],
    },
    spec: {
      nodeName: 'n1',
      hostNetwork: true,
      containers: [{ name: 'c', image: 'registry:5000/kube-ovn/x:v1@sha256:0' }],
    },
    status: { phase: 'Running', ...ready, containerStatuses: [{ name: 'c', restartCount: 2 }] },
  }
}

/** A member of the databases that leads these. */
function central(name: string, ...leads: readonly string[]): Pod {
  return {
    metadata: {
      ...{ name, namespace: 'kube-system' },
      labels: { app: 'ovn-central', ...Object.fromEntries(leads.map((label) => [label, 'true'])) },
    },
    spec: { nodeName: 'n2', hostNetwork: true, containers: [] },
    status: { phase: 'Running', ...ready },
  }
}

const healthy: ClusterFacts = {
  namespace: 'kube-system',
  nodes: [{ metadata: { name: 'n1' }, status: ready }],
  pods: [
    component('ovs', 'ovs-ovn'),
    component('kube-ovn-cni', 'kube-ovn-cni'),
    central('ovn-central-0', 'ovn-nb-leader', 'ovn-sb-leader', 'ovn-northd-leader'),
  ],
  workloads: ['ovn-central', 'kube-ovn-controller', 'ovs-ovn', 'kube-ovn-cni'].map((name) => workload(name)),
  lease: {
    metadata: { name: 'kube-ovn-controller' },
    spec: { holderIdentity: 'c1', renewTime: '2026-01-01T11:59:50Z' },
  },
  subnets: [
    {
      metadata: { name: 's' },
      spec: { vpc: 'v', cidrBlock: '10.0.0.0/24' },
      status: { ...ready, v4usingIPs: 5, v4availableIPs: 245 },
    },
  ],
  vpcs: [],
  controller: undefined,
}

it('finds nothing wrong with what is well', () => {
  const { isHealthy, leader, leaders, components, nodes, subnets } = statusView(healthy, nowMs)
  expect({ isHealthy, leader }).toEqual({ isHealthy: true, leader: 'c1' })
  const own = 'ovn-central-0'
  expect(leaders).toEqual({ nb: own, sb: own, northd: own })
  expect(components.find(({ name }) => name === 'ovs-ovn')).toEqual({
    name: 'ovs-ovn',
    ready: 1,
    wanted: 1,
    restarts: 2,
    version: 'v1',
  })
  expect(nodes).toEqual([{ name: 'n1', isReady: true, isNetworkReady: true, pods: 2, waiting: 0 }])
  expect(subnets).toMatchObject([{ name: 's', used: 5, percentUsed: 2, isReady: true }])
})

const stuck: Pod = {
  metadata: { name: 'web', namespace: 'shop', creationTimestamp: '2026-01-01T11:50:00Z' },
  spec: { nodeName: 'n1', containers: [] },
  status: { phase: 'Pending' },
}

it.each<[string, Partial<ClusterFacts>, string]>([
  [
    'a component that lacks',
    { workloads: healthy.workloads.slice(1) },
    'ovn-central: is not in namespace kube-system',
  ],
  [
    'a component that is not ready',
    { workloads: [...healthy.workloads.slice(0, 3), workload('kube-ovn-cni', 0)] },
    'kube-ovn-cni: 0 of 1 ready',
  ],
  ['that nobody leads', { lease: undefined }, 'kube-ovn-controller: nobody leads: changes wait'],
  [
    'a lease that is not renewed',
    { lease: { metadata: { name: 'l' }, spec: { holderIdentity: 'c1', renewTime: '2026-01-01T11:50:00Z' } } },
    'kube-ovn-controller: nobody leads: changes wait',
  ],
  [
    'that nobody leads a database',
    { pods: [...healthy.pods.slice(0, 2), central('a', 'ovn-nb-leader'), central('b', 'ovn-northd-leader')] },
    'ovn-central: nobody leads OVN_Southbound',
  ],
  [
    'a leader that is not ready',
    {
      pods: [
        ...healthy.pods.slice(0, 2),
        central('a', 'ovn-sb-leader', 'ovn-northd-leader'),
        { ...central('b', 'ovn-nb-leader'), status: { phase: 'Running' } },
      ],
    },
    'ovn-central: nobody leads OVN_Northbound',
  ],
  [
    'a node without Open vSwitch',
    { pods: healthy.pods.slice(1) },
    'Node n1: Open vSwitch or the agent is not ready',
  ],
  [
    'a pod that waits for its network',
    { pods: [...healthy.pods, stuck] },
    'Pod shop/web: has no network for 10m',
  ],
  [
    'a subnet that is nearly full',
    {
      subnets: [
        {
          ...healthy.subnets[0],
          metadata: { name: 's' },
          status: { ...ready, v4usingIPs: 99, v4availableIPs: 1 },
        },
      ],
    },
    'Subnet s: 99 % of its addresses are in use',
  ],
  [
    'a subnet that can not be used',
    {
      subnets: [
        {
          metadata: { name: 's' },
          status: { conditions: [{ type: 'Error', status: 'True', message: 'cidrBlock overlaps' }] },
        },
      ],
    },
    'Subnet s: cidrBlock overlaps',
  ],
])('tells %s', (_what, change, told) => {
  const { problems, isHealthy } = statusView({ ...healthy, ...change }, nowMs)
  expect(isHealthy).toBe(false)
  expect(problems.map(({ object, what }) => `${object}: ${what}`)).toContainEqual(
    expect.stringContaining(told),
  )
  expect(problems.every(({ cure }) => cure !== '')).toBe(true)
})

it('does not call a pod stuck that waits for its images', () => {
  const conditions = [{ type: 'PodReadyToStartContainers', status: 'True' as const }]
  const pulling: Pod = { ...stuck, status: { phase: 'Pending', conditions } }
  expect(statusView({ ...healthy, pods: [...healthy.pods, pulling] }, nowMs).problems).toEqual([])
})

it.each([
  [119_000, '119s'],
  [720_000, '12m'],
  [3 * 3_600_000, '3h'],
  [9 * 86_400_000, '9d'],
])('tells %i ms as %s', (ms, text) => {
  expect(ageText(ms)).toBe(text)
})

it('names pods that wait for their network, those that wait for longest first, and since when', () => {
  const at = (seconds: number): string => new Date(nowMs - seconds * 1000).toISOString()
  const waiting = (name: string, seconds: number, more: object = {}): Pod => ({
    metadata: { name, namespace: 'shop', creationTimestamp: at(1000), ...more },
    spec: { nodeName: 'n1', containers: [] },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: at(seconds) }],
    },
  })
  const unscheduled: Pod = { ...waiting('nowhere', 40), spec: { containers: [] } }
  const pods = [
    ...[waiting('new', 2), waiting('late', 12), waiting('later', 300), unscheduled],
    waiting('goes', 50, { deletionTimestamp: at(1) }),
  ]
  expect(statusView({ ...healthy, pods: [...healthy.pods, ...pods] }, nowMs).slowPods).toEqual([
    { pod: 'shop/later', node: 'n1', isWaiting: true, since: at(300), seconds: 300, ago: '5m' },
    { pod: 'shop/late', node: 'n1', isWaiting: true, since: at(12), seconds: 12, ago: '12s' },
  ])
})

it('names pods that waited for their sandbox, the slowest first, while that is news', () => {
  const started = (name: string, seconds: number, agoMinutes: number): Pod => {
    const readyMs = nowMs - agoMinutes * 60_000
    const at = (ms: number): string => new Date(ms).toISOString()
    return {
      metadata: { name, namespace: 'shop' },
      spec: { nodeName: 'n1', containers: [] },
      status: {
        phase: 'Running',
        conditions: [
          { type: 'PodScheduled', status: 'True', lastTransitionTime: at(readyMs - seconds * 1000) },
          { type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime: at(readyMs) },
        ],
      },
    }
  }
  const at = (seconds: number): string => new Date(nowMs - seconds * 1000).toISOString()
  const pods = [
    started('quick', 2, 1),
    started('slow', 9, 1),
    started('slower', 30, 10),
    started('old', 50, 90),
  ]
  expect(statusView({ ...healthy, pods: [...healthy.pods, ...pods] }, nowMs).slowPods).toEqual([
    { pod: 'shop/slower', node: 'n1', isWaiting: false, since: at(630), seconds: 30, ago: '10m' },
    { pod: 'shop/slow', node: 'n1', isWaiting: false, since: at(69), seconds: 9, ago: '60s' },
  ])
})

it('tells of a controller that is stuck, and of one that does not dare to delete', () => {
  const controller = { queued: 3, inWork: 1, longestSeconds: 90, drift: [], orphansHeld: 60 }
  expect(statusView({ ...healthy, controller }, nowMs).problems.map(({ what }) => what)).toEqual([
    'works on one key for 90s',
    'holds the deletion of 60 rows that nobody owns: they are too many to be right',
  ])
})
