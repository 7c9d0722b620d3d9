import { tryParseIp } from '@kube-ovn/ip'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { ControlWorld } from '../world.ts'
import type { ForeignPort } from './foreign-addresses.ts'

type Port = OvnNorthbound['Logical_Switch_Port']

/** Reads what a port has that somebody else put on the switch of a subnet; nothing if there is no such port. */
export function foreignPort(name: string, world: ControlWorld): ForeignPort | undefined {
  const port = world.northbound.find('Logical_Switch_Port', 'name', name)[0]
  if (port === undefined || !isForeign(port)) return undefined
  const subnet = switchOf(port, world)
  return subnet === undefined ? undefined : { subnet, addresses: addressesOf(port) }
}

/** Finds the ports of others at a start, before anybody is given an address. */
export function noteForeignPorts(world: ControlWorld): void {
  for (const { name, ports } of world.northbound.scan('Logical_Switch')) {
    if (!world.networks.has(name)) continue
    for (const port of foreignOf(ports, world))
      world.foreignAddresses.set(port.name, { subnet: name, addresses: addressesOf(port) })
  }
}

/** Names of the ports that somebody else put on the switch of a subnet. */
export function foreignPortsOn(subnet: string, world: ControlWorld): readonly string[] {
  return [...world.northbound.scan('Logical_Switch')]
    .filter(({ name }) => name === subnet)
    .flatMap(({ ports }) => foreignOf(ports, world).map(({ name }) => name))
}

function foreignOf(ports: readonly string[], { northbound }: ControlWorld): readonly Port[] {
  return ports.flatMap((uuid) => {
    const port = northbound.get('Logical_Switch_Port', uuid)
    return port !== undefined && isForeign(port) ? [port] : []
  })
}

/** Whether neither we nor an older version made the port. */
export function isForeign({ external_ids: ids }: { readonly external_ids?: unknown }): boolean {
  const mark =
    typeof ids === 'object' && ids !== null && externalId.vendor in ids ? ids[externalId.vendor] : undefined
  return mark !== vendor
}

/** @see ovn-nb(5), Logical_Switch_Port, addresses */
function addressesOf({ addresses }: Port) {
  return addresses.flatMap((text) => text.split(' ').flatMap((word) => tryParseIp(word) ?? []))
}

/** A switch knows its ports, a port not its switch; there are few ports of others. */
function switchOf({ _uuid }: Port, { northbound, networks }: ControlWorld): string | undefined {
  for (const { name, ports } of northbound.scan('Logical_Switch')) {
    if (networks.has(name) && ports.includes(_uuid)) return name
  }
  return undefined
}
