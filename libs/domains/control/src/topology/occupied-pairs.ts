import { switchedOn } from '@kube-ovn/process'
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

/** The node and the subnet of each NIC that is on a node, by both; empty while rows are made for all nodes. */
export const occupiedPairs = rowTable({
  name: 'occupied-pairs',
  of: ips,
  reads: { settingsTable },
  row: ({ spec: { subnet = '', nodeName = '' } = {} }, views): string | undefined =>
    subnet !== '' && nodeName !== '' && flagsOf(pairFlags, settingsOf(views.settingsTable)).gatewayRowsByPods
      ? `${subnet}/${nodeName}`
      : undefined,
  indexes: { pair: (pair: string) => [pair] },
})

/** Whether there are to be the rows by which a subnet leaves by a node, as far as the two decide. */
export function isOccupied(
  subnet: string,
  node: string,
  world: Pick<ControlWorld, 'settings' | 'table'>,
): boolean {
  const isByPods = flagsOf(pairFlags, world.settings).gatewayRowsByPods
  return !isByPods || world.table(occupiedPairs).some('pair', `${subnet}/${node}`)
}
