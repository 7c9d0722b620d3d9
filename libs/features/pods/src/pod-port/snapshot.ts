import {
  allocatedNics,
  AnnotationInvalidError,
  isOvnProvider,
  networkOfNic,
  podAnnotations,
  staleNicKeys,
} from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { Pod } from '@kube-ovn/kube-api/core'
import { ipResource, type Ip } from '@kube-ovn/kube-api'
import {
  type Allocation,
  anyOpening,
  ReservationInvalidError,
  sharedAddresses,
  unsharableVips,
  writtenMac,
} from '@kube-ovn/domains-control/addresses'
import type { ControlWorld } from '@kube-ovn/domains-control'
import { storeIndex } from '@kube-ovn/domains-control'
import {
  type Holder,
  holderKey,
  holderOf,
  inTurn,
  isKeptReservation,
  isLost,
  type KeptNic,
  keptNics,
  lostInMs,
  needsPort,
  nicsOf,
  observeReservations,
  type PodNic,
  primaryNic,
  type PortOptions,
  readPortOptions,
  type Reservation,
  ReservationUnavailableError,
} from '@kube-ovn/domains-control/pods'
import {
  formerSecurityGroups,
  policyPlaces,
  securityGroupsOf,
  type PolicyPlaces,
  type SecurityGroupsOfPort,
} from '@kube-ovn/domains-control/policies'
import { isByPods, pairOf } from '@kube-ovn/domains-control/topology'
import { podPortName, podPortProvider } from '@kube-ovn/ovn-names'
import { chassisOfMachine, type ChassisRequest } from './chassis.ts'
import { observeDhcp, type PortDhcp } from './dhcp.ts'
import { isTold, place, type Placement } from './placement.ts'
import { releaseOthers } from './release.ts'
import { findGivenUp, hasLostReserved, takeReserved } from './reserved-nic.ts'

/** What decides about the ports of a pod, or of what runs in pods. */
export interface PodSnapshot {
  readonly namespace: string
  /** What its ports are named after. */
  readonly name: string
  /** Records of its addresses. */
  readonly ipObjects: readonly Ip[]
  /**
   * Pods that need the ports: one, or two while a machine moves, the one that it leaves first. None when nobody has a
   * use for ports (any more).
   */
  readonly pods: readonly PodNeeds[]
  /** Where the ports are while a machine moves. */
  readonly chassis: ChassisRequest | undefined
  /** Ports that wait for the pod to come back. */
  readonly kept: readonly KeptNic[]
  /** Addresses that a user keeps for it, and that no NIC of a pod has that is there. */
  readonly reservations: readonly Reservation[]
  /** Whether records have a place for the generation that they are about. */
  readonly saysGeneration: boolean
  /** Rows by which a subnet leaves by a node are there only where a port of a pod is told to be. */
  readonly saysPairs: boolean
  /** It was given ports, or addresses, that its rows and members may say. */
  readonly hasRows: boolean
  /** Something ends by then without anybody saying so. */
  readonly recheckMs?: number
}

/** Timers do not take much more than this; whoever is woken too early looks again. */
const longestRecheckMs = 24 * 60 * 60_000

export interface PodNeeds {
  readonly name: string
  readonly uid: string
  readonly node: string
  readonly nicType: string
  readonly kind: Holder['kind']
  /** What policies there are for it or about it. */
  readonly policies: PolicyPlaces | undefined
  readonly nics: readonly NicNeeds[]
  /** Why its networks are not known. */
  readonly problem: KubeOvnError | undefined
  /** Annotations that have no effect. */
  readonly ignored: readonly KubeOvnError[]
  /** Keys of annotations about NICs that it does not have any more. */
  readonly staleKeys: readonly string[]
}

export interface NicNeeds {
  readonly nic: PodNic
  readonly options: PortOptions
  readonly dhcp: PortDhcp
  /** Security groups that its port is in. */
  readonly security: SecurityGroupsOfPort
  /** Names of those that it said to be in before. */
  readonly formerGroups: readonly string[]
  /** The annotations already say what the lease says. */
  readonly isAnnotated: boolean
  readonly hasNicType: boolean
  readonly placement: Placement | undefined
  /** Why there is no placement. */
  readonly problem: KubeOvnError | undefined
  /** What a user reserved for it and it has not, and why: that can not be had, or the pod asks for something else. */
  readonly missed: MissedReservation | undefined
}

