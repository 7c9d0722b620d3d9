import {
  InvalidFragmentError,
  nothingToDo,
  type Sink,
  type SinkKind,
  type SinkPlan,
  type Wanted,
} from '@kube-ovn/fragments'
import { tryParseMac } from '@kube-ovn/ip'
import type { MacTables } from '@kube-ovn/ovs'
import { findBridge, isLocalnetPatch, type LocalOvs } from '../local-ovs.ts'
import type { PhysicalBridges } from './physical-bridges.ts'

/** Where the bridge of a physical network sends frames for a MAC address, whatever it learns of frames. */
export interface StaticMac {
  readonly bridge: string
  /** Name of the port, which is one to OVN. */
  readonly port: string
  /** 0 of frames without a tag. */
  readonly vlan: number
  readonly mac: string
}

export const staticMacs: SinkKind<StaticMac> = {
  name: 'static-macs',
  targets: ({ bridge }) => [bridge],
  validate({ vlan, mac }) {
    if (tryParseMac(mac) === undefined)
      throw new InvalidFragmentError({
        field: 'status.u2oInterconnectionMAC',
        value: mac,
        cure: 'leave it to the controller',
      })
    if (!Number.isInteger(vlan) || vlan < 0 || vlan > 4095)
      throw new InvalidFragmentError({
        field: 'spec.id',
        value: String(vlan),
        cure: 'write a number from 0 to 4095',
      })
  },
}

export interface StaticMacSinkOptions {
  readonly ovs: LocalOvs
  readonly macTables: Pick<MacTables, 'show' | 'add' | 'remove'>
  readonly physicalBridges: PhysicalBridges
}

/**
 * Writes static entries of the tables by which bridges forward. A flow in their place would keep the bridge from learning who sends to the
 * router, and answers would go out of all its ports.
 */
export class StaticMacSink implements Sink<StaticMac> {
  readonly kind = staticMacs
  readonly #options: StaticMacSinkOptions
  /** Names of ports that entries are about. */
  readonly #ports = new Map<string, ReadonlySet<string>>()

  constructor(options: StaticMacSinkOptions) {
    this.#options = options
  }

  async plan(bridge: string, { claims, isComplete }: Wanted<StaticMac>): Promise<SinkPlan> {
    const { macTables, physicalBridges } = this.#options
    const wanted = claims.map(({ fragment }) => fragment)
    this.#ports.set(bridge, new Set(wanted.map(({ port }) => port)))
    // It tells of the end of the daemon, with which all entries end. A bridge that it opens has all its ports.
    const connection = await physicalBridges.connection(bridge, wanted.length > 0)
    if (connection === undefined) return nothingToDo
    const names = this.#namesByNumber(bridge)
    const present = (await macTables.show(bridge))
      .filter(({ isStatic }) => isStatic)
      .map((entry) => ({ ...entry, port: names.get(entry.port) }))
    // The numbers of ports are told.
    const ports = new Set(names.values())
    const { missing, surplus } = compareEntries({ wanted, ports, present })
    const taken = isComplete ? surplus : []
    return {
      changes: [
        ...taken.map(({ vlan, mac }) => `${mac} of VLAN ${vlan} at no port of ${bridge}`),
        ...missing.map(({ vlan, mac, port }) => `${mac} of VLAN ${vlan} at ${port} of ${bridge}`),
      ],
      isWaiting: wanted.some(({ port }) => !ports.has(port)),
      async carryOut() {
        // One that is refused, such as of a port that has just gone, keeps no other one away.
        const outcomes = await Promise.allSettled([
          ...taken.map((entry) => macTables.remove(bridge, entry)),
          ...missing.map((entry) => macTables.add(bridge, entry)),
        ])
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
      },
    }
  }

  owned(): readonly string[] {
    return this.#options.physicalBridges.owned()
  }

  watch(listener: (target: string | undefined) => void): Disposable {
    return this.#options.physicalBridges.watch(this.#ports, listener)
  }

  /** Ports of a bridge that its daemon has numbered. */
  #namesByNumber(bridge: string): ReadonlyMap<string, string> {
    const { ovs } = this.#options
    const interfaces = (findBridge(ovs, bridge)?.ports ?? [])
      .flatMap((port) => ovs.cache.get('Port', port)?.interfaces ?? [])
      .flatMap((uuid) => ovs.cache.get('Interface', uuid) ?? [])
    return new Map(
      interfaces.flatMap(({ name, ofport = 0 }) => (ofport > 0 ? [[String(ofport), name] as const] : [])),
    )
  }
}

interface Entry {
  readonly vlan: number
  readonly mac: string
}

interface Entries {
  readonly wanted: readonly StaticMac[]
  /** Names of those that are there. */
  readonly ports: ReadonlySet<string>
  /** Those that do not age, with the names of their ports where they are known. */
  readonly present: readonly (Entry & { readonly port: string | undefined })[]
}

/** Entries at ports to OVN are ours, and upstream's; all others are somebody's who may know of a better way. */
export function compareEntries({ wanted, ports, present }: Entries): {
  readonly missing: readonly StaticMac[]
  readonly surplus: readonly Entry[]
} {
  const there = new Map(present.map((entry) => [keyOf(entry), entry]))
  const isOurs = (port: string | undefined): boolean => port !== undefined && isLocalnetPatch(port)
  // Of two that want one the first has it.
  const holders = new Map(wanted.toReversed().map((entry) => [keyOf(entry), entry]))
  return {
    missing: [...holders.values()].filter((entry) => {
      if (!ports.has(entry.port)) return false
      const found = there.get(keyOf(entry))
      return found === undefined || (isOurs(found.port) && found.port !== entry.port)
    }),
    surplus: present.filter((entry) => isOurs(entry.port) && !holders.has(keyOf(entry))),
  }
}

/** A bridge has one entry of it. */
function keyOf({ vlan, mac }: Entry): string {
  return `${vlan} ${mac}`
}
