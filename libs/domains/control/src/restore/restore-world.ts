import type { Logger } from '@kube-ovn/log'
import type { DerivedTables } from '@kube-ovn/reconcile'
import type { AllocatingWorld } from '../world.ts'
import { restoreLeases } from './leases.ts'
import { takeTables } from './follow-tables.ts'

/**
 * Finds out, before the first key is observed, what follows from objects and rows, which subnets and IPPools are in effect,
 * and which addresses are taken.
 */
export function restoreWorld(world: AllocatingWorld, derived: DerivedTables, log: Logger): void {
  derived.start()
  takeTables(world)
  restoreLeases(world, log)
}
