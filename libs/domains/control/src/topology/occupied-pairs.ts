import { switchedOn } from '@kube-ovn/process'
import type { Ip } from '@kube-ovn/kube-api'
import { rowTable } from '@kube-ovn/tables'
import { flagsOf } from '../flags.ts'
import { ips, settingsOf, settingsTable } from '../sources.ts'
import type { ControlWorld } from '../world.ts'

/** By which it is decided for which nodes a distributed subnet has rows. */
export const pairFlags = {
  gatewayRowsByPods: switchedOn(
    false,
    'Make the rows by which a subnet leaves by a node only for nodes that have pods of it. New.',
  ),
} as const

/** The node and the subnet of each NIC that is on a node; empty while rows are made for all nodes. */
export const occupiedPairs = rowTable({
  name: 'occupied-pairs',
  of: ips,
  reads: { settingsTable },
  row: (record, views): Pair | undefined =>
    flagsOf(pairFlags, settingsOf(views.settingsTable)).gatewayRowsByPods ? pairOf(record) : undefined,
  indexes: {
    pair: ({ subnet, node }: Pair) => [`${subnet}/${node}`],
    subnet: ({ subnet }: Pair) => [subnet],
    node: ({ node }: Pair) => [node],
  },
})

/** A subnet, and a node that has a NIC with an address of it. */
interface Pair {
  readonly subnet: string
  readonly node: string
}

/** The pair that a record of addresses is about. */
export function pairOf({ spec: { subnet = '', nodeName: node = '' } = {} }: Ip): Pair | undefined {
  return subnet !== '' && node !== '' ? { subnet, node } : undefined
}

/** Whether rows are for pairs with pods alone. */
export function isByPods({ settings }: Pick<ControlWorld, 'settings'>): boolean {
  return flagsOf(pairFlags, settings).gatewayRowsByPods
}

/** Whether there are to be the rows by which a subnet leaves by a node, as far as the two decide. */
export function isOccupied(
  subnet: string,
  node: string,
  world: Pick<ControlWorld, 'settings' | 'table'>,
): boolean {
  return !isByPods(world) || world.table(occupiedPairs).some('pair', `${subnet}/${node}`)
}
