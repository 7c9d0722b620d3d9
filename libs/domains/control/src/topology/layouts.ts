import { rowTable } from '@kube-ovn/tables'
import type { Network } from './network.ts'
import { networks } from './subnet-states.ts'

/** Where a subnet is plugged in, and its prefixes: of a network all but which of its addresses are given, and what nodes make of it. */
export type Layout = Omit<Network, 'excludeIps' | 'natOutgoing' | 'mtu'>

/** The subnets that are in effect, as routers and switches see them. Most of what is derived from networks comes of these. */
export const layouts = rowTable({
  name: 'layouts',
  of: networks,
  row: ({ excludeIps: _excludeIps, natOutgoing: _natOutgoing, mtu: _mtu, ...layout }): Layout => layout,
  indexes: { vpc: ({ vpc }: Layout) => [vpc] },
})