type MissedReservation = Pick<Reservation, 'object' | 'problem'>

export type PlacedNic = NicNeeds & { readonly placement: Placement }

/** What is known of a pod, or of what runs in pods, before it has its addresses. */
export interface PodFacts extends Pick<
  PodSnapshot,
  'namespace' | 'name' | 'ipObjects' | 'saysGeneration' | 'saysPairs' | 'hasRows'
> {
  readonly pods: readonly LivePod[]
  /** Nothing else tells those who count on its ports that a time has passed. */
  readonly isEnding: boolean
}

/** A pod that needs ports. */
interface LivePod {
  readonly object: Pod
  readonly holder: Holder
  readonly nics: readonly WantedNic[]
  /** All but the NICs. */
  readonly needs: Omit<PodNeeds, 'nics'>
}

interface WantedNic {
  readonly nic: PodNic
  readonly options: PortOptions
  /** What a user keeps for it. */
  readonly reserved: Ip | undefined
}

/** Reads a pod. */
export function observePod(key: string, world: ControlWorld): PodFacts {
  const [namespace = '', name = ''] = key.split('/')
  const ipObjects = world.ips.find(storeIndex.ipsByPod, key)
  const live = livePods(key, world)
  const ports = [podPortName(namespace, name), ...ipObjects.map((ip) => ip.metadata.name)]
  return {
    ...{ namespace, name, ipObjects },
    saysGeneration: world.definitions.keeps(ipResource, 'observedGeneration'),
    saysPairs: isByPods(world),
    pods: live.map((object) => observeLive(object, ipObjects, world)),
    hasRows:
      // A pod is told of its addresses when they are in the Northbound.
      live.some(({ metadata }) => allocatedNics(metadata.annotations).length > 0) ||
      ports.some((port) => world.northbound.find('Logical_Switch_Port', 'name', port).length > 0),
    isEnding: world.pods.get(key)?.metadata.deletionTimestamp !== undefined,
  }
}

/** Sees that the NICs of a pod have addresses, and that nobody has any in its name beside them. */
export function placePod(key: string, facts: PodFacts, allocation: Allocation): PodSnapshot | undefined {
  const { world } = allocation
  const { isEnding, pods: live, ...known } = facts
  if (isEnding) allocation.raise('ending', key)
  if (live.length === 0) return placeAbsent(key, { ...known, pods: [] }, allocation)
  const pods = live.map((pod) => placeNics(pod, allocation))
  const ports = new Set(pods.flatMap(({ nics }) => nics.map(({ nic }) => nic.port)))
  const others = known.ipObjects.filter(({ metadata }) => !ports.has(metadata.name))
  const reservations = observeReservations(key, others, allocation)
  const missing = pods.flatMap((needs) => missingIn(needs, allocation))
  if (missing.length === 0) {
    const reserved = reservations.map(({ object }) => object.metadata.name)
    releaseOthers(key, new Set([...ports, ...reserved]), allocation)
  }
  allocation.wait([...missing, ...missingOf(reservations, allocation)])
  const objects = live.map(({ object }) => object)
  const chassis = chassisOfMachine(key, objects, world)
  const recheckMs = objects.map((pod) => lostInMs(pod, world)).find((ms) => ms !== undefined)
  return {
    ...{ ...known, pods, chassis, kept: [], reservations },
    ...(recheckMs === undefined ? {} : { recheckMs: Math.min(Math.ceil(recheckMs), longestRecheckMs) }),
  }
}

/** Where a pod waits for what it lacks; nowhere when it has all. */
function missingIn({ problem, nics }: PodNeeds, allocation: Allocation): readonly string[] {
  if (problem !== undefined) return [anyOpening]
  return nics.flatMap(({ placement, problem: refusal }) => {
    if (placement !== undefined) return []
    return allocation.placesOf(refusal instanceof ReservationUnavailableError ? refusal.problem : refusal)
  })
}

function missingOf(reservations: readonly Reservation[], allocation: Allocation): readonly string[] {
  return reservations.flatMap(({ problem }) => (problem === undefined ? [] : allocation.placesOf(problem)))
}

