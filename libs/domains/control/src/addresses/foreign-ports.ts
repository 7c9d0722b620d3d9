import { formatIp, tryParseIp, type Ip } from '@kube-ovn/ip'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { rowTable } from '@kube-ovn/tables'
import { switches, switchPorts } from '../sources.ts'

/** What a port has that somebody else put on a switch. */
interface ForeignPort {
  readonly switch: string
  readonly addresses: readonly Ip[]
}

/** Ports on switches that neither we nor an older version made: nobody is given by itself what they have. */
export const foreignPorts = rowTable({
  name: 'foreign-ports',
  of: switchPorts,
  reads: { switches },
  row: (port, { switches }, uuid): ForeignPort | undefined => {
    if (port.external_ids[externalId.vendor] === vendor) return undefined
    // A switch knows its ports, a port not its switch; there are few ports of others.
    const home = switches.scan().find(({ ports }) => ports.includes(uuid))
    return home && { switch: home.name, addresses: addressesOf(port) }
  },
  indexes: { address: (port: ForeignPort) => port.addresses.map((ip) => placeOf(port.switch, ip)) },
})

/** An address on a switch, as the index `address` of {@link foreignPorts} has it. */
export function placeOf(switchName: string, ip: Ip): string {
  return `${switchName} ${formatIp(ip)}`
}

/** @see ovn-nb(5), Logical_Switch_Port, addresses */
function addressesOf({ addresses }: OvnNorthbound['Logical_Switch_Port']): readonly Ip[] {
  return addresses.flatMap((text) => text.split(' ').flatMap((word) => tryParseIp(word) ?? []))
}
