import { podAnnotations, primaryProvider } from '@kube-ovn/annotations'
import { isMachineKept, isMemberKept, kindOf, type Lease } from '@kube-ovn/ipam'
import type { PodTemplate } from '@kube-ovn/kube-api/core'
import type { Ip, VirtualMachine } from '@kube-ovn/kube-api'
import { podPortProvider } from '@kube-ovn/ovn-names'
import { writtenMac } from '../addresses/written-mac.ts'
import { isEnding, subnetsOfNamespace } from '../topology/namespace-bindings.ts'
import type { ControlWorld } from '../world.ts'
import { kindOfRecord, statefulSetOf } from './holder.ts'

/** A lease that outlives its pod, because that comes back. */
export interface KeptNic {
  readonly port: string
  /** Absent while its subnet is not in effect, as after a bad edit and a restart: then only the record is left. */
  readonly lease: Lease | undefined
  readonly record: Ip
  /** False for a NIC of another CNI. */
  readonly hasPort: boolean
}

/** Who will make the pod of a record again. */
interface Workload {
  readonly template: PodTemplate | undefined
  /** The networks that the pod will be in beside the first one, if that is known. */
  readonly networks: readonly string[] | undefined
}

/**
 * Finds the leases that stay although there is no pod at present: those of a StatefulSet's member that the set will
 * make again, and of a machine that may be started again, for as long as these would get their addresses from the same
 * subnet.
 *
 * Whoever deletes the record takes the addresses away.
 */
export function keptNics(records: readonly Ip[], world: ControlWorld): readonly KeptNic[] {
  return records.flatMap((record): readonly KeptNic[] => {
    const { name: port, deletionTimestamp } = record.metadata
    const lease = world.ipam.lease(port)
    if (deletionTimestamp !== undefined) return []
    if (lease === undefined) return isDormant(record, world) ? [{ port, lease, record, hasPort: false }] : []
    // Records do not tell which set of the name it was; leases of this process do.
    const setUid = kindOf(lease.owner) === 'statefulset-pod' ? lease.uid : undefined
    const workload = workloadOf(record, world, setUid)
    const isKept = workload !== undefined && isSameNetwork(record, lease, workload, world)
    const hasPort = world.attachments.get(lease.subnet)?.hasSwitch === true
    const mac = writtenMac(lease.mac, [record.spec?.macAddress])
    return isKept ? [{ port, lease: { ...lease, mac }, record, hasPort }] : []
  })
}

/** Whether the pod of the record will be made again, and its subnet is there without being in effect. */
function isDormant(record: Ip, world: ControlWorld): boolean {
  const { subnet = '' } = record.spec ?? {}
  return (
    world.subnetLives.get(subnet) !== undefined &&
    world.attachments.get(subnet) === undefined &&
    isAwaited(record, world)
  )
}

/** Whether the pod of the record will be made again. */
export function isAwaited(record: Ip, world: ControlWorld): boolean {
  return workloadOf(record, world) !== undefined
}

function workloadOf(record: Ip, world: ControlWorld, setUid?: string): Workload | undefined {
  switch (kindOfRecord(record)) {
    case 'statefulset-pod':
      return setOfMember(record, world, setUid)
    case 'vm':
      return machineOf(record, world)
    case 'pod':
      return undefined
  }
}

function setOfMember(record: Ip, world: ControlWorld, setUid?: string): Workload | undefined {
  const set = world.statefulSets.get(statefulSetOf(record) ?? '')
  if (set === undefined) return undefined
  const { uid = '', deletionTimestamp } = set.metadata
  const { replicas = 1, ordinals, template } = set.spec ?? {}
  const isDeleting = deletionTimestamp !== undefined
  const facts = { uid, isDeleting, start: ordinals?.start ?? 0, replicas }
  return isMemberKept(record.spec?.podName ?? '', setUid ?? uid, facts)
    ? { template, networks: undefined }
    : undefined
}

function machineOf(record: Ip, world: ControlWorld): Workload | undefined {
  if (!world.settings.keepVmIp) return undefined
  const { namespace = '', podName = '' } = record.spec ?? {}
  const machine = world.machines.get(`${namespace}/${podName}`)
  const instance = world.machineInstances.get(`${namespace}/${podName}`)
  const isDeleted = (object: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean =>
    object.metadata.deletionTimestamp !== undefined
  const isKept = isMachineKept({
    machine: machine && { isDeleting: isDeleted(machine) },
    instance: instance && {
      isAlive: instance.status?.phase !== 'Succeeded' && instance.status?.phase !== 'Failed',
      isDeleting: isDeleted(instance),
    },
  })
  if (!isKept) return undefined
  return { template: machine?.spec?.template, networks: machine && networksOf(machine) }
}

/** Providers of the networks that a machine is plugged into. */
function networksOf({ metadata, spec }: VirtualMachine): readonly string[] {
  return (spec?.template?.spec?.networks ?? []).flatMap(({ multus }) => {
    if (multus?.networkName === undefined) return []
    const [name = '', namespace = metadata.namespace ?? ''] = multus.networkName.split('/').reverse()
    return [`${name}.${namespace}.${primaryProvider}`]
  })
}

/** Whether the pod that comes back is to have the addresses where they are. */
function isSameNetwork(record: Ip, lease: Lease, workload: Workload, world: ControlWorld): boolean {
  const network = world.attachments.get(lease.subnet)
  if (network === undefined || isEnding(lease.subnet, world)) return false
  const { namespace = '', podName = '' } = record.spec ?? {}
  const provider = podPortProvider(namespace, podName, record.metadata.name)
  const template = workload.template?.metadata?.annotations
  const keys = podAnnotations(provider)
  const named = template?.[keys.logicalSwitch.key] ?? ''
  if (named !== '') return named === lease.subnet
  if (provider !== primaryProvider) {
    const isPlugged = workload.networks?.some((one) => provider === one || provider.startsWith(`${one}.`))
    return isPlugged !== false && provider.startsWith(network.provider)
  }
  // An IPPool has its own subnet, which the namespace need not be bound to.
  if (world.pools.get(template?.[keys.ipPool.key] ?? '')?.subnet === lease.subnet) return true
  if (world.namespaceBindings.get(namespace) === undefined) return false
  return subnetsOfNamespace(namespace, world).includes(lease.subnet)
}
