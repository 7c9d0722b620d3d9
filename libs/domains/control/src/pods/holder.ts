import { ownerOf, type Owner, type OwnerKind } from '@kube-ovn/ipam'
import type { Pod } from '@kube-ovn/kube-api/core'
import { instanceOf } from '@kube-ovn/kube-api'
import type { Ip } from '@kube-ovn/kube-api'
import type { ControlSettings } from '../settings.ts'

/** Who has a pod's addresses: the pod itself, or what it is only one life of. */
export interface Holder {
  readonly kind: Extract<OwnerKind, 'pod' | 'statefulset-pod' | 'vm'>
  readonly namespace: string
  /** What ports and records are named after. */
  readonly name: string
  /** Of whom the addresses are: the pod, or the StatefulSet. Machines are the same ones as long as they have the name. */
  readonly uid: string | undefined
}

/** Types of IP objects whose addresses outlive a pod. */
const stickyPodTypes = { 'statefulset-pod': 'StatefulSet', vm: 'VirtualMachine' } as const

/** Kinds under which the addresses of a pod may be held, by name. */
const ownerKinds: readonly OwnerKind[] = [
  'pod',
  'statefulset-pod',
  'vm',
  'service-pod',
  'reservation',
  'port',
]

/** Finds out who has the addresses of a pod. */
export function holderOf(pod: Pod, { keepVmIp }: Pick<ControlSettings, 'keepVmIp'>): Holder {
  const { namespace = '', name, uid, ownerReferences = [] } = pod.metadata
  const instance = keepVmIp ? instanceOf(ownerReferences) : undefined
  if (instance !== undefined) return { kind: 'vm', namespace, name: instance.name, uid: undefined }
  const set = ownerReferences.find(
    ({ apiVersion, kind }) => kind === stickyPodTypes['statefulset-pod'] && apiVersion.startsWith('apps/'),
  )
  return set !== undefined && name.startsWith(set.name)
    ? { kind: 'statefulset-pod', namespace, name, uid: set.uid }
    : { kind: 'pod', namespace, name, uid }
}

/** The key under which all that concerns the holder is decided: `namespace/name`. */
export function holderKey({ namespace, name }: Pick<Holder, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}

export function ownerOfHolder(holder: Holder): Owner {
  return ownerOf(holder.kind, holderKey(holder))
}

/** Every owner that stands for the holder of this key. */
export function ownersOfKey(key: string): readonly Owner[] {
  return ownerKinds.map((kind) => ownerOf(kind, key))
}

/** The type that the IP objects of a holder have. */
export function podTypeOf(kind: Holder['kind']): string {
  return kind === 'pod' ? '' : stickyPodTypes[kind]
}

/** The kind of owner that a record is of. */
export function kindOfRecord({ spec }: Ip): Holder['kind'] {
  switch (spec?.podType) {
    case stickyPodTypes['statefulset-pod']:
      return 'statefulset-pod'
    case stickyPodTypes.vm:
      return 'vm'
    default:
      return 'pod'
  }
}

/** `namespace/name` of the StatefulSet that a record's pod was a member of. */
export function statefulSetOf(record: Ip): string | undefined {
  if (kindOfRecord(record) !== 'statefulset-pod') return undefined
  const { podName = '', namespace = '' } = record.spec ?? {}
  const name = /^(.+)-\d+$/.exec(podName)?.[1]
  return name === undefined ? undefined : `${namespace}/${name}`
}
