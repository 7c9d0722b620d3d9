import { sharedGatewayLabel } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { DualStackIp } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'
import { ovnEipResource, ovnEipType, type OvnEip } from '@kube-ovn/kube-api'
import {
  addressesOfEip,
  eipNic,
  eipOwner,
  subnetOfEip,
  writtenMac,
  type Allocation,
} from '@kube-ovn/domains-control/addresses'
import { portHolder } from '@kube-ovn/domains-control/pods'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { OvnEipInvalidError } from './errors.ts'
import { eipChange, eipRequest, eipTypeOf, type KnownEipType } from './request.ts'

/** What decides about an OvnEip. */
export interface OvnEipSnapshot {
  readonly name: string
  readonly object: OvnEip
  readonly isDeleting: boolean
  /** Absent while it can not have what it asks for. */
  readonly placement: EipPlacement | undefined
  /** What is wrong with it; one that has its addresses works on all the same. */
  readonly problem: KubeOvnError | undefined
  /** What there still is of its name is that of an OvnEip before it. */
  readonly isAnother: boolean
  /** Whether the node of its name says that it forwards by it; absent while it says nothing about that. */
  readonly isServedByNode: boolean | undefined
  /** The Vpc whose router has the addresses. */
  readonly holder: string | undefined
  /** Whether its status has a place for the generation that it is about. */
  readonly saysGeneration: boolean
  /** Milliseconds since the epoch, for conditions. */
  readonly now: number
}

/** What an OvnEip has. */
export interface EipPlacement {
  readonly subnet: string
  readonly type: KnownEipType
  readonly addresses: DualStackIp
  readonly mac: string
  /** It is of the type that has one, and nobody else's has the name. */
  readonly hasPort: boolean
}

/** What is known of an OvnEip before it has its addresses. */
export type EipFacts = Omit<OvnEipSnapshot, 'placement' | 'problem' | 'isAnother'>

/** Reads an OvnEip. */
export function observeEip(name: string, world: ControlWorld): EipFacts | undefined {
  const object = world.ovnEips.get(name)
  if (object === undefined) return undefined
  return {
    name,
    object,
    isDeleting: object.metadata.deletionTimestamp !== undefined,
    isServedByNode: servedByNode(world.nodes.get(name)?.metadata.labels?.[sharedGatewayLabel]),
    holder: world.routerExternals.keys('eip', name)[0],
    saysGeneration: world.definitions.keeps(ovnEipResource, 'observedGeneration'),
    now: world.now(),
  }
}

function servedByNode(label: string | undefined): boolean | undefined {
  return label === undefined ? undefined : label === 'true'
}

/** Sees that an OvnEip has addresses, and that one that is gone has none. */
export function holdEip(
  name: string,
  facts: EipFacts | undefined,
  allocation: Allocation,
): OvnEipSnapshot | undefined {
  if (facts === undefined) {
    allocation.release(eipNic(name), eipOwner(name))
    return undefined
  }
  const { object, isDeleting } = facts
  const { world } = allocation
  const isAnother = isOfAnother(object, world.ipam.lease(eipNic(name)), world)
  if (isAnother) allocation.release(eipNic(name), eipOwner(name))
  if (isDeleting && world.ipam.lease(eipNic(name)) === undefined)
    return { ...facts, placement: undefined, problem: undefined, isAnother }
  try {
    const type = eipTypeOf(object)
    const lease = hold(object, type, allocation)
    const nameProblem = type === ovnEipType.nodePort ? nameProblemOf(name, world) : undefined
    const { subnet, v4, v6 } = lease
    const hasPort = type === ovnEipType.nodePort && nameProblem === undefined
    return {
      ...facts,
      placement: { subnet, type, addresses: { v4, v6 }, mac: ownMac(object, lease), hasPort },
      problem: nameProblem ?? eipChange(object, lease, type, world.settings),
      isAnother,
    }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    return { ...facts, placement: undefined, problem: error, isAnother }
  }
}

/**
 * Whether addresses are those of an OvnEip before it, which was deleted while nobody looked: this one was never told any, and
 * they are not what it asks for.
 */
function isOfAnother(object: OvnEip, held: Lease | undefined, { settings }: ControlWorld): boolean {
  if (held === undefined || addressesOfEip(object) !== undefined) return false
  return eipChange(object, held, object.spec?.type, settings) !== undefined
}

function hold(object: OvnEip, type: KnownEipType, allocation: Allocation): Lease {
  const { world } = allocation
  const { name } = object.metadata
  const held = world.ipam.lease(eipNic(name))
  if (held !== undefined) return held
  const subnet = subnetOfEip(object, world)
  const cure = subnetCure(object, type, subnet, world)
  if (cure !== undefined)
    throw new OvnEipInvalidError({ eip: name, field: 'spec.externalSubnet', value: subnet, cure })
  const { nic, owner, ...request } = eipRequest(object)
  const choices = [{ ...request, subnet, drawsUnseen: true as const }]
  return allocation.take({ nic, owner, choices, tells: 'most', isUnrecorded: true })
}

function subnetCure(
  object: OvnEip,
  type: KnownEipType,
  subnet: string,
  { attachments, subnets }: ControlWorld,
): string | undefined {
  const attachment = attachments.get(subnet)
  const existing = subnets.get(subnet)
  if (attachment === undefined)
    return existing === undefined
      ? 'create the Subnet, or delete the OvnEip and create it anew in one that exists'
      : 'correct the specification of the Subnet, see its conditions'
  if (existing?.metadata.deletionTimestamp !== undefined && addressesOfEip(object) === undefined)
    return 'choose another Subnet: this one is being deleted'
  return !attachment.hasSwitch && type !== ovnEipType.nat
    ? 'choose another Subnet: this one has addresses for NICs of other CNIs only'
    : undefined
}

/** The OvnEip's own, in the letters in which the user wrote it. */
function ownMac({ spec, status }: OvnEip, { mac }: Lease): string {
  return writtenMac(mac, [spec?.macAddress, status?.macAddress]) ?? ''
}

/** Of two ports with one name there would be one: the other has it. */
function nameProblemOf(name: string, world: ControlWorld): OvnEipInvalidError | undefined {
  const holder = portHolder(name, world) ?? virtualHolder(name, world)
  if (holder === undefined) return undefined
  const cure = `create the OvnEip anew under another name: a port of ${holder} has the name of this one's`
  return new OvnEipInvalidError({ eip: name, field: 'metadata.name', value: name, cure })
}

/** A Vip that pods share has a port of its name. */
function virtualHolder(name: string, { vips }: ControlWorld): string | undefined {
  return (vips.get(name)?.spec?.namespace ?? '') === '' ? undefined : `Vip ${name}`
}
