import type { Family } from '@kube-ovn/ip'
import type { SubnetStatus } from '@kube-ovn/kube-api'
import { subnetDhcp } from '@kube-ovn/ovn-names'
import { answerOf, dhcpIdOf, rowIdOf, unusable, type DhcpAnswer } from '@kube-ovn/domains-control/topology'
import type { ControlWorld } from '@kube-ovn/domains-control'

/** What a subnet answers by DHCP, and what its status says of that. */
export interface DhcpSnapshot {
  readonly subnet: string
  readonly families: readonly DhcpFamily[]
}

export interface DhcpFamily {
  readonly family: Family
  /** Nothing where no request is answered. */
  readonly answer: DhcpAnswer | undefined
  /** Of the row, once it is there. */
  readonly rowId: string | undefined
  /** The row that the status names, if it names one. */
  readonly said: string
}

/** Fields of the status that name the rows. */
export const statusField = { 4: 'dhcpV4OptionsUUID', 6: 'dhcpV6OptionsUUID' } as const

/** Reads what a subnet answers; `unusable` while it can not be used, which leaves what it had before. */
export function observeDhcp(subnet: string, world: ControlWorld): DhcpSnapshot | typeof unusable | undefined {
  const wishes = world.dhcps.get(subnet)
  const network = wishes === undefined ? undefined : world.networks.get(subnet)
  if (wishes === unusable || (wishes !== undefined && network === undefined)) return unusable
  const status = world.subnets.get(subnet)?.status
  const isServed = wishes !== undefined && network?.hasSwitch === true
  if (!isServed && !saysAny(status)) return undefined
  const families = ([4, 6] as const).map((family): DhcpFamily => {
    const id = dhcpIdOf(subnet, family)
    const answer = isServed ? answerOf(subnetDhcp, id, wishes[family], network, family, world) : undefined
    const said = status?.[statusField[family]] ?? ''
    return { family, answer, rowId: answer && rowIdOf(subnetDhcp, id, world), said }
  })
  return { subnet, families }
}

function saysAny(status: SubnetStatus | undefined): boolean {
  return Object.values(statusField).some((field) => (status?.[field] ?? '') !== '')
}
