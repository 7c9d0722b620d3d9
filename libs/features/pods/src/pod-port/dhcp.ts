import { familyOf, type Family } from '@kube-ovn/ip'
import type { Lease } from '@kube-ovn/ipam'
import { portDhcp, subnetDhcp } from '@kube-ovn/ovn-names'
import type { ColumnValue, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds, ref } from '@kube-ovn/domains-control'
import type { ControlWorld } from '@kube-ovn/domains-control'
import type { PortOptions } from '@kube-ovn/domains-control/pods'
import {
  answerOf,
  dhcpIdOf,
  dhcpIds,
  presentAnswer,
  unusable,
  type DhcpAnswer,
} from '@kube-ovn/domains-control/topology'

/** How requests of a port are answered by DHCP, of the families in which they are: as its subnet says, or otherwise. */
export type PortDhcp = Readonly<Partial<Record<Family, DhcpAnswer | typeof bySubnet>>>

const bySubnet = 'by-subnet'

/** Finds how requests of a port are answered, in the families of its addresses. */
export function observeDhcp(
  port: string,
  wishes: PortOptions['dhcp'],
  { subnet, v4, v6 }: Lease,
  world: ControlWorld,
): PortDhcp {
  const families = [v4, v6].flatMap((ip) => (ip === undefined ? [] : [familyOf(ip)]))
  const answers = families.flatMap((family) => {
    const answer =
      ownAnswer(port, subnet, family, wishes[family], world) ??
      (world.dhcpFamilies.get(subnet)?.includes(family) === true ? bySubnet : undefined)
    return answer === undefined ? [] : [[family, answer] as const]
  })
  return Object.fromEntries(answers)
}

/** What can not be read leaves what is there. */
function ownAnswer(
  port: string,
  subnet: string,
  family: Family,
  wish: PortOptions['dhcp'][Family],
  world: ControlWorld,
): DhcpAnswer | undefined {
  if (wish === undefined) return undefined
  const id = dhcpIdOf(port, family)
  if (wish === unusable) return presentAnswer(portDhcp, id, world)
  const network = world.networks.get(subnet)
  return network && answerOf(portDhcp, id, wish, network, family, world)
}

/** The port of a row of {@link desiredDhcp}. */
export function portOfDhcp(id: string): string {
  return id.slice(0, id.lastIndexOf('/'))
}

/**
 * Computes by which rows a port is answered, and those that are for it alone.
 *
 * @see ovn-nb(5), Logical_Switch_Port, dhcpv4_options, dhcpv6_options
 */
export function desiredDhcp(
  port: string,
  subnet: string,
  dhcp: PortDhcp,
): { readonly rows: readonly OwnedRow[]; readonly columns: Readonly<Record<string, ColumnValue>> } {
  const rows: OwnedRow[] = []
  const rowOf = (family: Family): ColumnValue => {
    const answer = dhcp[family]
    if (answer === undefined) return undefined
    if (answer === bySubnet) return ref(subnetDhcp, dhcpIdOf(subnet, family))
    const id = dhcpIdOf(port, family)
    rows.push({
      kind: portDhcp,
      id,
      columns: { ...answer, external_ids: externalIds(dhcpIds(subnet, family, port)) },
    })
    return ref(portDhcp, id)
  }
  const columns = { dhcpv4_options: rowOf(4), dhcpv6_options: rowOf(6) }
  return { rows, columns }
}
