import { podAnnotations, type Annotations, type PodAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { formatIpList, parseRangeSets, type DualStackIp, type Ip } from '@kube-ovn/ip'
import { entryOfMember, isSameOwner, kindOf, nameOf, type Lease } from '@kube-ovn/ipam'
import { instanceOf } from '@kube-ovn/kube-api'
import type { Pod } from '@kube-ovn/kube-api/core'
import {
  borrow,
  isReservation,
  requestOf,
  type AddressClaim,
  type Allocation,
  type Ask,
  type Choice,
} from '@kube-ovn/domains-control/addresses'
import { isEnding, poolsOfNamespace, subnetsOfNamespace } from '@kube-ovn/domains-control/topology'
import type { Attachment, VlanTag } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'
import {
  type Holder,
  isPrimary,
  isTarget,
  ownerOfHolder,
  type PodNic,
  PodPoolEntryMissingError,
  PodPoolUnavailableError,
  PodProviderUnboundError,
  PodSubnetUnavailableError,
} from '@kube-ovn/domains-control/pods'
import { readNicRequest, type NicRequest } from './request.ts'

/** Where a NIC is plugged in, and, for a pod that has yet to be told, what addresses there are. */
interface PodNetwork extends Attachment {
  readonly cidrBlock?: string
  readonly gateway?: string
  /** Of an underlay. */
  readonly tag?: VlanTag
}

/** Where a NIC is, and what it has there. */
export interface Placement {
  readonly network: PodNetwork
  readonly lease: Lease
}

/**
 * Sees that a NIC has the addresses that its pod asks for. Asking again gives the same ones, and a pod that was told
 * its addresses keeps them, whatever its annotations and its subnets become.
 *
 * @param home the subnet that the NIC stays in, since a user reserved what it has there
 * @throws a KubeOvnError that names what can not be had
 */
export function place(
  pod: Pod,
  holder: Holder,
  nic: PodNic,
  allocation: Allocation,
  home?: string,
): Placement {
  const { world } = allocation
  const held = world.ipam.lease(nic.port)
  const network = held === undefined ? undefined : world.attachments.get(held.subnet)
  const hasLostOne = held !== undefined && hasLostAddress(held, pod, nic)
  if (held !== undefined && network !== undefined && isOfSameLife(held, pod, holder, nic) && !hasLostOne) {
    return { network, lease: asHeldBy(holder, held, allocation) }
  }
  const request = readNicRequest(pod, nic)
  // Who lost an address is refused what it was told, from wherever that came, as if it had lost all.
  const vip = hasLostOne
    ? ''
    : (podAnnotations(nic.provider).borrowedVip.read(pod.metadata.annotations) ?? '')
  const claim =
    vip === ''
      ? claimIn(choicesFor(pod, nic, request, held, world, home), pod, holder, nic, request, held, world)
      : claimOnVip(vip, request, holder, nic, world)
  const lease = allocation.take(claim)
  const taken = world.attachments.get(lease.subnet)
  // Choices in subnets that are not in effect are refusals.
  if (taken === undefined)
    throw new RangeError(`addresses of a subnet that is not in effect: ${lease.subnet}`)
  return { network: taken, lease }
}

/** What a NIC claims in its subnets, or in its IPPools. */
function claimIn(
  { subnets, pools }: Choices,
  pod: Pod,
  holder: Holder,
  nic: PodNic,
  request: NicRequest,
  held: Lease | undefined,
  world: ControlWorld,
): AddressClaim {
  const base = { nic: nic.port, owner: ownerOfHolder(holder), uid: holder.uid }
  const choiceIn = (subnet: string, more: Partial<NicRequest> = {}): Choice =>
    refusalIn(subnet, nic, world) ?? askIn(subnet, pod, holder, nic, { ...request, ...more }, held, world)
  if (pools === undefined || pools.some(({ subnet }) => subnet === held?.subnet)) {
    return { ...base, choices: inTurn(subnets, choiceIn), tells: 'most' }
  }
  const choices = pools.map(({ subnet, pool: name }) => choiceIn(subnet, { pool: { kind: 'named', name } }))
  return { ...base, choices, prefersRoom: true, tells: 'last' }
}

interface Choices {
  readonly subnets: readonly string[]
  /** Only these parts of them, if any are given. */
  readonly pools: readonly PoolChoice[] | undefined
}

function choicesFor(
  pod: Pod,
  nic: PodNic,
  request: NicRequest,
  held: Lease | undefined,
  world: ControlWorld,
  home?: string,
): Choices {
  const subnets = home === undefined ? subnetsFor(pod, nic, request, held, world) : [home]
  const isPooled = isPrimary(nic) && home === undefined
  return { subnets, pools: isPooled ? poolsFor(pod, request, subnets, world) : undefined }
}

/** Claims the addresses and the MAC address of a Vip. */
function claimOnVip(
  vip: string,
  { logicalSwitch }: NicRequest,
  holder: Holder,
  nic: PodNic,
  world: ControlWorld,
): AddressClaim {
  const owner = ownerOfHolder(holder)
  const lent = borrow(vip, owner, logicalSwitch, world)
  // What another CNI makes has a MAC address of its own.
  const asked: Ask = nic.has === 'port' ? lent : { ...lent, mac: false }
  const choices = [refusalIn(lent.subnet, nic, world) ?? asked]
  return { nic: nic.port, owner, uid: holder.uid, choices, tells: 'most' }
}

/**
 * Whether the addresses were given to this very pod, or to the machine that is on its way into it, and not to one before it of the same
 * name.
 */
function isOfSameLife(held: Lease, pod: Pod, holder: Holder, nic: PodNic): boolean {
  if (podAnnotations(nic.provider).allocated.read(pod.metadata.annotations) === true) return true
  // It runs all the while: whatever its namespace is bound to by now, it goes by these.
  if (holder.kind === 'vm' && isTarget(pod)) return true
  return holder.kind === 'pod' && held.uid !== undefined && held.uid === holder.uid
}

/**
 * The lease as that of whom the pod belongs to by now. Pods may outlive their StatefulSet, and become another one's of its name: then it
 * is that one which makes them again.
 */
function asHeldBy(holder: Holder, held: Lease, allocation: Allocation): Lease {
  const owner = ownerOfHolder(holder)
  if (held.uid === undefined || holder.uid === undefined || held.uid === holder.uid) return held
  if (!isSameOwner(held.owner, owner)) return held
  const { nic, subnet, v4, v6, isShared: shareOnConflict } = held
  const { static: fixed, family } = requestOf({ addresses: { v4, v6 }, mac: undefined })
  const same: Ask = { subnet, static: fixed, family, mac: held.mac ?? false, shareOnConflict }
  return allocation.take({ nic, owner, uid: holder.uid, choices: [same], tells: 'last' })
}

/** Whether the pod was told an address of a family of which it has none by now: its subnet changed meanwhile. */
function hasLostAddress({ v4, v6 }: Lease, { metadata: { annotations } }: Pod, nic: PodNic): boolean {
  const keys = podAnnotations(nic.provider)
  if (keys.allocated.read(annotations) !== true) return false
  const told = readableAddresses(keys.ipAddress, annotations)
  return (v4 === undefined && told.v4 !== undefined) || (v6 === undefined && told.v6 !== undefined)
}

/** What somebody wrote over our annotations says nothing. */
function readableAddresses(
  { read }: PodAnnotations['ipAddress'],
  annotations: Annotations | undefined,
): DualStackIp {
  try {
    return read(annotations) ?? {}
  } catch (error) {
    if (error instanceof KubeOvnError) return {}
    throw error
  }
}

/** Whether the annotations of the pod say what the lease says. */
export function isTold(pod: Pod, { provider }: PodNic, lease: Lease): boolean {
  const keys = podAnnotations(provider)
  const { annotations } = pod.metadata
  try {
    return (
      keys.allocated.read(annotations) === true &&
      formatIpList(keys.ipAddress.read(annotations) ?? {}) === formatIpList(lease) &&
      keys.macAddress.read(annotations) === lease.mac
    )
  } catch (error) {
    // What somebody wrote over our annotations is put right.
    if (error instanceof KubeOvnError) return false
    throw error
  }
}

/** The subnets that may serve a NIC, the one to try first before others. */
function subnetsFor(
  pod: Pod,
  nic: PodNic,
  request: NicRequest,
  held: Lease | undefined,
  world: ControlWorld,
): readonly string[] {
  if (request.logicalSwitch !== undefined) return [request.logicalSwitch]
  if (request.pool?.kind === 'named') return [subnetOfPool(request.pool.name, world)]
  if (nic.boundTo !== undefined) return subnetsOfProvider(nic.boundTo, world)
  const { namespace = '' } = pod.metadata
  if (world.namespaceBindings.get(namespace) === undefined) return []
  const bound = subnetsOfNamespace(namespace, world)
  // Who comes back goes where its addresses are, and everybody where a user reserved some for it.
  const record = held === undefined ? undefined : world.ips.get(held.nic)
  const isReserved = record !== undefined && isReservation(record)
  const former = held !== undefined && (isReserved || bound.includes(held.subnet)) ? [held.subnet] : []
  return [...former, ...bound.filter((subnet) => !former.includes(subnet))]
}

function subnetsOfProvider(provider: string, world: ControlWorld): readonly string[] {
  const names = world.subnetProviders.keys('provider', provider)
  if (names.length === 0) throw new PodProviderUnboundError({ provider })
  return names
}

interface PoolChoice {
  readonly subnet: string
  readonly pool: string
}

/**
 * The IPPools that a pod's namespace is bound to, those of its subnets; nothing when it is bound to none, when the pod
 * asks for addresses, or for a subnet in which there is none of them.
 */
function poolsFor(
  pod: Pod,
  { pool, addresses, logicalSwitch }: NicRequest,
  subnets: readonly string[],
  world: ControlWorld,
): readonly PoolChoice[] | undefined {
  if (pool !== undefined || addresses !== undefined) return undefined
  const names = poolsOfNamespace(pod.metadata.namespace ?? '', world)
  const choices = names.flatMap((name) =>
    subnets
      .filter((subnet) => world.pools.get(name)?.subnet === subnet)
      .map((subnet) => ({ subnet, pool: name })),
  )
  if (names.length === 0 || (choices.length === 0 && logicalSwitch !== undefined)) return undefined
  if (choices.length > 0) return choices
  const cure = "bind the namespace to the IPPools' subnets, or bind it to IPPools of its own subnets"
  throw new PodPoolUnavailableError({ pool: names.join(), cure })
}

function subnetOfPool(pool: string, world: ControlWorld): string {
  const subnet = world.pools.get(pool)?.subnet
  if (subnet !== undefined) return subnet
  throw new PodPoolUnavailableError({ pool, cure: poolCure(pool, world) })
}

function poolCure(pool: string, world: ControlWorld): string {
  return world.ipPoolLives.get(pool) === undefined
    ? 'create the IPPool, or name one that exists'
    : 'correct the specification of the IPPool, see its conditions'
}

/** Why a NIC can not ask in a subnet. */
function refusalIn(subnet: string, nic: PodNic, world: ControlWorld): Choice | undefined {
  const refusal = findSubnetRefusal(subnet, nic, world)
  return refusal && { refusal, isPlace: true }
}

/** The choices in some subnets, each made when it is asked for: who has found a place depends on no other. */
function inTurn(subnets: readonly string[], choiceIn: (subnet: string) => Choice): Iterable<Choice> {
  const cure = 'create the namespace of the pod'
  if (subnets.length === 0) return [{ refusal: new PodSubnetUnavailableError({ subnet: '', cure }) }]
  return { [Symbol.iterator]: () => subnets.values().map((subnet) => choiceIn(subnet)) }
}

/** Finds why a subnet has no address for a NIC, whatever is free. */
export function findSubnetRefusal(
  subnet: string,
  nic: PodNic,
  world: ControlWorld,
): PodSubnetUnavailableError | undefined {
  const network = world.attachments.get(subnet)
  if (network !== undefined && canServe(network, nic) && !isEnding(subnet, world)) return undefined
  return new PodSubnetUnavailableError({ subnet, cure: unavailableCure(subnet, world) })
}

/** A port needs a switch, and the nodes' one is for nodes. */
function canServe(network: Attachment, nic: PodNic): boolean {
  return !network.isJoin && (network.hasSwitch || nic.has === 'addresses')
}

/** What a NIC asks for in one subnet: the addresses that its pod names, or some of the pool, or any. */
function askIn(
  subnet: string,
  pod: Pod,
  holder: Holder,
  nic: PodNic,
  { addresses, mac, family, pool }: NicRequest,
  held: Lease | undefined,
  world: ControlWorld,
): Choice {
  const ask: Ask = {
    ...{ subnet, mac, family },
    skip: held === undefined ? undefined : givenUp(held, { family, pool }, world),
    drawsUnseen: true,
  }
  if (addresses !== undefined) {
    return {
      ...ask,
      static: addresses,
      shareOnConflict: nic.has === 'port' && isMovedTo(pod, subnet, addresses, world),
    }
  }
  if (pool === undefined) return ask
  if (pool.kind === 'named') {
    const refusal = poolRefusal(pool.name, subnet, world)
    return refusal === undefined ? { ...ask, pool: pool.name } : { refusal }
  }
  if (holder.kind !== 'statefulset-pod') return { ...ask, entries: pool.entries }
  const entry = entryOfMember(pool.entries, holder.name, firstOrdinal(pod, world))
  return entry === undefined
    ? { refusal: new PodPoolEntryMissingError({ subnet, pod: holder.name, entries: pool.entries.length }) }
    : { ...ask, static: entry }
}

/**
 * Whether a machine moves into the pod whose other pods, and nobody else, have the addresses: then both have them. Who asks is not
 * believed: anybody may write the annotation of a move.
 */
function isMovedTo(pod: Pod, subnet: string, { v4, v6 }: DualStackIp, { ipam, pods }: ControlWorld): boolean {
  const { namespace, ownerReferences } = pod.metadata
  const machine = instanceOf(ownerReferences)?.uid
  if (machine === undefined || !isTarget(pod)) return false
  const holders = [v4, v6].flatMap((ip) => (ip === undefined ? [] : ipam.holders(subnet, ip)))
  return (
    holders.length > 0 &&
    holders.every((holder) => {
      const { metadata } = pods.get(nameOf(holder)) ?? {}
      return (
        kindOf(holder) === 'pod' &&
        metadata?.namespace === namespace &&
        instanceOf(metadata?.ownerReferences)?.uid === machine
      )
    })
  )
}

/**
 * What a pod's predecessor had and the pod does not ask for: of the other family, or none of the IPPool. Nothing of what
 * a user reserved.
 */
function givenUp(
  { nic, v4, v6 }: Lease,
  { family, pool }: Pick<NicRequest, 'family' | 'pool'>,
  world: ControlWorld,
): ReadonlySet<Ip> {
  const record = world.ips.get(nic)
  if (record !== undefined && isReservation(record)) return new Set()
  const ips = pool?.kind === 'named' ? world.pools.get(pool.name)?.ips : undefined
  const members = ips && parseRangeSets(ips)
  const others = new Set<Ip>()
  if (v4 !== undefined && (family === 6 || members?.v4.has(v4) === false)) others.add(v4)
  if (v6 !== undefined && (family === 4 || members?.v6.has(v6) === false)) others.add(v6)
  return others
}

/** An IPPool has addresses of one subnet; one that is being deleted waits for the last of them, so it gives no more. */
function poolRefusal(pool: string, subnet: string, world: ControlWorld): PodPoolUnavailableError | undefined {
  const other = world.pools.get(pool)?.subnet
  if (other !== subnet) {
    const cure =
      other === undefined
        ? poolCure(pool, world)
        : `name an IPPool of subnet ${subnet}: this one has addresses of ${other}`
    return new PodPoolUnavailableError({ pool, cure })
  }
  if (world.ipPoolLives.get(pool)?.isEnding !== true) return undefined
  const cure = 'name another IPPool, or create it anew: this one is being deleted'
  return new PodPoolUnavailableError({ pool, cure })
}

/** The number of the first member of the pod's StatefulSet. */
function firstOrdinal(pod: Pod, world: ControlWorld): number {
  const { namespace = '', ownerReferences = [] } = pod.metadata
  const set = ownerReferences.find(({ kind }) => kind === 'StatefulSet')?.name ?? ''
  return world.statefulSets.get(`${namespace}/${set}`)?.spec?.ordinals?.start ?? 0
}

function unavailableCure(subnet: string, world: ControlWorld): string {
  if (subnet === world.settings.nodeSwitch.name)
    return "choose another subnet: this one is for the nodes' own ports"
  if (isEnding(subnet, world)) return 'name another subnet, or create it anew: this one is being deleted'
  if (world.attachments.get(subnet)?.hasSwitch === false)
    return 'choose another subnet: this one has addresses for NICs of other CNIs only'
  return world.subnetLives.get(subnet) === undefined
    ? 'create the subnet, or name one that exists'
    : 'correct the specification of the subnet, see its conditions'
}
