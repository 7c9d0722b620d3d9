import { macFromName, tryParseMac, type Family } from '@kube-ovn/ip'
import { externalId, type RowKind } from '@kube-ovn/ovn-names'
import type { ControlWorld } from '../world.ts'
import { withDefaults, type DhcpOptions } from './dhcp-options.ts'
import { dhcpRowName, type DhcpAnswer } from './dhcp.ts'
import { leasedAddress } from './join-address.ts'
import { familiesOf, type Network } from './network.ts'

/** What a row answers at present. */
export function presentAnswer(kind: RowKind, id: string, world: DhcpWorld): DhcpAnswer | undefined {
  const [row] = world.dhcpRows.find('name', dhcpRowName(kind, id))
  return row && { cidr: row.cidr, options: row.options }
}

export function rowIdOf(kind: RowKind, id: string, world: DhcpWorld): string | undefined {
  return world.dhcpRows.find('name', dhcpRowName(kind, id))[0]?.uuid
}

type DhcpWorld = Pick<ControlWorld, 'dhcpRows' | 'interconnections'>

/**
 * What is to be answered in a network, in one of its families. The server keeps the MAC address that it has, as it is written: hosts know
 * it.
 */
export function answerOf(
  kind: RowKind,
  id: string,
  given: DhcpOptions,
  network: Network,
  family: Family,
  world: DhcpWorld,
): DhcpAnswer | undefined {
  const share = familiesOf(network).find((one) => one.family === family)
  if (share === undefined) return undefined
  const { cidr } = share
  // The router of the VPC knows the way to all that the physical gateway does not.
  const router = leasedAddress(world.interconnections.get(network.name)?.addresses, family)
  const gateway = router ?? share.gateway
  const present = presentAnswer(kind, id, world)?.options[family === 4 ? 'server_mac' : 'server_id'] ?? ''
  const mac = tryParseMac(present) === undefined ? macFromName(dhcpRowName(kind, id)) : present
  const mtu = network.mtu > 0 ? network.mtu : network.vlan === '' ? tunnelMtu : ethernetMtu
  return { cidr, options: withDefaults(given, family, { mac, gateway, mtu }) }
}

/**
 * Bytes that fit through a tunnel of Geneve between nodes of an Ethernet. Those of the others (VXLAN, STT) let more through; what they are
 * the agents of nodes know alone.
 */
const tunnelMtu = 1400

/** Bytes of a frame of the physical network, which no tunnel makes longer. */
const ethernetMtu = 1500

/** What `external_ids` say of a row of options. */
export function dhcpIds(subnet: string, family: Family, port?: string): Readonly<Record<string, string>> {
  return {
    [externalId.logicalSwitch]: subnet,
    [externalId.protocol]: `IPv${family}`,
    ...(port === undefined ? {} : { [externalId.port]: port }),
  }
}
