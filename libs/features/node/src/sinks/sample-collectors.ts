import {
  InvalidFragmentError,
  nothingToDo,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import { tryParseIp } from '@kube-ovn/ip'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { Operation } from 'ovsdb-client'
import { findBridge, integrationBridge, type LocalOvs } from '../local-ovs.ts'

/** Where samples go that flows of the integration bridge have taken for collectors of a number. */
export interface SampleCollectors {
  /** Flow_Sample_Collector_Set, id. */
  readonly id: number
  /** Collectors by IPFIX, as `address:port`; IPv6 in brackets. Each is told. */
  readonly targets: readonly string[]
}

/**
 * The set of collectors of the integration bridge.
 *
 * @see ovs-vswitchd.conf.db(5), Flow_Sample_Collector_Set and IPFIX
 */
export const sampleCollectors: SinkKind<SampleCollectors> = {
  name: 'sample-collectors',
  targets: ({ id }) => [String(id)],
  validate({ targets }) {
    for (const target of targets)
      if (!isTarget(target))
        throw new InvalidFragmentError({
          field: '--acl-sample-targets (networkPolicies.sampling.targets)',
          value: target,
          cure: 'write address:port, or [address]:port for IPv6',
        })
  },
}

function isTarget(text: string): boolean {
  const [, v6, v4, port = ''] = /^(?:\[(.+)\]|([0-9.]+)):([0-9]{1,5})$/.exec(text) ?? []
  const address = tryParseIp(v6 ?? v4 ?? '')
  return address !== undefined && Number(port) >= 1 && Number(port) <= 65_535
}

/** Writes sets of ours; those of others stay, also where they have the number that is wanted. */
export class SampleCollectorSink implements Sink<SampleCollectors> {
  readonly kind = sampleCollectors
  readonly #ovs: LocalOvs

  constructor(ovs: LocalOvs) {
    this.#ovs = ovs
  }

  plan(target: string, { claims, isComplete }: Wanted<SampleCollectors>): SinkPlan {
    const { operations, cache } = this.#ovs
    const wanted = claims[0]?.fragment
    const bridge = findBridge(this.#ovs, integrationBridge)
    const present = [...cache.scan('Flow_Sample_Collector_Set')].filter(({ id }) => String(id) === target)
    const own = present.find(isOurs)
    if (wanted === undefined) {
      if (own === undefined || !isComplete) return nothingToDo
      // What it tells goes with it: nobody else refers to that.
      const removal = operations.remove('Flow_Sample_Collector_Set', own._uuid)
      return this.#toPlan(`no collectors of samples ${target}`, [removal])
    }
    // Its coming is told.
    if (bridge === undefined) return { ...nothingToDo, isWaiting: true }
    const others = present.filter((row) => row.bridge === bridge._uuid && !isOurs(row))
    if (others.length > 0) return nothingToDo
    const targets = [...wanted.targets].sort()
    const ipfix = own?.ipfix === undefined ? undefined : cache.get('IPFIX', own.ipfix)
    const isRight = own?.bridge === bridge._uuid && ipfix !== undefined
    if (isRight && [...ipfix.targets].sort().join() === targets.join()) return nothingToDo
    const what = `collectors of samples ${target}: ${targets.join()}`
    if (isRight) return this.#toPlan(what, [operations.update('IPFIX', ipfix._uuid, { targets })])
    const row = {
      ...{ id: wanted.id, bridge: bridge._uuid, ipfix: { named: 'ipfix' } },
      external_ids: { [externalId.vendor]: vendor },
    }
    return this.#toPlan(what, [
      operations.insert('IPFIX', { targets }, 'ipfix'),
      own === undefined
        ? operations.insert('Flow_Sample_Collector_Set', row)
        : operations.update('Flow_Sample_Collector_Set', own._uuid, row),
    ])
  }

  owned(): readonly string[] {
    return [...this.#ovs.cache.scan('Flow_Sample_Collector_Set')].filter(isOurs).map(({ id }) => String(id))
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#ovs.onChange((changes) => {
      // Of what a set tells it is not said whose it is.
      if (changes.some(({ table }) => ['Flow_Sample_Collector_Set', 'IPFIX', 'Bridge'].includes(table)))
        listener(undefined)
    })
  }

  #toPlan(what: string, operations: readonly Operation[]): SinkPlan {
    return { changes: [what], carryOut: async () => void (await this.#ovs.transact(operations)) }
  }
}

function isOurs({ external_ids: ids }: { readonly external_ids: Readonly<Record<string, string>> }): boolean {
  return ids[externalId.vendor] === vendor
}
