import type { Ip } from '@kube-ovn/kube-api'
import { switchedOn } from '@kube-ovn/process'
import { factTable } from '@kube-ovn/reconcile'
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

const indexes = {
  pair: ({ subnet, node }: Pair) => [`${subnet}/${node}`],
  subnet: ({ subnet }: Pair) => [subnet],
  node: ({ node }: Pair) => [node],
}

/** The node and the subnet of each NIC that a record tells of; empty while rows are made for all nodes. */
const recordedPairs = rowTable({
  name: 'recorded-pairs',
  of: ips,
  reads: { settingsTable },
  row: (record, views): Pair | undefined =>
    flagsOf(pairFlags, settingsOf(views.settingsTable)).gatewayRowsByPods ? pairOf(record) : undefined,
  indexes,
})

/**
 * The same of each port that a pod was given, by its name: said by pods, before the record is written. One pass of ten thousand pods has
 * as many records to write, and rows of pairs do not wait for these.
 */
export const placedPairs = factTable<Pair, keyof typeof indexes>({ name: 'placed-pairs', indexes })

/** To be declared by who asks whether a pair is occupied. */
export const pairTables = [recordedPairs, placedPairs] as const

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
  return !isByPods(world) || pairTables.some((table) => world.table(table).some('pair', `${subnet}/${node}`))
}

/** All pairs of a subnet, or of a node, each at least once. */
export function pairsWith(
  of: 'subnet' | 'node',
  name: string,
  world: Pick<ControlWorld, 'table'>,
): readonly Pair[] {
  return pairTables.flatMap((table) => world.table(table).find(of, name))
}
