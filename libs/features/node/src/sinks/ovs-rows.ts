import {
  FragmentConflictError,
  nothingToDo,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import type { KubeOvnError } from '@kube-ovn/errors'
import { openVswitchRow, setMapKeys, type LocalOvs } from '../local-ovs.ts'

/** Keys of `Open_vSwitch.external_ids` with their values; other keys of it are none of a feature's business. */
export interface OvsFragment {
  readonly externalIds: Readonly<Record<string, string>>
}

const root = 'Open_vSwitch'

export const ovsRows: SinkKind<OvsFragment> = {
  name: 'ovs-rows',
  targets: () => [root],
  // The types say all that the database asks for.
  validate: () => undefined,
}

/** Writes rows of the node's own Open vSwitch database: only what differs from the cache, in one transaction for each target. */
export class OvsRowsSink implements Sink<OvsFragment> {
  readonly kind = ovsRows
  readonly #ovs: LocalOvs

  constructor(ovs: LocalOvs) {
    this.#ovs = ovs
  }

  plan(_target: string, { claims }: Wanted<OvsFragment>): SinkPlan {
    const row = openVswitchRow(this.#ovs)
    // Not there yet: its coming is told.
    if (row === undefined) return nothingToDo
    const { merged, refused } = mergeMaps(claims)
    const operations = setMapKeys(this.#ovs, root, row, merged)
    const changes = Object.entries(merged)
      .filter(([key, value]) => row.external_ids[key] !== value)
      .map(([key, value]) => `external_ids:${key}=${value}`)
    return { changes, refused, carryOut: async () => void (await this.#ovs.transact(operations)) }
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#ovs.onChange((changes) => {
      if (changes.some(({ table }) => table === root)) listener(root)
    })
  }
}

interface Merged {
  readonly merged: Readonly<Record<string, string>>
  readonly refused: ReadonlyMap<string, KubeOvnError>
}

/** An entry that two want belongs to the first; all others are written. */
function mergeMaps(claims: Wanted<OvsFragment>['claims']): Merged {
  const merged: Record<string, string> = {}
  const holders = new Map<string, string>()
  const refused = new Map<string, KubeOvnError>()
  for (const { owner, fragment } of claims) {
    for (const [key, value] of Object.entries(fragment.externalIds)) {
      const holder = holders.get(key) ?? owner
      if (holder !== owner && merged[key] !== value) {
        const cure = `want ${merged[key] ?? ''}, as ${holder} does`
        refused.set(owner, new FragmentConflictError({ field: `external_ids:${key}`, value, holder, cure }))
        continue
      }
      merged[key] = value
      holders.set(key, holder)
    }
  }
  return { merged, refused }
}
