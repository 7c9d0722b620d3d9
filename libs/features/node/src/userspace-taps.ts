import { LevelLoop } from './level-loop.ts'
import { hasUserspaceDatapath } from './local-ovs.ts'
import type { NodeWorld } from './node-world.ts'

/**
 * Switches tx checksum offload off on the tap devices of bridges with the userspace data path.
 *
 * The kernel leaves checksums of the host's own packets for the device to complete, and nobody does: ping works and
 * TCP silently does not. vswitchd makes the devices anew, with offload on, whenever it starts.
 */
export class UserspaceTaps implements Disposable {
  readonly #world: NodeWorld
  readonly #loop: LevelLoop
  readonly #subscriptions = new DisposableStack()
  #names: ReadonlySet<string> = new Set()

  constructor(world: NodeWorld) {
    this.#world = { ...world, log: world.log.child({ feature: 'userspace-taps' }) }
    this.#loop = new LevelLoop({ ...this.#world, name: 'userspace-taps', reconcile: () => this.#reconcile() })
  }

  start(): void {
    const { ovs, host } = this.#world
    this.#subscriptions.use(
      ovs.onChange((changes) => {
        if (changes.some((change) => change.table === 'Bridge')) this.#observe()
      }),
    )
    this.#subscriptions.use(
      host.watch({ links: true }, (event) => {
        if (event.kind === 'resync') this.#loop.trigger()
        else if (event.kind === 'link' && this.#names.has(event.link.name)) this.#loop.trigger()
      }),
    )
    this.#observe()
  }

  [Symbol.dispose](): void {
    this.#subscriptions[Symbol.dispose]()
    this.#loop[Symbol.dispose]()
  }

  /** Bridges gain a port with every pod; only a bridge more or less is worth looking at the devices. */
  #observe(): void {
    const { ovs } = this.#world
    const names = hasUserspaceDatapath(ovs)
      ? [...ovs.cache.scan('Bridge')]
          .filter((bridge) => bridge.datapath_type === 'netdev')
          .map(({ name }) => name)
      : []
    if (names.length === this.#names.size && names.every((name) => this.#names.has(name))) return
    this.#names = new Set(names)
    this.#loop.trigger()
  }

  #reconcile(): void {
    for (const name of this.#names) {
      if (this.#world.host.disableTxChecksumOffload(name)) {
        this.#world.log.info('tx checksum offload was switched off', { link: name })
      }
    }
  }
}
