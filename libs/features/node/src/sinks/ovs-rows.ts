import {
  FragmentConflictError,
  mergeEntries,
  nothingToDo,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import type { KubeOvnError } from '@kube-ovn/errors'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import {
  addPortOperations,
  findAttached,
  findBridge,
  findInterface,
  ifaceIdKey,
  openVswitchRow,
  removePortOperations,
  setMapKeys,
  unbindOperations,
  type BridgeRow,
  type InterfaceRow,
  type LocalOvs,
} from '../local-ovs.ts'
import type { Operation } from 'ovsdb-client'

/** What a feature wants in the node's own Open vSwitch database. */
export type OvsFragment = OvsSettings | { readonly port: OvsPort }

/** Keys of `Open_vSwitch.external_ids` with their values; other keys of it are none of the feature's business. */
interface OvsSettings {
  readonly externalIds: Readonly<Record<string, string>>
}

/**
 * A port with an interface of its name. Other keys of its `external_ids` are none of the feature's business. The interface is marked with who wants
 * it, so that it is known for ours when nobody does any more.
 */
interface OvsPort {
  readonly bridge: string
  /** Columns of the interface. One without a type is of a link that is there. */
  readonly row: {
    readonly name: string
    readonly external_ids: Readonly<Record<string, string>>
  } & (InternalLink | { readonly [column in keyof InternalLink]?: undefined })
}

/** A link that Open vSwitch makes. */
interface InternalLink {
  readonly type: 'internal'
  readonly mac: string
  readonly mtu_request: number
}

const root = 'Open_vSwitch'

/** Entry of `Open_vSwitch.external_ids` that lists those which features want or wanted: they are ours, also after a restart. */
const ownKeysKey = 'kube-ovn-keys'

/** Which entries of `Open_vSwitch.external_ids` an agent has written, with the one that says so. */
export function recordedKeys(externalIds: Readonly<Record<string, string>>): readonly string[] {
  const recorded = externalIds[ownKeysKey]
  return recorded === undefined ? [] : [...recorded.split(','), ownKeysKey]
}

export const ovsRows: SinkKind<OvsFragment> = {
  name: 'ovs-rows',
  targets: (fragment) => ['port' in fragment ? portTarget(fragment.port.row.name) : root],
  // The types say all that the database asks for.
  validate: () => undefined,
}

function portTarget(name: string): string {
  return `port ${name}`
}

/**
 * Writes rows of the node's own Open vSwitch database: only what differs from the cache, in one transaction for each target. Takes away
 * what bears a mark of ours and nobody wants any more.
 */
export class OvsRowsSink implements Sink<OvsFragment> {
  readonly kind = ovsRows
  readonly #ovs: LocalOvs

  constructor(ovs: LocalOvs) {
    this.#ovs = ovs
  }

  plan(target: string, wanted: Wanted<OvsFragment>): SinkPlan {
    return target === root ? this.#planSettings(wanted) : this.#planPort(target, wanted)
  }

  owned(): readonly string[] {
    const ids = openVswitchRow(this.#ovs)?.external_ids ?? {}
    const ports = [...this.#ovs.cache.scan('Interface')].filter(isMarked)
    return [...(ownKeysKey in ids ? [root] : []), ...ports.map(({ name }) => portTarget(name))]
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

  #planSettings({ claims, isComplete }: Wanted<OvsFragment>): SinkPlan {
    const row = openVswitchRow(this.#ovs)
    // Its coming is told.
    if (row === undefined) return { ...nothingToDo, isWaiting: true }
    const { entries, refused } = mergeEntries(claims, 'external_ids', (fragment) =>
      'externalIds' in fragment ? fragment.externalIds : {},
    )
    const recorded = recordedKeys(row.external_ids).filter((key) => key !== ownKeysKey)
    const ours = [...new Set([...entries.keys(), ...(isComplete ? [] : recorded)])].sort()
    const wanted = new Map<string, string | undefined>([
      ...(isComplete ? recorded.map((key) => [key, undefined] as const) : []),
      ...entries,
      [ownKeysKey, ours.length === 0 ? undefined : ours.join(',')],
    ])
    const operations = setMapKeys(this.#ovs, root, row, wanted)
    const differing = [...wanted].filter(([key, value]) => row.external_ids[key] !== value)
    // The record goes along with what it records, and is told of only where it is all that differs.
    const told = differing.length > 1 ? differing.filter(([key]) => key !== ownKeysKey) : differing
    const changes = told.map(([key, value]) =>
      value === undefined ? `no external_ids:${key}` : `external_ids:${key}=${value}`,
    )
    return { changes, refused, carryOut: async () => void (await this.#ovs.transact(operations)) }
  }

  #planPort(target: string, { claims, isComplete }: Wanted<OvsFragment>): SinkPlan {
    const [holder, ...rivals] = claims
    const wanted = holder !== undefined && 'port' in holder.fragment ? holder.fragment.port : undefined
    if (holder === undefined || wanted === undefined)
      return isComplete ? this.#planRemoval(target.slice(portTarget('').length)) : nothingToDo
    const refused = new Map<string, KubeOvnError>()
    for (const { owner } of rivals) {
      const details = { field: 'name of a port', value: wanted.row.name, holder: holder.owner }
      refused.set(owner, new FragmentConflictError({ ...details, cure: 'give it another name' }))
    }
    const bridge = findBridge(this.#ovs, wanted.bridge)
    if (bridge === undefined) return { ...nothingToDo, refused, isWaiting: true }
    const external_ids = {
      ...wanted.row.external_ids,
      [externalId.vendor]: vendor,
      [externalId.owner]: holder.owner,
    }
    const operations = this.#portOperations(bridge, { ...wanted.row, external_ids })
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
      return [...unbindOperations(ovs, row.external_ids[ifaceIdKey]), ...addPortOperations(ovs, bridge, row)]
    const { type = '', mac, mtu_request } = row
    const isEqual = present.type === type && present.mac === mac && present.mtu_request === mtu_request
    return [
      ...(isEqual ? [] : [ovs.operations.update('Interface', present._uuid, { type, mac, mtu_request })]),
      ...setMapKeys(ovs, 'Interface', present, Object.entries(row.external_ids)),
    ]
  }

  /** Of a port that nobody wants: it goes if it bears our mark. */
  #planRemoval(name: string): SinkPlan {
    const attached = findAttached(this.#ovs, name)
    if (attached === undefined || !isMarked(attached.interface)) return nothingToDo
    const operations = removePortOperations(this.#ovs, attached)
    return {
      changes: [`no port ${name}`],
      carryOut: async () => void (await this.#ovs.transact(operations)),
    }
  }
}

/** Whether a fragment has made the interface. Ports of pods have no owner of this kind: they come and go by the runtime. */
function isMarked({ external_ids: ids }: Pick<InterfaceRow, 'external_ids'>): boolean {
  return ids[externalId.vendor] === vendor && externalId.owner in ids
}
