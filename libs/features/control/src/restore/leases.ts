import { nodeAnnotations, readPodNetwork } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import { familyOf, tryParseIp, tryParseMac } from '@kube-ovn/ip'
import type { DualStackIp, Ip as Address } from '@kube-ovn/ip'
import type { Node, Pod } from '@kube-ovn/kube-api/core'
import type { Ip } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { externalId, nodePortName, podPortName, vendor } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { needsPort } from '../pod-port/alive.ts'
import type { ControlWorld } from '../world.ts'

interface Holding {
  readonly source: 'IP object' | 'Pod' | 'Node' | 'logical switch port'
  readonly nic: string
  readonly owner: string
  readonly subnet: string
  readonly addresses: DualStackIp
  readonly mac: string | undefined
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
  const { nic, owner, subnet, addresses, mac, source } = holding
  const known = world.ipam.lease(nic)
  if (known !== undefined) return
  const families = [addresses.v4, addresses.v6].filter((address) => address !== undefined)
  const only = families.length === 1 && families[0] !== undefined ? familyOf(families[0]) : undefined
  try {
    world.ipam.allocate({ subnet, nic, owner, static: addresses, mac, family: only })
  } catch (error) {
    if (!(error instanceof KubeOvnError)) throw error
    log.error('recorded address was refused', { subnet, name: nic, source, err: error })
  }
}

function fromIpObject(ip: Ip): Holding | undefined {
  const { podName = '', namespace = '', subnet = '', v4IpAddress, v6IpAddress, macAddress } = ip.spec ?? {}
  const owner = namespace === '' ? ip.metadata.name : `${namespace}/${podName}`
  return holding('IP object', ip.metadata.name, owner, subnet, [v4IpAddress, v6IpAddress], macAddress)
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
  return holding('Node', nic, nic, subnet, texts, annotations?.[nodeAnnotations.macAddress.key])
}

function fromPort(port: OvnNorthbound['Logical_Switch_Port']): Holding | undefined {
  const ids = port.external_ids
  const owner = ids[externalId.pod]
  if (ids[externalId.vendor] !== vendor || owner === undefined) return undefined
  const [mac, ...texts] = (port.addresses[0] ?? '').split(' ')
  return holding('logical switch port', port.name, owner, ids[externalId.logicalSwitch] ?? '', texts, mac)
}

function holding(
  source: Holding['source'],
  nic: string,
  owner: string,
  subnet: string,
  texts: readonly (string | undefined)[],
  mac: string | undefined,
): Holding | undefined {
  const ips = texts.flatMap((text) => tryParseIp(text ?? '') ?? [])
  if (ips.length === 0) return undefined
  return { source, nic, owner, subnet, addresses: byFamily(ips), mac: tryParseMac(mac ?? '') }
}

function byFamily(ips: readonly Address[]): DualStackIp {
  const v4 = ips.find((ip) => typeof ip === 'number')
  const v6 = ips.find((ip) => typeof ip === 'bigint')
  return { v4, v6 }
}
