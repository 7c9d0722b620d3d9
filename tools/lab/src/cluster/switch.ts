import { randomBytes } from 'node:crypto'
import type { Place } from '../namespaces.ts'

/** What the physical network is switched by. It lives in the outside host, whose programs and network namespace it is given. */
export interface PhysicalSwitch {
  /**
   * Makes the switch, with the outside host's own NIC of the same name on it; not up yet. That has a MAC address of its own: bridges take
   * that of one of their ports, and would have another one when a node loses its power, which neighbours notice after seconds.
   */
  create(outside: Place): Promise<void>
  /** Plugs in a link that is there, also if another one of that name was plugged in before. */
  plugIn(outside: Place, port: string): Promise<void>
  /** Lets everything pass a port, or nothing; its link stays up. */
  setForwarding(outside: Place, port: string, isForwarding: boolean): Promise<void>
}

/** One that nobody else has, administered locally. */
export function ownMac(): string {
  return ['02', ...(randomBytes(5).toString('hex').match(/../g) ?? [])].join(':')
}
