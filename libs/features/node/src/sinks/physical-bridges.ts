import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { BridgeConnection, flowOf } from '@kube-ovn/ovs'
import { integrationBridge, type LocalOvs } from '../local-ovs.ts'

/** The bridges of the node, as OpenFlow knows them. */
export interface OpenFlowBridges {
  readonly flowOf: typeof flowOf
  /** @throws DaemonUnreachableError */
  open(
    bridge: string,
    listeners: Parameters<typeof BridgeConnection.open>[2],
  ): Promise<Pick<BridgeConnection, 'flows' | 'write' | typeof Symbol.dispose>>
}

type Connection = Awaited<ReturnType<OpenFlowBridges['open']>>

interface PhysicalBridgesOptions {
  readonly ovs: Pick<LocalOvs, 'cache' | 'onChange'>
  readonly bridges: OpenFlowBridges
}

/**
 * Bridges to physical networks, for sinks that write what their daemon has in memory alone: a connection to each tells when it is gone.
 */
export class PhysicalBridges implements Disposable {
  readonly #options: PhysicalBridgesOptions
  readonly #connections = new Map<string, Promise<Connection>>()
  readonly #listeners = new Set<(bridge: string) => void>()

  constructor(options: PhysicalBridgesOptions) {
    this.#options = options
  }

  /** Names of those that are ours. */
  owned(): readonly string[] {
    return [...this.#options.ovs.cache.scan('Bridge')]
      .filter(
        ({ name, external_ids: ids }) => name !== integrationBridge && ids[externalId.vendor] === vendor,
      )
      .map(({ name }) => name)
  }

  /** Nothing if there is no daemon that has made the bridge, and it is not needed. @throws DaemonUnreachableError */
  async connection(bridge: string, isNeeded: boolean): Promise<Connection | undefined> {
    const opening = this.#connections.get(bridge) ?? this.#open(bridge)
    try {
      return await opening
    } catch (error) {
      if (this.#connections.get(bridge) === opening) this.#connections.delete(bridge)
      if (isNeeded) throw error
      return undefined
    }
  }

  /** Tells of a bridge that came or went, of its daemon's end, of flows that somebody took away, and of new numbers of some of its ports. */
  watch(
    ports: ReadonlyMap<string, ReadonlySet<string>>,
    listener: (bridge: string | undefined) => void,
  ): Disposable {
    const stack = new DisposableStack()
    this.#listeners.add(listener)
    stack.defer(() => this.#listeners.delete(listener))
    stack.use(
      this.#options.ovs.onChange((changes) => {
        for (const { table, old, new: now } of changes) {
          if (table === 'Bridge') listener((now ?? old)?.name)
          if (table !== 'Interface' || old?.ofport === now?.ofport) continue
          const name = (now ?? old)?.name ?? ''
          for (const [bridge, names] of ports) if (names.has(name)) listener(bridge)
        }
      }),
    )
    return stack
  }

  #open(bridge: string): Promise<Connection> {
    const tell = (): void => {
      for (const listener of this.#listeners) listener(bridge)
    }
    const opening = this.#options.bridges.open(bridge, {
      onRemoved: tell,
      onClosed: () => {
        this.#connections.delete(bridge)
        tell()
      },
    })
    this.#connections.set(bridge, opening)
    return opening
  }

  [Symbol.dispose](): void {
    for (const opening of this.#connections.values())
      opening.then(
        (connection) => connection[Symbol.dispose](),
        () => undefined,
      )
  }
}
