import type { AllocatingWorld } from '@kube-ovn/domains-control'
import { nodeChassis } from '@kube-ovn/domains-control/topology'
import { nodes } from '@kube-ovn/kube-api/core'
import type { Logger } from '@kube-ovn/log'
import { externalId, vendor } from '@kube-ovn/ovn-names'
import type { OvnSouthbound } from '@kube-ovn/ovsdb-schema'
import { deletionToken, isExcessive } from '@kube-ovn/reconcile'
import type { DerivedTables, HeldDeletion, KernelOptions, KubeEvent } from '@kube-ovn/reconcile'
import { backoffDelayMs, type Clock } from '@kube-ovn/time'
import type { Operation, OvsdbClient } from 'ovsdb-client'
import { desiredChassis, type DesiredChassis, type Doomed, type Mark, type Waiting } from './desired.ts'
import { Newcomers } from './newcomers.ts'
import { Removals } from './removals.ts'
import { WaitingNodes } from './waiting-nodes.ts'

const retryBackoff = { initialMs: 100, maxMs: 60_000, factor: 2, jitter: 0.5 } as const

/** What is reported as held is of this kind. */
const kind = 'chassis'

export interface ChassisKeeperOptions {
  /** With {@link southboundTables}; it is connected, and disposed, by who made it. */
  readonly southbound: OvsdbClient<OvnSouthbound>
  /** A lock of the Southbound that every transaction asserts. */
  readonly lock?: string | undefined
  readonly derived: DerivedTables
  readonly world: Pick<AllocatingWorld, 'nodes' | 'nodeChassis'>
  readonly record: (event: KubeEvent) => void
  readonly metrics: Pick<KernelOptions<never>['metrics'], 'orphansHeld' | 'rowChanged'>
  readonly onHeld: (held: HeldDeletion | undefined) => void
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Marks the chassis of nodes in the Southbound, and removes those of nodes that are gone, as each is a tunnel on every other node.
 *
 * It is beside the kernel, whose transactions are the Northbound's: a Southbound that is away holds up nothing else.
 */
export class ChassisKeeper implements AsyncDisposable {
  readonly #options: ChassisKeeperOptions
  readonly #subscriptions = new DisposableStack()
  readonly #removals = new Removals()
  readonly #newcomers = new Newcomers()
  readonly #waiting: WaitingNodes
  /** Nodes that this process has seen, as long as they or a chassis of theirs is there: what it saw go, may go. */
  #seen: ReadonlySet<string> = new Set<string>()
  #confirmedToken: string | undefined
  #heldToken: string | undefined
  #failures = 0
  #timer: Disposable | undefined
  #isDue = false
  #running: Promise<void> | undefined
  #isClosed = false

  /** Before derived tables begin. */
  constructor(options: ChassisKeeperOptions) {
    this.#options = options
    this.#waiting = new WaitingNodes(options.clock)
    options.derived.follow(nodeChassis, () => this.#look())
  }

  /** When derived tables have begun. */
  start(): void {
    const { southbound, lock } = this.#options
    this.#subscriptions.use(southbound.onChange(() => this.#look()))
    this.#subscriptions.use(southbound.onState(() => this.#look()))
    if (lock !== undefined)
      this.#subscriptions.use(southbound.lock(lock).onChange((isOwned) => isOwned && this.#look()))
    this.#look()
  }

  /** Lets the deletion of this token go ahead, if it is the one that is held back, or as soon as it is. */
  confirm(token: string): void {
    this.#confirmedToken = token
    this.#look()
  }

  /** Waits for what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#timer?.[Symbol.dispose]()
    this.#subscriptions.dispose()
    await this.#running
  }

  /** Later in this turn of the event loop, with whatever comes in it. */
  #look(): void {
    this.#isDue = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      // What came since it looked last.
      if (this.#isDue && !this.#isClosed) this.#look()
    })
  }

