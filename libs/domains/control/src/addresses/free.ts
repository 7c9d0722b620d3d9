import type { DualStackIp } from '@kube-ovn/ip'
import type { AllocatingWorld } from '../world.ts'

type Told = Pick<AllocatingWorld, 'raise' | 'waiters'>

/** Tells that somebody gave up what he had in a subnet. */
export function freed(subnet: string, { v4, v6 }: DualStackIp, { raise, waiters }: Told): void {
  raise('addresses', subnet)
  waiters.freed(
    subnet,
    [v4, v6].filter((address) => address !== undefined),
  )
}

/** Tells that a subnet has come into effect, or gives other addresses than before. */
export function opened(subnet: string, { raise, waiters }: Told): void {
  raise('addresses', subnet)
  waiters.opened(subnet)
}
