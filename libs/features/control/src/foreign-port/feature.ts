import { nothing } from '@kube-ovn/reconcile'
import type { Feature } from '@kube-ovn/reconcile'
import type { RowBase } from 'ovsdb-client'
import { foreignPort, foreignPortsOn, isForeign } from '../addresses/foreign-port.ts'
import type { ControlWorld } from '../world.ts'

/** Keeps in mind the addresses of ports that somebody else made, so that nobody is given them. It writes nothing. */
export const foreignPortFeature: Feature<string, never, ControlWorld> = {
  name: 'foreign-port',
  kinds: [],
  triggers: [
    {
      on: 'row',
      table: 'Logical_Switch_Port',
      keys: ({ old, new: current }) => new Set([...nameOf(old), ...nameOf(current)]),
    },
    // A port that was there before its subnet was in effect.
    { on: 'signal', signal: 'network', keys: foreignPortsOn },
  ],
  observe(name, world) {
    const port = foreignPort(name, world)
    const before = world.foreignAddresses.set(name, port)
    // Who waits for an address may have what it had.
    if (
      before !== undefined &&
      before.addresses.some((address) => port?.addresses.includes(address) !== true)
    )
      world.raise('addresses', before.subnet)
    return undefined
  },
  desired: () => nothing,
}

function nameOf(row: (RowBase & { readonly external_ids?: unknown }) | undefined): readonly string[] {
  return row !== undefined && 'name' in row && typeof row.name === 'string' && isForeign(row)
    ? [row.name]
    : []
}