/** Pods of the key that need ports. */
function livePods(key: string, world: ControlWorld): readonly Pod[] {
  const named = world.pods.get(key)
  const { settings } = world
  const candidates = [
    ...(named === undefined ? [] : [named]),
    ...world.pods.find(storeIndex.podsByMachine, key),
  ]
  const ofKey = candidates.filter((pod) => needsPort(pod) && holderKey(holderOf(pod, settings)) === key)
  return inTurn(ofKey.filter((pod) => !isLost(pod, world)))
}

/** Without a pod, NICs have what waits for it, and what a user reserved for them, or nothing. */
function placeAbsent(
  key: string,
  absent: Omit<PodSnapshot, 'chassis' | 'kept' | 'reservations'>,
  allocation: Allocation,
): PodSnapshot | undefined {
  const { ipObjects } = absent
  const reservations = observeReservations(key, ipObjects, allocation)
  const kept = keptNics(ipObjects, allocation.world)
  const dormant = kept.some(({ lease }) => lease === undefined) ? [anyOpening] : []
  allocation.wait([...missingOf(reservations, allocation), ...dormant])
  const wanted = [...reservations.map(({ object }) => object.metadata.name), ...kept.map(({ port }) => port)]
  releaseOthers(key, new Set(wanted), allocation)
  if (ipObjects.length === 0) return undefined
  return { ...absent, chassis: undefined, kept, reservations }
}

function observeLive(object: Pod, ipObjects: readonly Ip[], world: ControlWorld): LivePod {
  const { name, uid = '', annotations } = object.metadata
  const holder = holderOf(object, world.settings)
  const base = {
    name,
    uid,
    node: object.spec?.nodeName ?? '',
    nicType: world.settings.podNicType,
    kind: holder.kind,
    policies: policyPlaces(`${holder.namespace}/${name}`, world),
  }
  try {
    const nics = nicsOf(object, holder, world).map((nic) => ({ nic, ...readPortOptions(object, nic) }))
    const unsharable = unsharableVips(holder.namespace, annotations, world)
    const missing = nics.flatMap(({ nic, options }) => missingSecurityGroups(nic, options, world))
    const ignored = [...nics.flatMap(({ ignored }) => ignored), ...unsharable, ...missing]
    const staleKeys = staleNicKeys(annotations, new Set(nics.map(({ nic }) => nic.provider)))
    const wanted = nics.map(({ nic, options }): WantedNic => {
      const reserved = ipObjects.find((ip) => ip.metadata.name === nic.port && isKeptReservation(ip))
      return { nic, options, reserved }
    })
    return { object, holder, nics: wanted, needs: { ...base, problem: undefined, ignored, staleKeys } }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    const nics = recordedNics(object, holder, ipObjects, world)
    return { object, holder, nics, needs: { ...base, problem: error, ignored: [], staleKeys: [] } }
  }
}

/** The NICs that a pod has by its records, whatever it asks for by now; those that it was told of. */
function recordedNics(
  object: Pod,
  holder: Holder,
  ipObjects: readonly Ip[],
  world: ControlWorld,
): readonly WantedNic[] {
  const first = primaryNic(holder)
  return ipObjects.flatMap(({ metadata: { name: port } }): readonly WantedNic[] => {
    const provider = podPortProvider(holder.namespace, holder.name, port)
    const boundTo = networkOfNic(provider)
    const has = isOvnProvider(boundTo) ? 'port' : 'addresses'
    const nic: PodNic = provider === first.provider ? first : { provider, port, has, boundTo }
    const lease = world.ipam.lease(port)
    if (lease === undefined || world.attachments.get(lease.subnet) === undefined) return []
    if (!isTold(object, nic, lease)) return []
    return [{ nic, options: readPortOptions(object, nic).options, reserved: undefined }]
  })
}

/** Security groups that there are not: a port that names no other may do what it likes. */
function missingSecurityGroups(
  { provider, has }: PodNic,
  { securityGroups }: PortOptions,
  world: ControlWorld,
): readonly KubeOvnError[] {
  if (has !== 'port' || securityGroups === undefined) return []
  const { missing } = securityGroupsOf(securityGroups, world)
  const { key } = podAnnotations(provider).securityGroups
  const cure = 'create a SecurityGroup of this name; a port of none that there is may do what it likes'
  return missing.map((value) => new AnnotationInvalidError({ field: key, value, cure }))
}

