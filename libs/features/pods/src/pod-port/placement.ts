import { podAnnotations, vipAnnotations, type Annotations, type PodAnnotations } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { formatIpList, parseRangeSets, type DualStackIp, type Ip } from '@kube-ovn/ip'
import { allocateFromList, entryOfMember, type AllocateRequest, type Lease } from '@kube-ovn/ipam'
import type { Pod } from '@kube-ovn/kube-api/core'
import { allocateUnseen, borrow, freed, isReservation } from '@kube-ovn/domains-control/addresses'
import { isEnding, poolsOfNamespace, subnetsOfNamespace } from '@kube-ovn/domains-control/topology'
import type { Attachment } from '@kube-ovn/domains-control/topology'
import type { AllocatingWorld, ControlWorld } from '@kube-ovn/domains-control'
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
  world: AllocatingWorld,
  home?: string,
): Placement {
  const held = world.ipam.lease(nic.port)
  const network = held === undefined ? undefined : world.attachments.get(held.subnet)
  const hasLostOne = held !== undefined && hasLostAddress(held, pod, nic)
  if (held !== undefined && network !== undefined && isOfSameLife(held, pod, holder, nic) && !hasLostOne) {
    return { network, lease: held }
  }
  const request = readNicRequest(pod, nic)
  // Who lost an address is refused what it was told, from wherever that came, as if it had lost all.
  const vip =
    isPrimary(nic) && !hasLostOne ? (vipAnnotations.borrowed.read(pod.metadata.annotations) ?? '') : ''
  const placement =
    vip === ''
      ? placeInSubnets(pod, holder, nic, request, held, world, home)
      : placeOnVip(vip, request, holder, nic, world)
  if (held !== undefined && held !== placement.lease) raiseExchange(held, placement.lease, world)
  return placement
}

function placeInSubnets(
  pod: Pod,
  holder: Holder,
  nic: PodNic,
  request: NicRequest,
  held: Lease | undefined,
  world: AllocatingWorld,
  home: string | undefined,
): Placement {
  const { subnets, pools } = choicesFor(pod, nic, request, held, world, home)
  const attempt = (subnet: string, more: Partial<NicRequest> = {}) =>
    take(subnet, pod, holder, nic, { ...request, ...more }, held, world)
  return pools === undefined || pools.some(({ subnet }) => subnet === held?.subnet)
    ? firstThatFits(subnets, nic, world, (subnet) => attempt(subnet))
    : firstPoolThatFits(pools, request, nic, world, (subnet, name) =>
        attempt(subnet, { pool: { kind: 'named', name } }),
      )
}

/**
 * The subnets that may give a NIC the addresses that it could not be given; `undefined` when it is not for want of addresses
 * there alone.
 */
