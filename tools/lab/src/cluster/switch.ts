import type { Place } from '../namespaces.ts'

/** What the physical network is switched by. It lives in the outside host, whose programs and network namespace it is given. */
export interface PhysicalSwitch {
  /** Makes the switch, with the outside host's own NIC of the same name on it; not up yet. */
  create(outside: Place): Promise<void>
  /** Plugs in a link that is there, also if another one of that name was plugged in before. */
  plugIn(outside: Place, port: string): Promise<void>
  /** Lets everything pass a port, or nothing; its link stays up. */
  setForwarding(outside: Place, port: string, isForwarding: boolean): Promise<void>
}
