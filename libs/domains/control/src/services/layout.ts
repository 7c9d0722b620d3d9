import { protocols } from '@kube-ovn/endpoints'
import { balancerGroup, balancerGroupName, loadBalancer, preferLocalOption } from '@kube-ovn/ovn-names'
import { countEntries, databaseTable } from '@kube-ovn/reconcile'
import { rowTable } from '@kube-ovn/tables'
import { flagsOf } from '../flags.ts'
import { switches } from '../sources.ts'
import type { ControlWorld } from '../world.ts'
import { balancerFlags, type balancerLayouts } from './balancer-flags.ts'
import { usualAffinitySeconds } from './affinity.ts'
import type { Wanted } from './scopes.ts'

type Layout = (typeof balancerLayouts)[number]

export function layoutOf({ settings }: Pick<ControlWorld, 'settings'>): Layout {
  return flagsOf(balancerFlags, settings).loadBalancerLayout
}

const balancerRows = databaseTable('Load_Balancer')
const groupRows = databaseTable('Load_Balancer_Group')

/** A load balancer that Services share and that has entries. */
interface FilledBalancer extends Wanted {
  readonly name: string
}

/** Those that have entries, of the layout in which Services share them. */
export const filledBalancers = rowTable({
  name: 'filled-balancers',
  of: balancerRows,
  row: (row): FilledBalancer | undefined => {
    const { name, options, vips } = row
    const protocol = protocols.find((one) => one === row.protocol)
    if (protocol === undefined || options[preferLocalOption] === undefined) return undefined
    if (countEntries(vips) === 0 || loadBalancer.identify(row, undefined) === undefined) return undefined
    const family = /^ipv([46])$/.exec(options['address-family'] ?? '')?.[1]
    const nodes = family === undefined ? undefined : family === '4' ? 4 : 6
    const isSticky = row.selection_fields.length > 0
    const affinity = isSticky ? Number(options['affinity_timeout'] ?? usualAffinitySeconds) : undefined
    return { name, protocol, affinity, nodes }
  },
  indexes: { all: () => [''] },
})

/** The groups that are on a switch. */
const switchGroups = rowTable({
  name: 'switch-groups',
  of: switches,
  row: ({ load_balancer_group: groups }) => (groups.length === 0 ? undefined : { groups }),
  indexes: { group: ({ groups }: { readonly groups: readonly string[] }) => groups },
})

/** What there is of a group of load balancers. */
export interface GroupInUse {
  readonly name: string
  /** Load balancers are in it. */
  readonly isFilled: boolean
}

/** Groups of VPCs that have load balancers in them, or are on switches. */
export const groupsInUse = rowTable({
  name: 'groups-in-use',
  of: groupRows,
  reads: { switchGroups },
  row: (row, views, uuid): GroupInUse | undefined => {
    const name = balancerGroup.identify(row, undefined)
    const isFilled = row.load_balancer.length > 0
    if (name === undefined || (!isFilled && !views.switchGroups.some('group', uuid))) return undefined
    return { name, isFilled }
  },
  indexes: { name: ({ name }: GroupInUse) => [name] },
})

/** What becomes of the group of a VPC: where it is not wanted any more, it stays on switches as long as load balancers are in it. */
export function groupOf(
  vpc: string,
  world: Pick<ControlWorld, 'settings' | 'table'>,
): { readonly name: string; readonly isThere: boolean; readonly isOnSwitches: boolean } {
  const name = balancerGroupName(vpc)
  const isWanted = layoutOf(world) === 'per-service'
  const [found] = world.table(groupsInUse).find('name', name)
  return {
    name,
    isThere: isWanted || found !== undefined,
    isOnSwitches: isWanted || found?.isFilled === true,
  }
}
