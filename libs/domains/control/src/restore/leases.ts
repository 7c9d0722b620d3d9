import { nodeAnnotations } from '@kube-ovn/annotations'
import type { Node } from '@kube-ovn/kube-api/core'
import type { Ip } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { formatIpList } from '@kube-ovn/ip'
import {
  kindOf,
  nameOf,
  ownerOf,
  restoreRecords,
  type AddressRecord,
  type Owner,
  type OwnerKind,
  type RecordConflict,
} from '@kube-ovn/ipam'
import { externalId, nodePortName, querierPortName, vendor } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { addressesOf, isGranted, isReservation, readAddresses } from '../addresses/recorded.ts'
import type { RecordedAddresses } from '../addresses/recorded.ts'
import { addressesOfEip, eipNic } from '../addresses/eip-record.ts'
import { addressesOfVip, vipNic } from '../addresses/vip-record.ts'
import { Allocation } from '../addresses/allocation.ts'
import { subnetOwnerOf } from '../addresses/subnet-owner.ts'
import { observeReservations } from '../pods/reservation.ts'
import { holderKey, kindOfRecord } from '../pods/holder.ts'
import { isAwaited } from '../pods/sticky.ts'
import { storeIndex } from '../watched-kinds.ts'
import type { AllocatingWorld, ControlWorld } from '../world.ts'
import { eipOfPort, recordOfEip, recordOfEipPort } from './eips.ts'
import type { Holding } from './holding.ts'
import { podRecords } from './pod-records.ts'
import { recordOfVip, recordOfVipPort, vipOfPort } from './vips.ts'

/**
 * Takes every address that is seen anywhere, so that none is handed out twice.
 *
 * The durable records come first, then what pods and nodes were told, then what the Northbound holds, then what was
 * asked for and never granted. Where annotations and port of a running pod agree they come before its IP object. Of two
 * that claim one address a running pod has it, or else the first one. Each that did not get what it claims is reported.
 */
export function restoreLeases(world: AllocatingWorld, log: Logger): void {
  for (const { record, error } of takeRecorded(world, ({ subnet }) => world.ipam.hasSubnet(subnet))) {
    const { subnet, nic, owner, source } = record
    log.error('recorded address was refused', { subnet, name: nic, source, owner, err: error })
  }
}

/**
 * The same for subnets that come into effect later than others, or that have addresses again which an edit took: such as were edited
 * into something useless, so that nothing told meanwhile what they are. Whoever does not get what it claims is told as one who asks
 * for it.
 */
export function restoreLeasesOf(subnets: ReadonlySet<string>, world: AllocatingWorld): void {
  const { ipam } = world
  const meant = new Set([...subnets].filter((subnet) => hasUntaken(subnet, world)))
  if (meant.size === 0) return
  takeRecorded(world, ({ subnet, nic }) => {
    // What has moved elsewhere is not moved back; what lacks one family is given that.
    return meant.has(subnet) && (ipam.lease(nic)?.subnet ?? subnet) === subnet
  })
}

/** Whether anybody who is known by the name of the subnet has less than is recorded. There are subnets with few, and pods in plenty. */
function hasUntaken(subnet: string, { ipam, ips, vips, ovnEips }: ControlWorld): boolean {
  const lacks = (nic: string, recorded: RecordedAddresses | undefined): boolean => {
    const lease = ipam.lease(nic)
    return (
      recorded !== undefined &&
      (['v4', 'v6'] as const).some(
        (family) => recorded.addresses[family] !== undefined && lease?.[family] === undefined,
      )
    )
  }
  return (
    ips.find(storeIndex.ipsBySubnet, subnet).some((ip) => lacks(ip.metadata.name, addressesOf(ip))) ||
    vips
      .find(storeIndex.vipsBySubnet, subnet)
      .some((vip) => lacks(vipNic(vip.metadata.name), addressesOfVip(vip))) ||
    ovnEips.keys(storeIndex.eipsBySubnet, subnet).some((name) => {
      const eip = ovnEips.get(name)
      return eip !== undefined && lacks(eipNic(name), addressesOfEip(eip))
    })
  )
}

function takeRecorded(
  world: AllocatingWorld,
  isMeant: (holding: Holding) => boolean,
): readonly RecordConflict<Holding>[] {
  const ports = [...world.northbound.scan('Logical_Switch_Port')]
  const holdings = [...objectHoldings(world), ...ports.flatMap((port) => portHolding(port, world) ?? [])]
  const turns = Object.groupBy(holdings.filter(isMeant), (holding) => {
    return holding.isAsked === true ? 'asked' : isInUse(holding, world) ? 'inUse' : 'known'
  })
  const conflicts = restoreRecords(world.ipam, [...(turns.inUse ?? []), ...(turns.known ?? [])])
  for (const { nic } of turns.asked ?? []) takeAsked(nic, world)
  return conflicts
}

/** Whoever only asks for addresses has all of them or none, and is told. */
function takeAsked(nic: string, world: AllocatingWorld): void {
  const object = world.ips.get(nic)
  if (object === undefined || world.ipam.lease(nic) !== undefined) return
  const { namespace = '', podName = '' } = object.spec ?? {}
  observeReservations(holderKey({ namespace, name: podName }), [object], new Allocation(world))
}