function placeNics({ object, holder, nics, needs }: LivePod, allocation: Allocation): PodNeeds {
  return { ...needs, nics: nics.map((nic) => placeNic(object, holder, nic, allocation)) }
}

function placeNic(
  object: Pod,
  holder: Holder,
  { nic, options, reserved }: WantedNic,
  allocation: Allocation,
): NicNeeds {
  const { world } = allocation
  const nicType = object.metadata.annotations?.[podAnnotations(nic.provider).podNicType.key] ?? ''
  const base = {
    ...{ nic, options, dhcp: {}, hasNicType: nicType !== '' },
    security: securityGroupsOf(options.securityGroups, world),
    formerGroups: nic.has === 'port' ? formerSecurityGroups(nic.port, world) : [],
  }
  try {
    const home = reserved && takeReserved(reserved, object, holder, nic, allocation)
    const placement = place(object, holder, nic, allocation, home)
    const givenUp = reserved && findGivenUp(reserved, object, nic, placement.lease, world)
    const { annotations } = object.metadata
    const shared = sharedAddresses(holder.namespace, annotations, placement.network.name, world)
    const vips = [...new Set([...shared, ...options.vips])]
    const isAnnotated = isTold(object, nic, placement.lease)
    if (nic.has === 'port') askForPair(placement, nic, object, allocation)
    const told = isAnnotated ? placement : toTell(placement, world)
    return {
      ...base,
      options: { ...options, vips, sharesVip: shared.length > 0 },
      dhcp: nic.has === 'port' ? observeDhcp(nic.port, options.dhcp, placement.lease, world) : {},
      placement: asWritten(told, object, nic, world),
      isAnnotated,
      problem: undefined,
      missed: reserved && givenUp && { object: reserved, problem: givenUp },
    }
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    const missed = reserved && missedBy(reserved, object, nic, error, world)
    return { ...base, placement: undefined, isAnnotated: false, problem: error, missed }
  }
}

/** What addresses there are is no concern of a pod that was told. */
function toTell({ network, lease }: Placement, world: ControlWorld): Placement {
  const { cidrBlock = '', gateway = '' } = world.layouts.get(network.name) ?? {}
  const tag = world.vlansInEffect.get(network.vlan)
  return { network: { ...network, cidrBlock, gateway, ...(tag === undefined ? {} : { tag }) }, lease }
}

/** Where rows of a subnet are for nodes with pods of it alone, the first one asks for those of its node. */
function askForPair({ network }: Placement, { port }: PodNic, { spec }: Pod, allocation: Allocation): void {
  const { world } = allocation
  if (!network.leavesByNode || !isByPods(world)) return
  const record = world.ips.get(port)
  const recorded = record && pairOf(record)
  const node = spec?.nodeName ?? ''
  if (recorded?.subnet === network.name && recorded.node === node) return
  allocation.raise('pair', `${network.name}/${node}`)
}

/** Whether it is the reservation that a NIC without a placement lacks: its owner is told, too. */
function missedBy(
  object: Ip,
  pod: Pod,
  nic: PodNic,
  error: unknown,
  world: ControlWorld,
): MissedReservation | undefined {
  if (error instanceof ReservationUnavailableError) {
    const { problem } = error
    // The owner of one that is invalid is told of that already.
    return problem instanceof ReservationInvalidError ? undefined : { object, problem }
  }
  if (!(error instanceof KubeOvnError) || !hasLostReserved(object, pod, nic, world)) return undefined
  return { object, problem: error }
}

/** The MAC address is shown to everybody in the letters in which the user wrote it. */
function asWritten(placement: Placement, { metadata }: Pod, nic: PodNic, world: ControlWorld): Placement {
  const { network, lease } = placement
  const { annotations } = metadata
  const vip = world.vips.get(podAnnotations(nic.provider).borrowedVip.read(annotations) ?? '')
  const mac = writtenMac(lease.mac, [
    annotations?.[nic.own?.macAddress.key ?? ''],
    nic.asked?.mac,
    annotations?.[podAnnotations(nic.provider).macAddress.key],
    vip?.status?.mac,
    world.ips.get(nic.port)?.spec?.macAddress,
  ])
  return mac === lease.mac ? placement : { network, lease: { ...lease, mac } }
}
