import { sourceTable } from '@kube-ovn/tables'
import { isDeepStrictEqual } from 'node:util'
import type { InterfaceRow, LocalOvs, OpenVswitchRow } from './local-ovs.ts'
import { theNode } from './tables.ts'

/** What features read of an interface of Open vSwitch. */
export type LocalInterface = Pick<InterfaceRow, '_uuid' | 'name' | 'external_ids' | 'error'>

/** Interfaces by name, as the database has them. */
export const interfaceTable = sourceTable<LocalInterface>({
  name: 'interfaces',
  isSame: (a, b) =>
    a._uuid === b._uuid && a.error === b.error && isDeepStrictEqual(a.external_ids, b.external_ids),
})

/** One row, {@link theNode}: what the database says of the whole node. */
export const openVswitchTable = sourceTable<Pick<OpenVswitchRow, 'external_ids'>>({
  name: 'open-vswitch',
  isSame: (a, b) => isDeepStrictEqual(a.external_ids, b.external_ids),
})

interface LocalRowsListener {
  onInterface(name: string, old: LocalInterface | undefined, now: LocalInterface | undefined): void
  onOpenVswitch(key: string, old: OpenVswitchRow | undefined, now: OpenVswitchRow | undefined): void
}

/** Tells of changes of {@link interfaceTable} and {@link openVswitchTable}. */
export function watchLocalRows(ovs: Pick<LocalOvs, 'onChange'>, listener: LocalRowsListener): Disposable {
  return ovs.onChange((changes) => {
    for (const { table, old, new: now } of changes) {
      if (table === 'Open_vSwitch') listener.onOpenVswitch(theNode, old, now)
      else if (table === 'Interface') listener.onInterface((now ?? old)?.name ?? '', old, now)
    }
  })
}
