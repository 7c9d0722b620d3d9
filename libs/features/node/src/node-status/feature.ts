import { nodeAnnotations, readNodeNetwork } from '@kube-ovn/annotations'
import { formatIp } from '@kube-ovn/ip'
import { LevelLoop } from '../level-loop.ts'
import { findInterface, isInstalled, openVswitchRow } from '../local-ovs.ts'
import { nodeNicName } from '../node-nic/desired.ts'
import { ownNode, patchNode, type NodeWorld } from '../node-world.ts'
import { desiredCondition, isSameCondition } from './desired.ts'

/** How long ovn0 may be without flows before the node is reported: a restart of OVS takes less. */
const graceMs = 15_000

/** Writes what the cluster has to know of this node: its chassis and whether its network works. Only what differs. */
export class NodeStatus implements Disposable {
  readonly #world: NodeWorld
  readonly #loop: LevelLoop
  readonly #subscriptions = new DisposableStack()
  #downSinceMs: number | undefined
  #timer: Disposable | undefined

  constructor(world: NodeWorld) {
    this.#world = { ...world, log: world.log.child({ feature: 'node-status' }) }
    this.#loop = new LevelLoop({ ...this.#world, name: 'node-status', reconcile: () => this.#reconcile() })
  }

  start(): void {
    const { nodes, ovs, nodeName } = this.#world
    const trigger = (): void => this.#loop.trigger()
    this.#subscriptions.use(nodes.onChange((change) => (change.key === nodeName ? trigger() : undefined)))
    this.#subscriptions.use(
      ovs.onChange((changes) => {
        const concerns = changes.some(
          ({ table, old, new: now }) =>
            table === 'Open_vSwitch' ||
            (table === 'Interface' && ((now ?? old) as { readonly name?: string }).name === nodeNicName),
        )
        if (concerns) trigger()
      }),
    )
    trigger()
  }

  [Symbol.dispose](): void {
    this.#subscriptions[Symbol.dispose]()
    this.#timer?.[Symbol.dispose]()
    this.#loop[Symbol.dispose]()
  }

  async #reconcile(): Promise<void> {
    await this.#writeChassis()
    await this.#writeCondition()
  }

  async #writeChassis(): Promise<void> {
    const node = ownNode(this.#world)
    const chassis = openVswitchRow(this.#world.ovs)?.external_ids['system-id']
    if (node === undefined || chassis === undefined) return
    if (nodeAnnotations.chassis.read(node.metadata.annotations) === chassis) return
    await patchNode(this.#world, { metadata: { annotations: { [nodeAnnotations.chassis.key]: chassis } } })
    this.#world.log.info('chassis of the node was written', { chassis })
  }

  async #writeCondition(): Promise<void> {
    const { ovs, clock } = this.#world
    const node = ownNode(this.#world)
    const network = readNodeNetwork(node?.metadata.annotations)
    if (node === undefined || network === undefined) return
    const isUp = isInstalled(findInterface(ovs, nodeNicName))
    if (!isUp && !this.#isGraceOver()) return
    if (isUp) this.#downSinceMs = undefined
    const wanted = desiredCondition({
      isInstalled: isUp,
      gateways: [network.gateways.v4, network.gateways.v6].flatMap((ip) =>
        ip === undefined ? [] : [formatIp(ip)],
      ),
    })
    const actual = node.status?.conditions?.find((condition) => condition.type === wanted.type)
    if (isSameCondition(actual, wanted)) return
    const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
    const lastTransitionTime = actual?.status === wanted.status ? (actual.lastTransitionTime ?? now) : now
    await patchNode(
      this.#world,
      { status: { conditions: [{ ...wanted, lastTransitionTime, lastHeartbeatTime: now }] } },
      'status',
    )
    this.#world.log.info('condition of the node was written', {
      status: wanted.status,
      reason: wanted.reason,
    })
  }

  #isGraceOver(): boolean {
    const { clock } = this.#world
    const nowMs = clock.monotonic()
    this.#downSinceMs ??= nowMs
    const leftMs = this.#downSinceMs + graceMs - nowMs
    if (leftMs <= 0) return true
    this.#timer?.[Symbol.dispose]()
    this.#timer = clock.setTimer(leftMs, () => this.#loop.trigger())
    return false
  }
}