/** Whether a pod runs with what it was told: nobody moves it by an edit of its IP object while no controller runs. */
function isInUse({ source, nic, addresses, isRunning }: Holding, world: ControlWorld): boolean {
  if (source !== 'Pod' || isRunning !== true) return false
  const [port] = world.northbound.find('Logical_Switch_Port', 'name', nic)
  const said = port === undefined ? undefined : portHolding(port, world)
  return said !== undefined && formatIpList(said.addresses) === formatIpList(addresses)
}

/** Gives what Kubernetes objects say about addresses, the durable records first. */
export function* objectHoldings(world: ControlWorld): Generator<Holding, void, undefined> {
  const join = world.settings.nodeSwitch.name
  for (const ip of world.ips.values()) yield* present(fromIpObject(ip, world))
  for (const pod of world.pods.values()) yield* podRecords(pod, world)
  for (const node of world.nodes.values()) yield* present(fromNode(node, join))
  for (const vip of world.vips.values()) yield* present(from('Vip', recordOfVip(vip, world)))
  for (const eip of world.ovnEips.scan()) yield* present(from('OvnEip', recordOfEip(eip, world)))
}

function present(held: Holding | undefined): readonly Holding[] {
  return held === undefined ? [] : [held]
}

function fromIpObject(ip: Ip, world: ControlWorld): Holding | undefined {
  const { podName = '', namespace = '', subnet = '' } = ip.spec ?? {}
  const nic = ip.metadata.name
  const kind = isReservation(ip) && kindOfRecord(ip) === 'pod' ? 'reservation' : kindOfRecord(ip)
  const owner =
    subnetOwnerOf(ip) ??
    (namespace === '' ? ownerOf('node', podName) : ownerOf(kind, `${namespace}/${podName}`))
  const isOver = !isReservation(ip) && !isAwaited(ip, world) && isGone(owner, world)
  const recorded = addressesOf(ip)
  const hasMac = recorded?.mac !== undefined || world.attachments.get(subnet)?.hasSwitch !== false
  const isAsked = isReservation(ip) && !isGranted(ip)
  const held = holding({ source: 'IP object', nic, owner, subnet, isOver, isAsked }, recorded)
  return held === undefined || hasMac ? held : { ...held, mac: false }
}

function fromNode(node: Node, subnet: string): Holding | undefined {
  const annotations = node.metadata.annotations
  const nic = nodePortName(node.metadata.name)
  const texts = (annotations?.[nodeAnnotations.ipAddress.key] ?? '').split(',')
  const mac = annotations?.[nodeAnnotations.macAddress.key]
  return holding(
    { source: 'Node', nic, owner: ownerOf('node', node.metadata.name), subnet },
    readAddresses(texts, mac),
  )
}

function from(source: Holding['source'], record: AddressRecord | undefined): Holding | undefined {
  return record === undefined ? undefined : { source, ...record }
}

/** What a port says that the controller made; `undefined` for one that it did not make, and for one of a node. */
export function portHolding(
  port: OvnNorthbound['Logical_Switch_Port'],
  world: ControlWorld,
): Holding | undefined {
  const ids = port.external_ids
  const vip = vipOfPort(port, world)
  if (vip !== undefined) return from('logical switch port', recordOfVipPort(vip, port, world))
  const eip = eipOfPort(port, world)
  if (eip !== undefined) return from('logical switch port', recordOfEipPort(eip, port, world))
  const pod = ids[externalId.pod]
  if (ids[externalId.vendor] !== vendor || pod === undefined) return undefined
  const owner = isQuerier(port)
    ? ownerOf('querier', ids[externalId.logicalSwitch] ?? '')
    : ownerOf(kindOfPort(port.name, pod, world), pod)
  const [mac, ...texts] = (port.addresses[0] ?? '').split(' ')
  const subnet = ids[externalId.logicalSwitch] ?? ''
  const record = world.ips.get(port.name)
  const isOver = isGone(owner, world) && (record === undefined || !isAwaited(record, world))
  return holding(
    { source: 'logical switch port', nic: port.name, owner, subnet, isOver },
    readAddresses(texts, mac),
  )
}

function isQuerier({ name, external_ids: ids }: OvnNorthbound['Logical_Switch_Port']): boolean {
  return name === querierPortName(ids[externalId.logicalSwitch] ?? '')
}

/** A port does not say whose it is; its record does, and the pods that it is for. */
function kindOfPort(port: string, pod: string, world: ControlWorld): OwnerKind {
  const record = world.ips.get(port)
  if (record !== undefined) return kindOfRecord(record)
  return runsMachine(pod, world) ? 'vm' : 'pod'
}

function runsMachine(name: string, { pods, settings }: ControlWorld): boolean {
  return settings.keepVmIp && pods.find(storeIndex.podsByMachine, name).length > 0
}

/** Whether nobody will come for the addresses. */
function isGone(owner: Owner, world: ControlWorld): boolean {
  const name = nameOf(owner)
  switch (kindOf(owner)) {
    case 'node':
      return world.nodes.get(name) === undefined
    case 'vm':
      return !runsMachine(name, world)
    case 'querier':
    case 'router-port':
      return world.subnets.get(name) === undefined
    default:
      return world.pods.get(name) === undefined
  }
}

function holding(
  holder: Pick<Holding, 'source' | 'nic' | 'owner' | 'subnet' | 'isOver' | 'isAsked'>,
  recorded: RecordedAddresses | undefined,
): Holding | undefined {
  return recorded === undefined ? undefined : { ...holder, ...recorded }
}
