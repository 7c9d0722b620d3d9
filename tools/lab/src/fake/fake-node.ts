import { nodeAnnotations } from '@kube-ovn/annotations'
import type { Lease, Node, Pod } from '@kube-ovn/kube'
import { ofStack, type AddressPair, type Stack } from '../cluster/topology.ts'

/** A node without a machine: an object of the API and a chassis of the Southbound. */
export interface FakeNode {
  readonly name: string
  /** From 1. */
  readonly number: number
}

/** Marks fake nodes, and keeps away from them what does not ask for them. */
export const fakeNodeKey = 'kube-ovn.io/fake-node'

/** kubelet's own defaults. */
const leaseDurationSeconds = 40
export const leaseRenewalMs = 10_000

/** So many fake nodes, `fake-1` and so on. */
export function fakeNodes(count: number): FakeNode[] {
  return Array.from({ length: count }, (_, index) => ({ name: `fake-${index + 1}`, number: index + 1 }))
}

/** Where a fake node claims to be. The ranges are those set aside for benchmarks (RFC 2544, RFC 5180): nobody is there. */
export function fakeAddresses({ number }: FakeNode, network: 'kubernetes' | 'tunnel'): AddressPair {
  const second = network === 'kubernetes' ? 19 : 18
  return {
    ipv4: `198.${second}.${number >> 8}.${number & 255}`,
    ipv6: `2001:2:0:${second}::${number.toString(16)}`,
  }
}

/**
 * The Node as its kubelet would register it.
 *
 * Without the label `kubernetes.io/os`, so that DaemonSets for Linux start nothing on it, and with a taint against everybody else.
 */
export function nodeObject(node: FakeNode, stack: Stack, now: Date): Node {
  const addresses = ofStack(stack, fakeAddresses(node, 'kubernetes'))
  const time = secondsOf(now)
  const resources = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '1000' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node.name,
      labels: { 'kubernetes.io/hostname': node.name, [fakeNodeKey]: '' },
      annotations: { [nodeAnnotations.chassis.key]: node.name },
    },
    spec: { taints: [{ key: fakeNodeKey, effect: 'NoSchedule' }] },
    status: {
      ...{ capacity: resources, allocatable: resources },
      addresses: [
        ...addresses.map((address) => ({ type: 'InternalIP' as const, address })),
        { type: 'Hostname', address: node.name },
      ],
      conditions: ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
        type,
        status: type === 'Ready' ? 'True' : 'False',
        ...{ lastHeartbeatTime: time },
        lastTransitionTime: time,
        reason: 'Fake',
        message: 'there is no machine behind this node',
      })),
    },
  }
}

/** The sign of life of a kubelet; it goes with its Node. */
export function leaseObject({ name }: FakeNode, nodeUid: string, now: Date): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name,
      namespace: 'kube-node-lease',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: nodeUid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime: microsecondsOf(now) },
  }
}

/** What kubelet writes about a pod whose containers all run and are ready. */
export function runningStatus(
  pod: Pod,
  hostIps: readonly string[],
  podIps: readonly string[],
  now: Date,
): object {
  const time = secondsOf(now)
  const conditions = [
    'PodScheduled',
    'Initialized',
    'PodReadyToStartContainers',
    'ContainersReady',
    'Ready',
  ].map((type) => ({ type, status: 'True', lastTransitionTime: time }))
  return {
    phase: 'Running',
    startTime: time,
    hostIP: hostIps[0],
    hostIPs: hostIps.map((ip) => ({ ip })),
    ...(podIps.length === 0 ? {} : { podIP: podIps[0], podIPs: podIps.map((ip) => ({ ip })) }),
    conditions,
    containerStatuses: pod.spec.containers.map(({ name, image = '' }) => ({
      name,
      image,
      ...{
        imageID: '',
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt: time } },
      },
    })),
  }
}

/** metav1.Time has no fractions, MicroTime has six digits. */
function secondsOf(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z')
}

function microsecondsOf(time: Date): string {
  return time.toISOString().replace('Z', '000Z')
}
