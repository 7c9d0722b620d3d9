import { vendor } from '@kube-ovn/ovn-names'
import { sourceTable } from '@kube-ovn/tables'
import { isDeepStrictEqual } from 'node:util'
import { vlanSourceKey } from './provider-networks/vlan-interfaces.ts'
import { integrationBridge, type BridgeRow, type LocalOvs } from './local-ovs.ts'

/** A bridge of Open vSwitch, with what features read of it. */
export interface LocalBridge {
  readonly name: string
  /** `netdev` in user space. */
  readonly datapathType: string
  /** The product made it: a bridge of a provider network. */
  readonly isOurs: boolean
  /** Ports of it stand for VLAN interfaces of the NIC. */
  readonly hasVlanInterfaces: boolean
  /** Names of its ports; none of the integration bridge, which has one more with every pod. */
  readonly ports: readonly string[]
}

/** Bridges by name. */
export const bridgeTable = sourceTable<LocalBridge>({ name: 'bridges' })

type Bridges = Pick<LocalOvs, 'cache' | 'onChange'>

/** Keeps the rows of {@link bridgeTable} as the database has them. */
export class LocalBridges implements Disposable {
  readonly #subscription: Disposable
  #rows: ReadonlyMap<string, LocalBridge>

  constructor(
    ovs: Bridges,
    onChange: (name: string, old: LocalBridge | undefined, now: LocalBridge | undefined) => void,
  ) {
    this.#rows = readBridges(ovs)
    this.#subscription = ovs.onChange((changes) => {
      const concerns = changes.some(
        ({ table, old, new: now }) => table === 'Bridge' && !isOfPodsOnly(old, now),
      )
      if (!concerns) return
      const before = this.#rows
      this.#rows = readBridges(ovs)
      for (const name of new Set([...before.keys(), ...this.#rows.keys()])) {
        const [old, now] = [before.get(name), this.#rows.get(name)]
        if (!isDeepStrictEqual(old, now)) onChange(name, old, now)
      }
    })
  }

  get rows(): ReadonlyMap<string, LocalBridge> {
    return this.#rows
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]()
  }
}

/** Whether a pod came or went, and nothing else: then there is nothing to read. */
function isOfPodsOnly(old: BridgeRow | undefined, now: BridgeRow | undefined): boolean {
  return (
    old?.name === integrationBridge &&
    now?.name === integrationBridge &&
    old.datapath_type === now.datapath_type &&
    old.external_ids === now.external_ids
  )
}

function readBridges({ cache }: Bridges): ReadonlyMap<string, LocalBridge> {
  return new Map(
    [...cache.scan('Bridge')].map(({ name, datapath_type: datapathType, external_ids: ids, ports }) => {
      const isShown = name !== integrationBridge
      const rows = isShown ? ports.flatMap((uuid) => cache.get('Port', uuid) ?? []) : []
      const hasVlanInterfaces = rows.some(({ external_ids: marks }) => vlanSourceKey in marks)
      const isOurs = ids['vendor'] === vendor
      const names = rows.map((port) => port.name).sort()
      return [name, { name, datapathType, isOurs, hasVlanInterfaces, ports: names }]
    }),
  )
}
