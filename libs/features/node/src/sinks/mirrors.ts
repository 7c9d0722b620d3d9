import { nothingToDo, type Sink, type SinkKind, type SinkPlan, type Wanted } from '@kube-ovn/fragments'
import type { Operation } from 'ovsdb-client'
import { findBridge, integrationBridge, type BridgeRow, type LocalOvs } from '../local-ovs.ts'

/** Copies of packets of a bridge that come out of one of its ports. */
export interface Mirror {
  /** Is ours on the integration bridge, as it is upstream's. */
  readonly name: 'm0'
  readonly bridge: string
  /** Name of the port. */
  readonly output: string
  /** Packets of all ports. */
  readonly isOfAll: boolean
  /** Names of ports whose packets are copied, in both directions. */
  readonly ports: readonly string[]
}

const ownName: Mirror['name'] = 'm0'

export const mirrors: SinkKind<Mirror> = {
  name: 'mirrors',
  targets: ({ name }) => [name],
  // The types say all.
  validate: () => undefined,
}

/** Writes the mirror of the integration bridge; those of others stay. */
export class MirrorSink implements Sink<Mirror> {
  readonly kind = mirrors
  readonly #ovs: LocalOvs

  constructor(ovs: LocalOvs) {
    this.#ovs = ovs
  }

  plan(name: string, { claims, isComplete }: Wanted<Mirror>): SinkPlan {
    const wanted = claims[0]?.fragment
    const bridge = findBridge(this.#ovs, wanted?.bridge ?? integrationBridge)
    const present = bridge === undefined ? undefined : this.#find(bridge, name)
    if (wanted === undefined) {
      if (bridge === undefined || present === undefined || !isComplete) return nothingToDo
      const removal = this.#ovs.operations.mutate('Bridge', bridge._uuid, [
        ['mirrors', 'delete', [present._uuid]],
      ])
      return this.#toPlan(`no mirror ${name}`, [removal])
    }
    const output = this.#portId(wanted.output)
    // Their coming is told.
    if (bridge === undefined || output === undefined) return { ...nothingToDo, isWaiting: true }
    const ports = wanted.ports.flatMap((port) => this.#portId(port) ?? []).sort()
    const row = {
      ...{ name, output_port: output, select_all: wanted.isOfAll },
      ...{ select_dst_port: ports, select_src_port: ports },
    }
    const isEqual =
      present !== undefined &&
      present.output_port === output &&
      present.select_all === row.select_all &&
      present.select_dst_port.join() === ports.join() &&
      present.select_src_port.join() === ports.join()
    if (isEqual) return nothingToDo
    const { operations } = this.#ovs
    const what = wanted.isOfAll ? 'of all ports' : `of ${ports.length} ports`
    return this.#toPlan(
      `mirror ${name} ${what}`,
      present === undefined
        ? [
            operations.insert('Mirror', row, 'mirror'),
            operations.mutate('Bridge', bridge._uuid, [['mirrors', 'insert', [{ named: 'mirror' }]]]),
          ]
        : [operations.update('Mirror', present._uuid, row)],
    )
  }

  owned(): readonly string[] {
    const bridge = findBridge(this.#ovs, integrationBridge)
    return bridge !== undefined && this.#find(bridge, ownName) !== undefined ? [ownName] : []
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#ovs.onChange((changes) => {
      const isAboutIt = changes.some(({ table }) => ['Mirror', 'Port', 'Bridge'].includes(table))
      if (isAboutIt) listener(ownName)
    })
  }

  #find({ mirrors: ids }: BridgeRow, name: string) {
    return ids
      .map((id) => this.#ovs.cache.get('Mirror', id))
      .find((row) => row !== undefined && row.name === name)
  }

  #portId(name: string): string | undefined {
    return this.#ovs.cache.find('Port', 'name', name)[0]?._uuid
  }

  #toPlan(what: string, operations: readonly Operation[]): SinkPlan {
    return { changes: [what], carryOut: async () => void (await this.#ovs.transact(operations)) }
  }
}