  async #run(): Promise<void> {
    await Promise.resolve()
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false
      this.#see()
      if (this.#options.southbound.state.phase !== 'connected') return
      try {
        await this.#once()
        this.#failures = 0
      } catch (err) {
        this.#failed(err)
        return
      }
    }
  }

  async #once(): Promise<void> {
    const { southbound, world, clock } = this.#options
    const desired = desiredChassis({
      nodes: world.nodeChassis.scan(),
      chassis: [...southbound.cache.scan('Chassis')],
      removed: this.#removals.nodes,
    })
    for (const { chassis } of world.nodeChassis.scan())
      if (chassis !== undefined) this.#removals.claimed(chassis)
    const nowMs = clock.monotonic()
    const newcomerMs = this.#newcomers.untilMs(world.nodeChassis.scan(), nowMs)
    const { now, nextMs } = this.#removals.due(this.#withoutHeld(desired.doomed), nowMs, newcomerMs)
    const { overdue, nextMs: toldMs } = this.#waiting.follow(desired.waiting)
    for (const one of overdue) this.#tellWaiting(one)
    this.#lookAgainIn([nextMs, toldMs])
    const marks = this.#without(desired.marks, now)
    if (marks.length + now.length === 0) return
    await southbound.transact(this.#operations(marks, now))
    this.#removals.done(now, nowMs)
    this.#tell(marks, now)
  }

  /** While the Southbound is away, all are kept: what it has is not known. */
  #see(): void {
    const { southbound, world } = this.#options
    const isAway = southbound.state.phase !== 'connected'
    const named = new Set(
      [...southbound.cache.scan('Chassis')].map((row) => row.external_ids[externalId.node] ?? row.hostname),
    )
    const kept = isAway ? this.#seen : this.#seen.intersection(named)
    this.#seen = kept.union(new Set(world.nodeChassis.scan().map(({ node }) => node)))
  }

  /** What goes is not marked beforehand. */
  #without(marks: DesiredChassis['marks'], doomed: readonly Doomed[]): readonly Mark[] {
    const ids = new Set(doomed.map(({ chassis }) => chassis._uuid))
    return marks.filter(({ chassis }) => !ids.has(chassis._uuid))
  }

  #operations(marks: readonly Mark[], doomed: readonly Doomed[]): readonly Operation[] {
    const { southbound, lock } = this.#options
    const { assertLock, mutate, remove } = southbound.operations
    return [
      ...(lock === undefined ? [] : [assertLock(lock)]),
      ...marks.map(({ chassis, node }) => {
        const ids = { [externalId.vendor]: vendor, [externalId.node]: node }
        // An insertion does not replace what is there (RFC 7047, section 5.1).
        return mutate('Chassis', chassis._uuid, [
          ['external_ids', 'delete', Object.keys(ids)],
          ['external_ids', 'insert', ids],
        ])
      }),
      ...doomed.flatMap(({ chassis }) => [
        remove('Chassis', chassis._uuid),
        // Its configuration is waited for by `ovn-nbctl --wait=hv`.
        remove('Chassis_Private', [['name', '==', chassis.name]]),
      ]),
    ]
  }

  /** Of nodes that this process never saw, many at a time wait for an operator. */
  #withoutHeld(doomed: readonly Doomed[]): readonly Doomed[] {
    const { southbound, log, metrics, onHeld } = this.#options
    const known = this.#removals.nodes
    const orphans = doomed.filter(
      ({ chassis, node, why }) => why === 'node-gone' && !this.#seen.has(node) && !known.has(chassis.name),
    )
    const total = [...southbound.cache.scan('Chassis')].filter(
      ({ external_ids: ids }) => ids[externalId.vendor] === vendor,
    ).length
    const token = deletionToken(orphans.map(({ chassis }) => chassis._uuid))
    const isHeld = isExcessive(orphans.length, total) && token !== this.#confirmedToken
    if (this.#heldToken !== (isHeld ? token : undefined)) {
      this.#heldToken = isHeld ? token : undefined
      const held = { kind, rows: orphans.length, of: total, owners: [] }
      const owners = orphans.slice(0, 10).map(({ node }) => node)
      if (isHeld) log.error('deletion of rows without object held', { ...held, owners, token })
      metrics.orphansHeld(new Map(isHeld ? [[kind, orphans.length]] : []), 'southbound')
      onHeld(isHeld ? { token, kinds: [held] } : undefined)
    }
    return isHeld ? doomed.filter((one) => !orphans.includes(one)) : doomed
  }

  #lookAgainIn(delaysMs: readonly (number | undefined)[]): void {
    this.#timer?.[Symbol.dispose]()
    const known = delaysMs.filter((ms) => ms !== undefined)
    this.#timer =
      known.length === 0 ? undefined : this.#options.clock.setTimer(Math.min(...known), () => this.#look())
  }

  #failed(err: unknown): void {
    const { log, southbound } = this.#options
    const retryMs = backoffDelayMs(retryBackoff, this.#failures++, Math.random)
    // A connection that was lost is told by who follows it, and tells when it is back.
    if (southbound.state.phase === 'connected') log.warn('chassis not written', { err, retryMs })
    this.#lookAgainIn([retryMs])
  }

  #tell(marks: readonly Mark[], doomed: readonly Doomed[]): void {
    const { log, metrics } = this.#options
    for (const { chassis, node } of marks) {
      metrics.rowChanged(kind, 'updated')
      log.info('chassis marked', { chassis: chassis.name, node })
    }
    for (const { chassis, node, why } of doomed) {
      metrics.rowChanged(kind, 'deleted')
      log.info('chassis removed', { chassis: chassis.name, node, reason: why })
      if (why === 'replaced')
        this.#record(node, {
          type: 'Normal',
          reason: 'ChassisReplaced',
          message: `chassis ${chassis.name} was removed: Open vSwitch of this node has another system-id now`,
        })
    }
  }

  #tellWaiting({ node, chassis, reason }: Waiting): void {
    this.#options.log.warn('chassis waits', { node, chassis, reason: reason.is })
    this.#record(node, { type: 'Warning', reason: 'ChassisWaits', message: waitingText(chassis, reason) })
  }

  #record(name: string, event: Omit<KubeEvent, 'regarding'>): void {
    const uid = this.#options.world.nodes.get(name)?.metadata.uid
    if (uid !== undefined) this.#options.record({ regarding: { resource: nodes, name, uid }, ...event })
  }
}

function waitingText(chassis: string, reason: Waiting['reason']): string {
  if (reason.is === 'shared')
    return `system-id ${chassis} of Open vSwitch is that of ${reason.nodes.join(', ')} as well, so OVN takes them for one: remove /etc/openvswitch/system-id.conf on one of them and restart its ovs-ovn`
  const { others } = reason
  const inTheWay =
    others.length === 0
      ? ''
      : `; ${others.join(', ')} has this hostname, and may have its address for tunnels: if nobody uses it, ovn-sbctl chassis-del takes it away`
  return `ovn-controller has not registered chassis ${chassis} in the Southbound: see the log of the ovs-ovn pod of this node${inTheWay}`
}
