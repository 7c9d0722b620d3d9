import type { Logger } from '@kube-ovn/log'
import { noteForeignPorts } from '../addresses/foreign-port.ts'
import type { ControlWorld } from '../world.ts'
import { restoreLeases } from './leases.ts'
import { restoreNetworks } from './networks.ts'
import { restorePools } from './pools.ts'

/** Finds out, before the first key is observed, which subnets and IPPools are in effect, and which addresses are taken. */
export function restoreWorld(world: ControlWorld, log: Logger): void {
  restoreNetworks(world)
  restorePools(world)
  noteForeignPorts(world)
  restoreLeases(world, log)
}
