import { podAnnotations, readPodNetwork, readPodRequest } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { formatIpList } from '@kube-ovn/ip'
import { ownerOf, type AllocateRequest, type Lease } from '@kube-ovn/ipam'
import type { Pod } from '@kube-ovn/kube-api/core'
import type { Ip } from '@kube-ovn/kube-api'
import { podPortName } from '@kube-ovn/ovn-names'
import { addressesOf, isReservation, requestOf } from '../addresses/recorded.ts'
import { subnetsOfNamespace } from '../topology/namespace-subnets.ts'
import type { Network } from '../topology/network.ts'
import type { ControlWorld } from '../world.ts'
import { storeIndex } from '../world.ts'
import { needsPort } from './alive.ts'
import { PodSubnetUnavailableError } from './errors.ts'

/** What decides about the port of a pod's first network. */
export interface PodSnapshot {
  readonly namespace: string
  readonly name: string
  /** Records of the pod's addresses. */
  readonly ipObjects: readonly Ip[]
  /** Absent when the pod has no use for a port (any more). */
  readonly pod: PodNeeds | undefined
  /** Why the addresses that a user reserves can not be had. */
  readonly problem?: KubeOvnError
}

export interface PodNeeds {
  readonly uid: string
  readonly node: string
  readonly nicType: string
  /** The annotations already say what the lease says. */
  readonly isAnnotated: boolean
  readonly hasNicType: boolean
  readonly placement: { readonly network: Network; readonly lease: Lease } | undefined
  /** Why there is no placement. */
  readonly problem: KubeOvnError | undefined
}

/** Reads a pod and sees that it has addresses. Asking again gives the same ones. */
export function observePod(key: string, world: ControlWorld): PodSnapshot | undefined {
  const [namespace = '', name = ''] = key.split('/')
  const object = world.pods.get(key)
  const ipObjects = world.ips.find(storeIndex.ipsByPod, key)
  if (object === undefined || !needsPort(object)) {
    world.unplacedPods.delete(key)
    const problem = keepReservation(podPortName(namespace, name), key, world)
    if (ipObjects.length === 0) return undefined
    return { namespace, name, ipObjects, pod: undefined, ...(problem === undefined ? {} : { problem }) }
  }
  const pod = observeNeeds(key, object, world)
  if (pod.placement === undefined) world.unplacedPods.add(key)
  else world.unplacedPods.delete(key)
  return { namespace, name, ipObjects, pod }
}

/** Without a pod, a NIC has the addresses that a user reserved for it, or none. */
function keepReservation(nic: string, key: string, world: ControlWorld): KubeOvnError | undefined {
  const object = world.ips.get(nic)
  if (object !== undefined && isReservation(object) && object.metadata.deletionTimestamp === undefined) {
    return reserve(object, key, world)
  }
  const released = world.ipam.release(nic, ownerOf('pod', key))
  if (released !== undefined) world.raise('addresses', released.subnet)
  return undefined
}

function reserve(object: Ip, key: string, world: ControlWorld): KubeOvnError | undefined {
  const recorded = addressesOf(object)
  const { name: nic } = object.metadata
  if (recorded === undefined || world.ipam.lease(nic) !== undefined) return undefined
  try {
    const { subnet } = world.ipam.allocate({
      subnet: object.spec?.subnet ?? '',
      nic,
      owner: ownerOf('reservation', key),
      ...requestOf(recorded),
    })
    world.raise('usage', subnet)
    return undefined
  } catch (error) {
    if (error instanceof KubeOvnError) return error
    throw error
  }
}

function observeNeeds(key: string, object: Pod, world: ControlWorld): PodNeeds {
  const annotations = object.metadata.annotations
  const base = {
    uid: object.metadata.uid ?? '',
    node: object.spec?.nodeName ?? '',
    nicType: world.settings.podNicType,
    hasNicType: (annotations?.[podAnnotations().podNicType.key] ?? '') !== '',
  }
  try {
    const placement = place(key, object, world)
    return { ...base, placement, isAnnotated: isAnnotated(object, placement.lease), problem: undefined }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { ...base, placement: undefined, isAnnotated: false, problem: error }
  }
}

interface Placement {
  readonly network: Network
  readonly lease: Lease
}

function place(key: string, pod: Pod, world: ControlWorld): Placement {
  const nic = podPortName(pod.metadata.namespace ?? '', pod.metadata.name)
  const held = world.ipam.lease(nic)
  const network = held === undefined ? undefined : world.networks.get(held.subnet)
  if (held !== undefined && network !== undefined) return { network, lease: held }
  const request = readPodRequest(pod.metadata.annotations)
  const subnets = request.logicalSwitch === undefined ? candidates(pod, world) : [request.logicalSwitch]
  const { addresses, mac, family } = request
  return firstThatFits(subnets, world, { nic, owner: ownerOf('pod', key), static: addresses, mac, family })
}

function candidates(pod: Pod, world: ControlWorld): readonly string[] {
  const namespace = world.namespaces.get(pod.metadata.namespace ?? '')
  return namespace === undefined
    ? []
    : subnetsOfNamespace(namespace, world.subnets.values(), world.settings.defaultSubnet.name)
}

/** Tries one subnet after the other. The most telling refusal is reported: any but "not an address of this subnet". */
function firstThatFits(
  subnets: readonly string[],
  world: ControlWorld,
  request: Omit<AllocateRequest, 'subnet'>,
): Placement {
  let refusal: KubeOvnError | undefined
  for (const subnet of subnets) {
    const network = world.networks.get(subnet)
    if (network === undefined || network.isJoin || isEnding(subnet, world)) {
      refusal ??= new PodSubnetUnavailableError({ subnet, cure: unavailableCure(subnet, world) })
      continue
    }
    try {
      return { network, lease: world.ipam.allocate({ ...request, subnet }) }
    } catch (error) {
      if (!(error instanceof KubeOvnError)) throw error
      if (refusal === undefined || refusal.code === 'ipam-address-out-of-range') refusal = error
    }
  }
  throw refusal ?? new PodSubnetUnavailableError({ subnet: '', cure: 'create the namespace of the pod' })
}

/** A subnet that is being deleted waits for its last pod, so it takes no new one. */
function isEnding(subnet: string, world: ControlWorld): boolean {
  return world.subnets.get(subnet)?.metadata.deletionTimestamp !== undefined
}

function unavailableCure(subnet: string, world: ControlWorld): string {
  if (subnet === world.settings.nodeSwitch.name)
    return "choose another subnet: this one is for the nodes' own ports"
  if (isEnding(subnet, world)) return 'name another subnet, or create it anew: this one is being deleted'
  return world.subnets.get(subnet) === undefined
    ? 'create the subnet, or name one that exists'
    : 'correct the specification of the subnet, see its conditions'
}

function isAnnotated(pod: Pod, lease: Lease): boolean {
  try {
    const network = readPodNetwork(pod.metadata.annotations)
    return (
      network !== undefined &&
      formatIpList(network.addresses) === formatIpList(lease) &&
      network.mac === lease.mac
    )
  } catch (error) {
    // What somebody wrote over our annotations is put right.
    if (error instanceof KubeOvnError) return false
    throw error
  }
}
