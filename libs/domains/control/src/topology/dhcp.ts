import type { Family } from '@kube-ovn/ip'
import { portDhcp, subnetDhcp, type RowKind } from '@kube-ovn/ovn-names'
import { rowTable } from '@kube-ovn/tables'
import { dhcpOptionRows } from '../sources.ts'
import { unusable } from './aspect.ts'
import type { DhcpOptions } from './dhcp-options.ts'
import { dhcps } from './dhcp-wishes.ts'
import { layouts } from './layouts.ts'
import { familiesOf } from './network.ts'

interface DhcpRow extends DhcpAnswer {
  readonly uuid: string
  /** Which row it is, as {@link dhcpRowName} has it. */
  readonly names: readonly string[]
}

/** Columns of a row of options, beside who it is for. */
export interface DhcpAnswer {
  readonly cidr: string
  readonly options: DhcpOptions
}

/** Options of DHCP as they are in the Northbound, ours and those of an older version. */
export const dhcpRows = rowTable({
  name: 'dhcp-rows',
  of: dhcpOptionRows,
  row: (row, _views, uuid): DhcpRow | undefined => {
    const { cidr, options } = row
    const names = [subnetDhcp, portDhcp].flatMap((kind) => {
      const id = kind.identify(row, undefined)
      return id === undefined ? [] : [dhcpRowName(kind, id)]
    })
    return names.length === 0 ? undefined : { uuid, names, cidr, options }
  },
  indexes: { name: ({ names }: DhcpRow) => names },
})

/** The name of a row in the index of {@link dhcpRows}. */
export function dhcpRowName(kind: RowKind, id: string): string {
  return `${kind.name}/${id}`
}

/** How the row of a family is told from others of its kind, by the subnet or the port that it is for. */
export function dhcpIdOf(holder: string, family: Family): string {
  return `${holder}/${family}`
}

/** The families in which a subnet answers by DHCP, of those that do: who has a port there needs to know no more. */
export const dhcpFamilies = rowTable({
  name: 'dhcp-families',
  of: layouts,
  reads: { dhcps, dhcpRows },
  row: (network, views, subnet): readonly Family[] | undefined => {
    const wishes = views.dhcps.get(subnet)
    if (wishes === undefined || !network.hasSwitch) return undefined
    const families = familiesOf(network).map(({ family }) => family)
    // What can not be used leaves what is there.
    return wishes === unusable
      ? families.filter((family) =>
          views.dhcpRows.some('name', dhcpRowName(subnetDhcp, dhcpIdOf(subnet, family))),
        )
      : families
  },
})