export function subnetsThatMayServe(
  pod: Pod,
  nic: PodNic,
  world: ControlWorld,
): readonly string[] | undefined {
  try {
    const request = readNicRequest(pod, nic)
    const isBorrowing =
      isPrimary(nic) && (vipAnnotations.borrowed.read(pod.metadata.annotations) ?? '') !== ''
    const { subnets, pools = [] } = choicesFor(pod, nic, request, world.ipam.lease(nic.port), world)
    const all = [...subnets, ...pools.map(({ subnet }) => subnet)]
    return isBorrowing || all.length === 0 ? undefined : all
  } catch (error) {
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
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

/** What a NIC gives up may be what others wait for, and no record that is new or goes says that the counts are others. */
function raiseExchange(held: Lease, now: Lease, world: AllocatingWorld): void {
  if (held.subnet === now.subnet && held.v4 === now.v4 && held.v6 === now.v6) return
  freed(held.subnet, world)
  if (now.subnet !== held.subnet) world.raise('usage', now.subnet)
}

/** Takes the addresses and the MAC address of a Vip. */
function placeOnVip(
  vip: string,
  { logicalSwitch }: NicRequest,
  holder: Holder,
  nic: PodNic,
  world: AllocatingWorld,
): Placement {
  const owner = ownerOfHolder(holder)
  const lent = borrow(vip, owner, logicalSwitch, world)
  return firstThatFits([lent.subnet], nic, world, () =>
    world.ipam.allocate({ nic: nic.port, owner, uid: holder.uid, ...lent }),
  )
}

/** Whether the addresses were given to this very pod, and not to one before it of the same name. */
function isOfSameLife(held: Lease, pod: Pod, holder: Holder, nic: PodNic): boolean {
  if (podAnnotations(nic.provider).allocated.read(pod.metadata.annotations) === true) return true
  return holder.kind === 'pod' && held.uid !== undefined && held.uid === holder.uid
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

/** Tries one pool after the other; the refusal of the last one is reported. */
function firstPoolThatFits(
  pools: readonly PoolChoice[],
  { family }: NicRequest,
  nic: PodNic,
  world: ControlWorld,
  attempt: (subnet: string, pool: string) => Lease,
): Placement {
  const roomy = pools.filter(({ subnet, pool }) => world.ipam.hasRoom(subnet, pool, family))
  const [first = pools[0], ...rest] = roomy
  let refusal: KubeOvnError | undefined
  for (const choice of first === undefined ? [] : [first, ...rest]) {
    try {
      return firstThatFits([choice.subnet], nic, world, (subnet) => attempt(subnet, choice.pool))
    } catch (error) {
      if (!(error instanceof KubeOvnError)) throw error
      refusal = error
    }
  }
  throw refusal ?? new PodPoolUnavailableError({ pool: '', cure: 'create an IPPool' })
}

function subnetOfPool(pool: string, world: ControlWorld): string {
  const subnet = world.pools.get(pool)?.subnet
  if (subnet !== undefined) return subnet
  throw new PodPoolUnavailableError({ pool, cure: unservedPoolCure(pool, world) })
}

function unservedPoolCure(pool: string, world: ControlWorld): string {
  return world.ipPools.get(pool) === undefined
    ? 'create the IPPool, or name one that exists'
    : 'correct the specification of the IPPool, see its conditions'
}

/** Tries one subnet after the other. The most telling refusal is reported: any but "not an address of this subnet". */
function firstThatFits(
  subnets: readonly string[],
  nic: PodNic,
  world: ControlWorld,
  attempt: (subnet: string) => Lease,
): Placement {
  let refusal: KubeOvnError | undefined
  for (const subnet of subnets) {
    const network = world.attachments.get(subnet)
    const unavailable = findSubnetRefusal(subnet, nic, world)
    if (network === undefined || unavailable !== undefined) {
      refusal ??= unavailable
      continue
    }
    try {
      return { network, lease: attempt(subnet) }
    } catch (error) {
      if (!(error instanceof KubeOvnError)) throw error
      if (refusal === undefined || refusal.code === 'ipam-address-out-of-range') refusal = error
    }
  }
  throw refusal ?? new PodSubnetUnavailableError({ subnet: '', cure: 'create the namespace of the pod' })
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

/** Takes addresses in one subnet: those asked for, or those of the pool, or any. */
function take(
  subnet: string,
  pod: Pod,
  holder: Holder,
  nic: PodNic,
  { addresses, mac, family, pool }: NicRequest,
  held: Lease | undefined,
  world: AllocatingWorld,
): Lease {
  const request: AllocateRequest = {
    subnet,
    nic: nic.port,
    owner: ownerOfHolder(holder),
    uid: holder.uid,
    mac,
    family,
    // The addresses of a machine stay what they are while it moves.
    skip: held === undefined || isTarget(pod) ? undefined : givenUp(held, { family, pool }, world),
  }
  if (addresses !== undefined) {
    // While a machine moves, both of its pods have its addresses.
    const shareOnConflict = isTarget(pod) && nic.has === 'port'
    return allocateUnseen({ ...request, static: addresses, shareOnConflict }, world)
  }
  if (pool === undefined) return allocateUnseen(request, world)
  if (pool.kind === 'named') {
    checkPool(pool.name, subnet, world)
    return allocateUnseen({ ...request, pool: pool.name }, world)
  }
  if (holder.kind !== 'statefulset-pod') return allocateFromList(world.ipam, request, pool.entries)
  const entry = entryOfMember(pool.entries, holder.name, firstOrdinal(pod, world))
  if (entry === undefined)
    throw new PodPoolEntryMissingError({ subnet, pod: holder.name, entries: pool.entries.length })
  return allocateUnseen({ ...request, static: entry }, world)
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
function checkPool(pool: string, subnet: string, world: ControlWorld): void {
  const other = world.pools.get(pool)?.subnet
  if (other !== subnet) {
    const cure =
      other === undefined
        ? unservedPoolCure(pool, world)
        : `name an IPPool of subnet ${subnet}: this one has addresses of ${other}`
    throw new PodPoolUnavailableError({ pool, cure })
  }
  if (world.ipPools.get(pool)?.metadata.deletionTimestamp === undefined) return
  const cure = 'name another IPPool, or create it anew: this one is being deleted'
  throw new PodPoolUnavailableError({ pool, cure })
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
  return world.subnets.get(subnet) === undefined
    ? 'create the subnet, or name one that exists'
    : 'correct the specification of the subnet, see its conditions'
}
