import type { RowKind } from '@kube-ovn/ovn-names'
import { nothing, type Desired } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '../rows.ts'

/** A meter of what ACLs log. */
interface AclMeter {
  /** Of the rows of meter and band. */
  readonly id: string
  readonly name: string
  /** Packets a second. */
  readonly rate: number
}

/** Wants a meter, and its band in it, as the original has them (ovn-nb(5), Meter, Meter_Band). */
export function desiredMeter(
  kinds: { readonly meter: RowKind; readonly band: RowKind },
  { id, name, rate }: AclMeter,
): Desired {
  const external_ids = externalIds({})
  return {
    ...nothing,
    rows: [
      { kind: kinds.band, id, columns: { action: 'drop', rate, burst_size: 1, external_ids } },
      { kind: kinds.meter, id, columns: { name, unit: 'pktps', external_ids } },
    ],
    members: [memberOf(ref(kinds.meter, id), 'bands', ref(kinds.band, id))],
  }
}
