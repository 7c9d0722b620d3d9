import { rowTable } from '@kube-ovn/tables'
import { subnets } from '../sources.ts'

/** The route table that the router looks into for what comes from a Subnet. Those that have the main one are not there. */
export const routeTables = rowTable({
  name: 'route-tables',
  of: subnets,
  row: ({ spec }): string | undefined => spec?.routeTable || undefined,
})
