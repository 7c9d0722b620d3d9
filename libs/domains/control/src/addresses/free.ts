import type { AllocatingWorld } from '../world.ts'
import type { Given } from './waiters.ts'

type Told = Pick<AllocatingWorld, 'raise' | 'waiters'>

/** Tells that somebody gave up what he had in a subnet. */
export function freed(subnet: string, given: Given, { raise, waiters }: Told): void {
  raise('addresses', subnet)
  waiters.freed(subnet, given)
}

/** Tells that a subnet has come into effect, or gives other addresses than before. */
export function opened(subnet: string, { raise, waiters }: Told): void {
  raise('addresses', subnet)
  waiters.opened(subnet)
}
