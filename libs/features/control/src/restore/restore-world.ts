import type { Logger } from '@kube-ovn/log'
import type { ControlWorld } from '../world.ts'
import { restoreLeases } from './leases.ts'
import { restoreNetworks } from './networks.ts'

/** Finds out, before the first key is observed, which subnets are in effect and which addresses are taken. */
export function restoreWorld(world: ControlWorld, log: Logger): void {
  restoreNetworks(world)
  restoreLeases(world, log)
}
