import type { Node, Pod } from '@kube-ovn/kube-api/core'
import { ip, node, pod, type PodFields } from '@kube-ovn/testing-builders'
import { expect, it } from 'vitest'
import { stillWorld, type StillObjects } from '../testing/still-world.ts'
import { lostInMs } from './lost.ts'

const second = 1000
const onN1: PodFields = { name: 'web', node: 'n1', phase: 'Running' }
const notReady = node({ isReady: false })
const outOfService: Node = {
  ...node(),
  spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
}
const tainted: Node = {
  ...node(),
  spec: { taints: [{ key: 'node.kubernetes.io/disk', effect: 'NoSchedule' }] },
}
const silent: Node = { ...node(), status: {} }
const ofSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u1' }
const ofMachine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'u2' }
const recorded = { ips: [ip({ name: 'web.default', podName: 'web', namespace: 'default', subnet: 'blue' })] }

/** A pod whose deletion ended, or ends, then, with half a minute of grace. */
function deleted(fields: PodFields, { endedMs }: { readonly endedMs: number }): Pod {
  const plain = pod(fields)
  const deletionTimestamp = new Date(endedMs).toISOString()
  return { ...plain, metadata: { ...plain.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 } }
}

it.each<{ name: string; pod: Pod; objects?: StillObjects; want: number | undefined }>([
  { name: 'on a node that is gone at once', pod: deleted(onN1, { endedMs: -30 * second }), want: 0 },
  {
    name: 'on a node that is not ready at once',
    pod: deleted(onN1, { endedMs: -30 * second }),
    objects: { nodes: [notReady] },
    want: 0,
  },
  {
    name: 'on a node that never said how it is at once',
    pod: deleted(onN1, { endedMs: -30 * second }),
    objects: { nodes: [silent] },
    want: 0,
  },
  {
    name: 'on a node that is out of service at once',
    pod: deleted(onN1, { endedMs: -30 * second }),
    objects: { nodes: [outOfService] },
    want: 0,
  },
  {
    name: 'with records of its addresses at once, all the same',
    pod: deleted(onN1, { endedMs: -30 * second }),
    objects: { nodes: [notReady], ...recorded },
    want: 0,
  },
  {
    name: 'when it is over, if the grace period still goes on',
    pod: deleted(onN1, { endedMs: 12 * second }),
    objects: { nodes: [notReady] },
    want: 42 * second,
  },
  {
    name: 'never while its node works',
    pod: deleted(onN1, { endedMs: -30 * second }),
    objects: { nodes: [tainted], ...recorded },
    want: undefined,
  },
  {
    name: 'for good, also when its node works again',
    pod: deleted(onN1, { endedMs: -30 * second }),
    objects: { nodes: [node()] },
    want: 0,
  },
  {
    name: 'never while the grace period goes on and its node works, whether it has any or not',
    pod: deleted(onN1, { endedMs: -29 * second }),
    objects: { nodes: [node()] },
    want: undefined,
  },
  { name: 'never unless it is being deleted', pod: pod(onN1), want: undefined },
  {
    name: "never if they are a StatefulSet's",
    pod: deleted({ ...onN1, name: 'web-0', ownerReferences: [ofSet] }, { endedMs: -30 * second }),
    want: undefined,
  },
  {
    name: "never if they are a machine's",
    pod: deleted({ ...onN1, ownerReferences: [ofMachine] }, { endedMs: -30 * second }),
    want: undefined,
  },
])('a pod gives its addresses back $name', ({ pod: given, objects = {}, want }) => {
  const world = stillWorld({ pods: [given], ...objects }, {})
  expect(lostInMs(given, { ...world, now: () => 0 })).toBe(want)
})
