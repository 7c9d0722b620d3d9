import { nodeAnnotations, readPodNetwork } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import type { Ip } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { externalId, nodePortName, podPortName, vendor } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { addressesOf, readAddresses, requestOf } from '../addresses/recorded.ts'
import type { RecordedAddresses } from '../addresses/recorded.ts'
import { needsPort } from '../pod-port/alive.ts'
import type { ControlWorld } from '../world.ts'

interface Holding extends RecordedAddresses {
  readonly source: 'IP object' | 'Pod' | 'Node' | 'logical switch port'
  readonly nic: string
  readonly owner: string
  readonly subnet: string
}

/**
 * Takes every address that is seen anywhere, so that none is handed out twice.
 *
 * The durable records come first, then what pods and nodes were told, then what the Northbound holds. Two that claim
 * one address are reported; the first one has it.
 */
export function restoreLeases(world: ControlWorld, log: Logger): void {
  for (const ip of world.ips.values()) take(fromIpObject(ip), world, log)
  for (const pod of world.pods.values()) take(fromPod(pod), world, log)
  for (const node of world.nodes.values()) take(fromNode(node, world.settings.nodeSwitch.name), world, log)
  for (const port of world.northbound.scan('Logical_Switch_Port')) take(fromPort(port), world, log)
}

function take(holding: Holding | undefined, world: ControlWorld, log: Logger): void {
  if (holding === undefined || !world.ipam.hasSubnet(holding.subnet)) return
  const { nic, owner, subnet, source } = holding
  if (world.ipam.lease(nic) !== undefined) return
  try {
    world.ipam.allocate({ subnet, nic, owner, ...requestOf(holding) })
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    log.error('recorded address was refused', { subnet, name: nic, source, err: error })
  }
}

function fromIpObject(ip: Ip): Holding | undefined {
  const { podName = '', namespace = '', subnet = '' } = ip.spec ?? {}
  const nic = ip.metadata.name
  const owner = namespace === '' ? nic : `${namespace}/${podName}`
  return holding({ source: 'IP object', nic, owner, subnet }, addressesOf(ip))
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
      owner: `${namespace}/${name}`,
      subnet: logicalSwitch,
      addresses,
      mac,
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
  return holding({ source: 'Node', nic, owner: nic, subnet }, readAddresses(texts, mac))
}

function fromPort(port: OvnNorthbound['Logical_Switch_Port']): Holding | undefined {
  const ids = port.external_ids
  const owner = ids[externalId.pod]
  if (ids[externalId.vendor] !== vendor || owner === undefined) return undefined
  const [mac, ...texts] = (port.addresses[0] ?? '').split(' ')
  const subnet = ids[externalId.logicalSwitch] ?? ''
  return holding({ source: 'logical switch port', nic: port.name, owner, subnet }, readAddresses(texts, mac))
}

function holding(
  holder: Pick<Holding, 'source' | 'nic' | 'owner' | 'subnet'>,
  recorded: RecordedAddresses | undefined,
): Holding | undefined {
  return recorded === undefined ? undefined : { ...holder, ...recorded }
}
