import { switchedOn } from '@kube-ovn/process'
import { flagsOf } from '../flags.ts'
import type { ControlWorld } from '../world.ts'

/** By which it is decided whether connections that are open end with the rule that let them in. */
export const openConnectionFlags = {
  stopOpenConnections: switchedOn(
    false,
    'Have every packet of a connection that policies stop after it was opened asked about, where OVN up to 26.03 lets every second one pass. New.',
  ),
} as const

/** Whether whoever stops packets is to be asked about every one. */
export function stopsOpenConnections({ settings }: Pick<ControlWorld, 'settings'>): boolean {
  return flagsOf(openConnectionFlags, settings).stopOpenConnections
}
