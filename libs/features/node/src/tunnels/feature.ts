import { LevelLoop } from '../level-loop.ts'
import { openVswitchRow, setMapKeys } from '../local-ovs.ts'
import { ownNode, type NodeWorld } from '../node-world.ts'
import { desiredTunnel } from './desired.ts'
import { observeTunnel } from './observe.ts'
import type { TunnelSettings } from './snapshot.ts'

/**
 * Tells ovn-controller where this node's tunnels end, and the rest of the agent their MTU.
 *
 * Looks again when the Node, the tunnel's link or the keys in the database change; while no end is found, at any
 * change of a link or an address.
 */
export class Tunnels implements Disposable {
  readonly #world: NodeWorld
  readonly #settings: TunnelSettings
  readonly #loop: LevelLoop
  readonly #subscriptions = new DisposableStack()
  #linkName: string | undefined

  constructor(world: NodeWorld, settings: TunnelSettings) {
    this.#world = world
    this.#settings = settings
    const log = world.log.child({ feature: 'tunnels' })
    this.#loop = new LevelLoop({ ...world, log, name: 'tunnels', reconcile: () => this.#reconcile() })
  }

  start(): void {
    const { nodes, ovs, host, nodeName } = this.#world
    const trigger = (): void => this.#loop.trigger()
    this.#subscriptions.use(nodes.onChange((change) => (change.key === nodeName ? trigger() : undefined)))
    this.#subscriptions.use(
      ovs.onChange((changes) =>
        changes.some((change) => change.table === 'Open_vSwitch') ? trigger() : undefined,
      ),
    )
    this.#subscriptions.use(
      host.watch({ links: true, addresses: true }, (event) => {
        if (this.#linkName === undefined || event.kind === 'resync') trigger()
        else if (event.kind === 'link' && event.link.name === this.#linkName) trigger()
        else if (event.kind === 'address' && event.address.index === host.link(this.#linkName)?.index)
          trigger()
      }),
    )
    trigger()
  }

  [Symbol.dispose](): void {
    this.#subscriptions[Symbol.dispose]()
    this.#loop[Symbol.dispose]()
  }

  async #reconcile(): Promise<void> {
    const { ovs, host, tunnelMtu, log } = this.#world
    const node = ownNode(this.#world)
    const root = openVswitchRow(ovs)
    // Not there yet: their coming is a trigger.
    if (node === undefined || root === undefined) return
    this.#linkName = undefined
    const tunnel = desiredTunnel(observeTunnel(this.#settings, node, host, ovs, log))
    this.#linkName = tunnel.linkName
    if (tunnelMtu.value !== tunnel.mtu) {
      log.info('tunnel end was chosen', { ip: tunnel.address, link: tunnel.linkName, mtu: tunnel.mtu })
    }
    await ovs.transact(setMapKeys(ovs, 'Open_vSwitch', root, tunnel.externalIds))
    tunnelMtu.set(tunnel.mtu)
  }
}
