import { randomBytes } from 'node:crypto'
import { podAnnotations } from '@kube-ovn/annotations'
import { changingWorld } from '@kube-ovn/domains-control/testing/still-world'
import { formatIpList } from '@kube-ovn/ip'
import type { Pod, StatefulSet } from '@kube-ovn/kube-api/core'
import { ip, namespace, pod, statefulSet, subnet, type PodFields } from '@kube-ovn/testing-builders'
import { defaultsOf } from '@kube-ovn/process'
import { expect, it } from 'vitest'
import { podPortFeature } from './feature.ts'

const keys = podAnnotations()
const move = { 'kubevirt.io/migrationJobName': 'move' }
const instance = (uid: string) => [
  { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid },
]

/** A namespace whose pods are in `ovn-default`, and what becomes of pods there. */
function scene(settings: { readonly keepVmIp?: boolean } = {}) {
  const { world, derived, put, start } = changingWorld(
    {
      namespaces: [namespace({ name: 'default' })],
      subnets: [
        subnet({ name: 'ovn-default', cidrBlock: '10.16.0.0/24' }),
        subnet({ name: 'blue', cidrBlock: '10.17.0.0/24' }),
      ],
    },
    {},
    {
      settings: { ...settings, flags: defaultsOf(podPortFeature.flags ?? {}) },
      randomBytes: (count) => randomBytes(count),
    },
  )
  start()
  /** Looks at a pod, and answers what its port has, and whether that waits for the pod to come back. */
  const lookAt = (key: string): { readonly has: string; readonly isKept: boolean } => {
    derived.settle()
    const facts = podPortFeature.observe(key, world)
    const { snapshot } = podPortFeature.allocate?.(key, facts, world) ?? {}
    const has = formatIpList(world.ipam.lease(`${key.split('/')[1]}.default`) ?? {})
    return { has, isKept: (snapshot?.kept ?? []).length > 0 }
  }
  return { put, lookAt, look: (key: string) => lookAt(key).has }
}

function launcher(name: string, fields: PodFields = {}): Pod {
  return pod({ name, node: 'n1', ownerReferences: instance('i1'), ...fields })
}

it('a member that outlived its StatefulSet is that of the one which has it now, and keeps its addresses when it is deleted then', () => {
  const { put, look, lookAt } = scene()
  const set = (uid: string): StatefulSet => {
    const plain = statefulSet()
    return { ...plain, metadata: { ...plain.metadata, uid } }
  }
  const member = (uid: string, annotations = {}): Pod => {
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid }]
    return pod({ name: 'db-0', node: 'n1', ownerReferences, annotations })
  }
  put('statefulSets', 'default/db', set('former'))
  put('pods', 'default/db-0', member('former'))
  const address = look('default/db-0')
  expect(address).toBe('10.16.0.2')
  const record = { podName: 'db-0', namespace: 'default', subnet: 'ovn-default', podType: 'StatefulSet' }
  put(
    'ips',
    'db-0.default',
    ip({
      name: 'db-0.default',
      ...record,
      v4IpAddress: address,
      labels: { 'ovn.kubernetes.io/ip_reserved': 'false' },
    }),
  )

  // As after `kubectl delete --cascade=orphan`.
  put('statefulSets', 'default/db', set('latter'))
  const told = { [keys.allocated.key]: 'true', [keys.ipAddress.key]: address }
  put('pods', 'default/db-0', member('latter', told))
  expect(look('default/db-0')).toBe(address)
  put('pods', 'default/db-0', undefined)
  expect(lookAt('default/db-0')).toEqual({ has: address, isKept: true })
  put('statefulSets', 'default/db', set('third'))
  expect(lookAt('default/db-0').isKept).toBe(false)
})

it('a machine that moves keeps its addresses although its namespace is bound to another subnet by then', () => {
  const { put, look } = scene()
  put('pods', 'default/source', launcher('source'))
  const address = look('default/vm')
  expect(address).toBe('10.16.0.2')
  const told = { [keys.allocated.key]: 'true', [keys.ipAddress.key]: address }
  put('pods', 'default/source', launcher('source', { annotations: told }))
  put('subnets', 'blue', subnet({ name: 'blue', cidrBlock: '10.17.0.0/24', namespaces: ['default'] }))
  put('pods', 'default/target', launcher('target', { node: 'n2', annotations: move }))
  expect(look('default/vm')).toBe(address)
})

it.each<[name: string, fields: PodFields, has: string]>([
  ['of the same machine', {}, '10.16.0.2'],
  ['of no machine', { ownerReferences: [] }, ''],
  ['of another machine', { ownerReferences: instance('i2') }, ''],
  ['that does not move', { annotations: {} }, ''],
])('gives a pod %s what another pod has only while a machine moves between both', (_name, fields, has) => {
  const { put, look } = scene({ keepVmIp: false })
  put('pods', 'default/source', launcher('source'))
  const address = look('default/source')
  const asks = { [keys.ipAddress.key]: address }
  const annotations = { ...asks, ...(fields.annotations ?? move) }
  put('pods', 'default/target', launcher('target', { ...fields, annotations }))
  expect([look('default/target'), look('default/source')]).toEqual([has, address])
})

it('gives nobody the address of the gateway, whatever it says of a move', () => {
  const { put, look } = scene({ keepVmIp: false })
  const annotations = { ...move, [keys.ipAddress.key]: '10.16.0.1' }
  put('pods', 'default/target', launcher('target', { annotations }))
  expect(look('default/target')).toBe('')
})
