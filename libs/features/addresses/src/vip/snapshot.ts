import { primaryProvider } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { DualStackIp } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'
import { vipResource, vipType, type Vip } from '@kube-ovn/kube-api'
import { routerPortName } from '@kube-ovn/ovn-names'
import {
  addressesOfVip,
  type Allocation,
  subnetOfVip,
  vipNic,
  vipOwner,
  writtenMac,
} from '@kube-ovn/domains-control/addresses'
import { portHolder } from '@kube-ovn/domains-control/pods'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { RouterPortMissingError, VipInvalidError } from './errors.ts'
import { labelsOf, parentsOf, type Labels } from './parents.ts'
import { portNamesOf } from './port-names.ts'
import { changeOf, requestFor, typeOf, type KnownVipType } from './request.ts'

/** What decides about a Vip. */
export interface VipSnapshot {
  readonly name: string
  readonly object: Vip
  readonly isDeleting: boolean
  /** Absent while it can not have what it asks for. */
  readonly placement: VipPlacement | undefined
  /** What is wrong with it; one that has its addresses works on all the same. */
  readonly problem: KubeOvnError | undefined
  /** What there still is of its name is that of a Vip before it. */
  readonly isAnother: boolean
  /** Whether its status has a place for the generation that it is about. */
  readonly saysGeneration: boolean
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** What a Vip has. */
export interface VipPlacement {
  readonly subnet: string
  /** Of the subnet; that of further networks is part of a port's name. */
  readonly provider: string
  /** Whether the subnet is in the default VPC. */
  readonly isDefaultVpc: boolean
  readonly type: KnownVipType
  readonly addresses: DualStackIp
  readonly mac: string
  /** Ports that may have the addresses beside their own. */
  readonly parents: readonly string[]
  /** Name of the port of the Pod that has the addresses as its own; empty when there is none. */
  readonly borrower: string
  /** False while the name of a port that it would have is that of somebody else's. */
  readonly hasPorts: boolean
}

/** What is known of a Vip before it has its addresses. */
export type VipFacts = Omit<VipSnapshot, 'placement' | 'problem' | 'isAnother'>

/** Reads a Vip. */
export function observeVip(name: string, world: ControlWorld): VipFacts | undefined {
  const object = world.vips.get(name)
  if (object === undefined) return undefined
  const isDeleting = object.metadata.deletionTimestamp !== undefined
  const saysGeneration = world.definitions.keeps(vipResource, 'observedGeneration')
  return { name, object, isDeleting, saysGeneration, now: world.now() }
}

/** Sees that a Vip has addresses, and that one that is gone has none. */
export function holdVip(
  name: string,
  facts: VipFacts | undefined,
  allocation: Allocation,
): VipSnapshot | undefined {
  if (facts === undefined) {
    allocation.release(vipNic(name), vipOwner(name))
    return undefined
  }
  const { object, isDeleting } = facts
  const { world } = allocation
  if (isDeleting) return { ...facts, placement: undefined, problem: undefined, isAnother: false }
  const isAnother = isOfAnother(object, world.ipam.lease(vipNic(name)))
  if (isAnother) allocation.release(vipNic(name), vipOwner(name))
  try {
    const type = typeOf(object)
    const labels = labelsOf(object)
    const lease = hold(object, type, allocation)
    const placement = placementOf(object, type, labels, lease, world)
    const nameProblem = nameProblemOf(object, placement, world)
    return {
      ...facts,
      placement: { ...placement, hasPorts: nameProblem === undefined },
      problem: nameProblem ?? changeOf(object, lease),
      isAnother,
    }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { ...facts, placement: undefined, problem: error, isAnother }
  }
}

/**
 * Whether addresses are those of a Vip before it, which was deleted while nobody looked: this one was never told any, and they
 * are not what it asks for.
 */
function isOfAnother(object: Vip, held: Lease | undefined): boolean {
  if (held === undefined || addressesOfVip(object) !== undefined) return false
  const hasOwnMac = object.spec?.type !== vipType.switchLb
  return hasOwnMac !== (held.mac !== undefined) || changeOf(object, held) !== undefined
}

function hold(object: Vip, type: KnownVipType, allocation: Allocation): Lease {
  const { world } = allocation
  const { name } = object.metadata
  const held = world.ipam.lease(vipNic(name))
  if (held !== undefined) return held
  const subnet = subnetOfVip(object, world)
  const refuse = (cure: string) =>
    new VipInvalidError({ vip: name, field: 'spec.subnet', value: subnet, cure })
  if (subnet === '') throw refuse('name the Subnet that the addresses are to be taken from')
  if (world.attachments.get(subnet) === undefined) {
    throw refuse(
      world.subnets.get(subnet) === undefined
        ? 'create the Subnet, or delete the Vip and create it anew in one that exists'
        : 'correct the specification of the Subnet, see its conditions',
    )
  }
  if (
    world.subnets.get(subnet)?.metadata.deletionTimestamp !== undefined &&
    addressesOfVip(object) === undefined
  ) {
    throw refuse('choose another Subnet: this one is being deleted')
  }
  if (world.attachments.get(subnet)?.hasSwitch === false && needsSwitch(object, type)) {
    throw refuse('choose another Subnet: this one has addresses for NICs of other CNIs only')
  }
  const { nic, owner, ...request } = requestFor(object, type)
  const choices = [{ ...request, subnet, drawsUnseen: true as const }]
  return allocation.take({ nic, owner, choices, tells: 'most', isUnrecorded: true })
}

/** A Vip that is only reserved has no port. */
function needsSwitch({ spec }: Vip, type: KnownVipType): boolean {
  return type !== vipType.plain || (spec?.namespace ?? '') !== ''
}

function placementOf(
  object: Vip,
  type: KnownVipType,
  labels: Labels,
  lease: Lease,
  world: ControlWorld,
): Omit<VipPlacement, 'hasPorts'> {
  const { v4, v6, subnet } = lease
  const isShared = type === vipType.plain && (object.spec?.namespace ?? '') !== ''
  const network = world.attachments.get(subnet)
  return {
    subnet,
    provider: network?.provider ?? primaryProvider,
    isDefaultVpc: network?.isDefaultVpc ?? true,
    type,
    addresses: { v4, v6 },
    mac: type === vipType.switchLb ? routerMac(object, subnet, world) : ownMac(object, lease),
    parents: isShared ? parentsOf(object, labels, subnet, world) : [],
    borrower: borrowerOf(lease, world),
  }
}

/** The Vip's own, in the letters in which the user wrote it. */
function ownMac({ spec, status }: Vip, { mac }: Lease): string {
  return writtenMac(mac, [spec?.macAddress, status?.mac]) ?? ''
}

/** Of two ports with one name there would be one: the pod or the node has it, which can do nothing about the name. */
function nameProblemOf(
  object: Vip,
  { type, provider }: Pick<VipPlacement, 'type' | 'provider'>,
  world: ControlWorld,
): VipInvalidError | undefined {
  const { name } = object.metadata
  const { own = '', virtual = '' } = portNamesOf(object, type, provider)
  const holder = portHolder(own, world) ?? portHolder(virtual, world)
  if (holder === undefined) return undefined
  const cure = `create the Vip anew under another name: a port of ${holder} has the name of this one's`
  return new VipInvalidError({ vip: name, field: 'metadata.name', value: name, cure })
}

function routerMac({ metadata: { name } }: Vip, subnet: string, world: ControlWorld): string {
  const mac = world.routerMacs.get(subnet)
  if (mac !== undefined) return mac
  const port = routerPortName(world.attachments.get(subnet)?.vpc ?? '', subnet)
  throw new RouterPortMissingError({ vip: name, port })
}

/** The NIC, other than the Vip itself, that has its addresses. */
function borrowerOf(lease: Lease, world: ControlWorld): string {
  const address = lease.v4 ?? lease.v6
  if (address === undefined) return ''
  const others = world.ipam.holders(lease.subnet, address).filter((owner) => owner !== lease.owner)
  const nics = others
    .flatMap((owner) => world.ipam.leasesOf(owner))
    .filter((other) => other.subnet === lease.subnet && (other.v4 ?? other.v6) === address)
    .map((other) => other.nic)
  return nics.sort()[0] ?? ''
}
