import {
  FragmentConflictError,
  nothingToDo,
  type Claim,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import type { KubeOvnError } from '@kube-ovn/errors'
import {
  addPortOperations,
  findAttached,
  findBridge,
  findInterface,
  openVswitchRow,
  setMapKeys,
  type BridgeRow,
  type LocalOvs,
} from '../local-ovs.ts'
import type { Operation } from 'ovsdb-client'

/** What a feature wants in the node's own Open vSwitch database. */
export type OvsFragment = OvsSettings | { readonly port: OvsPort }

/** Keys of `Open_vSwitch.external_ids` with their values; other keys of it are none of the feature's business. */
interface OvsSettings {
  readonly externalIds: Readonly<Record<string, string>>
}

/** A port with an interface of its name. Other keys of its `external_ids` are none of the feature's business. */
interface OvsPort {
  readonly bridge: string
  /** Columns of the interface. */
  readonly row: {
    readonly name: string
    readonly type: 'internal'
    readonly mac: string
    readonly mtu_request: number
    readonly external_ids: Readonly<Record<string, string>>
  }
}

const root = 'Open_vSwitch'

export const ovsRows: SinkKind<OvsFragment> = {
  name: 'ovs-rows',
  targets: (fragment) => ['port' in fragment ? portTarget(fragment.port.row.name) : root],
  // The types say all that the database asks for.
  validate: () => undefined,
}

function portTarget(name: string): string {
  return `port ${name}`
}

/** Writes rows of the node's own Open vSwitch database: only what differs from the cache, in one transaction for each target. */
export class OvsRowsSink implements Sink<OvsFragment> {
  readonly kind = ovsRows
  readonly #ovs: LocalOvs

  constructor(ovs: LocalOvs) {
    this.#ovs = ovs
  }

  plan(target: string, { claims }: Wanted<OvsFragment>): SinkPlan {
    return target === root ? this.#planSettings(claims) : this.#planPort(claims)
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#ovs.onChange((changes) => {
      for (const { table, old, new: now } of changes) {
        const name = table === 'Interface' ? (now ?? old)?.name : undefined
        if (name !== undefined) listener(portTarget(name))
        else if (table === root) listener(root)
        else if (table === 'Bridge' && old?._uuid !== now?._uuid) listener(undefined)
      }
    })
  }

  #planSettings(claims: readonly Claim<OvsFragment>[]): SinkPlan {
    const row = openVswitchRow(this.#ovs)
    // Its coming is told.
    if (row === undefined) return { ...nothingToDo, isWaiting: true }
    const { merged, refused } = mergeMaps(claims)
    const operations = setMapKeys(this.#ovs, root, row, merged)
    const changes = Object.entries(merged)
      .filter(([key, value]) => row.external_ids[key] !== value)
      .map(([key, value]) => `external_ids:${key}=${value}`)
    return { changes, refused, carryOut: async () => void (await this.#ovs.transact(operations)) }
  }

  #planPort(claims: readonly Claim<OvsFragment>[]): SinkPlan {
    const [holder, ...rivals] = claims
    const wanted = holder !== undefined && 'port' in holder.fragment ? holder.fragment.port : undefined
    if (holder === undefined || wanted === undefined) return nothingToDo
    const refused = new Map<string, KubeOvnError>()
    for (const { owner } of rivals) {
      const details = { field: 'name of a port', value: wanted.row.name, holder: holder.owner }
      refused.set(owner, new FragmentConflictError({ ...details, cure: 'give it another name' }))
    }
    const bridge = findBridge(this.#ovs, wanted.bridge)
    if (bridge === undefined) return { ...nothingToDo, refused, isWaiting: true }
    const operations = this.#portOperations(bridge, wanted.row)
    return {
      changes: operations.length === 0 ? [] : [`port ${wanted.row.name} of ${wanted.bridge}`],
      refused,
      carryOut: async () => void (await this.#ovs.transact(operations)),
    }
  }

  #portOperations(bridge: BridgeRow, row: OvsPort['row']): readonly Operation[] {
    const ovs = this.#ovs
    const present = findInterface(ovs, row.name)
    if (present === undefined || findAttached(ovs, row.name) === undefined)
      return addPortOperations(ovs, bridge, row)
    const { type, mac, mtu_request } = row
    const isEqual = present.type === type && present.mac === mac && present.mtu_request === mtu_request
    return [
      ...(isEqual ? [] : [ovs.operations.update('Interface', present._uuid, { type, mac, mtu_request })]),
      ...setMapKeys(ovs, 'Interface', present, row.external_ids),
    ]
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
    if (!('externalIds' in fragment)) continue
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
