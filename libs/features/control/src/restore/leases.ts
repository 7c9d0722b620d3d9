import { nodeAnnotations, readPodNetwork } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import type { Ip, Vip } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { kindOf, nameOf, ownerOf, restoreRecords, type AddressRecord, type Owner } from '@kube-ovn/ipam'
import { externalId, nodePortName, podPortName, vendor } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { addressesOf, isReservation, readAddresses } from '../addresses/recorded.ts'
import type { RecordedAddresses } from '../addresses/recorded.ts'
import { needsPort } from '../pod-port/alive.ts'
import type { ControlWorld } from '../world.ts'
import { recordOfVip, recordOfVipPort, vipOfPort } from './vips.ts'

/** A record of addresses, and where it stands. */
export interface Holding extends AddressRecord {
  readonly source: 'IP object' | 'Pod' | 'Node' | 'Vip' | 'logical switch port'
}

/**
 * Takes every address that is seen anywhere, so that none is handed out twice.
 *
 * The durable records come first, then what pods and nodes were told, then what the Northbound holds. Of two that
 * claim one address a running pod has it, or else the first one. Each that did not get what it claims is reported.
 */
export function restoreLeases(world: ControlWorld, log: Logger): void {
  const ports = [...world.northbound.scan('Logical_Switch_Port')]
  const holdings = [...objectHoldings(world), ...ports.flatMap((port) => portHolding(port, world) ?? [])]
  const records = holdings.filter(({ subnet }) => world.ipam.hasSubnet(subnet))
  for (const { record, error } of restoreRecords(world.ipam, records)) {
    const { subnet, nic, owner, source } = record
    log.error('recorded address was refused', { subnet, name: nic, source, owner, err: error })
  }
}

/** Gives what Kubernetes objects say about addresses, the durable records first. */
export function* objectHoldings(world: ControlWorld): Generator<Holding, void, undefined> {
  const join = world.settings.nodeSwitch.name
  for (const ip of world.ips.values()) yield* present(fromIpObject(ip, world))
  for (const pod of world.pods.values()) yield* present(fromPod(pod))
  for (const node of world.nodes.values()) yield* present(fromNode(node, join))
  for (const vip of world.vips.values()) yield* present(fromVip(vip, world))
}

function present(held: Holding | undefined): readonly Holding[] {
  return held === undefined ? [] : [held]
}

function fromIpObject(ip: Ip, world: ControlWorld): Holding | undefined {
  const { podName = '', namespace = '', subnet = '' } = ip.spec ?? {}
  const nic = ip.metadata.name
  const owner = namespace === '' ? ownerOf('node', podName) : ownerOf('pod', `${namespace}/${podName}`)
  const isOver = !isReservation(ip) && isGone(owner, world)
  return holding({ source: 'IP object', nic, owner, subnet, isOver }, addressesOf(ip))
}

function fromPod(pod: Pod): Holding | undefined {
  if (!needsPort(pod)) return undefined
  const { namespace = '', name } = pod.metadata
  try {
    const network = readPodNetwork(pod.metadata.annotations)
    if (network?.logicalSwitch === undefined) return undefined
    const { addresses, mac, logicalSwitch } = network
    return {
      source: 'Pod',
      nic: podPortName(namespace, name),
      owner: ownerOf('pod', `${namespace}/${name}`),
      subnet: logicalSwitch,
      addresses,
      mac,
      isRunning: pod.status?.phase === 'Running',
    }
  } catch (error) {
    // Unreadable annotations hold no address; the feature writes them anew.
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
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

function fromVip(vip: Vip, world: ControlWorld): Holding | undefined {
  const record = recordOfVip(vip, world)
  return record === undefined ? undefined : { source: 'Vip', ...record }
}

/** What a port says that the controller made; `undefined` for one that it did not make, and for one of a node. */
export function portHolding(
  port: OvnNorthbound['Logical_Switch_Port'],
  world: ControlWorld,
): Holding | undefined {
  const ids = port.external_ids
  const vip = vipOfPort(port, world)
  if (vip !== undefined) {
    const record = recordOfVipPort(vip, port, world)
    return record === undefined ? undefined : { source: 'logical switch port', ...record }
  }
  const pod = ids[externalId.pod]
  if (ids[externalId.vendor] !== vendor || pod === undefined) return undefined
  const owner = ownerOf('pod', pod)
  const [mac, ...texts] = (port.addresses[0] ?? '').split(' ')
  const subnet = ids[externalId.logicalSwitch] ?? ''
  const isOver = isGone(owner, world)
  return holding(
    { source: 'logical switch port', nic: port.name, owner, subnet, isOver },
    readAddresses(texts, mac),
  )
}

/** Whether nobody will come for the addresses. */
function isGone(owner: Owner, { pods, nodes }: ControlWorld): boolean {
  const name = nameOf(owner)
  return kindOf(owner) === 'node' ? nodes.get(name) === undefined : pods.get(name) === undefined
}

function holding(
  holder: Pick<Holding, 'source' | 'nic' | 'owner' | 'subnet' | 'isOver'>,
  recorded: RecordedAddresses | undefined,
): Holding | undefined {
  return recorded === undefined ? undefined : { ...holder, ...recorded }
}
