import { flagDefaults } from './flag-defaults.ts'
import { EventRecorder } from '@kube-ovn/kube'
import type { KubeClient } from '@kube-ovn/kube'
import type { RecordingLogger } from '@kube-ovn/log'
import {
  ovnNorthboundSchema,
  ovnSouthboundSchema,
  type OvnNorthbound,
  type OvnSouthbound,
} from '@kube-ovn/ovsdb-schema'
import { systemClock } from '@kube-ovn/process'
import type { Kernel } from '@kube-ovn/reconcile'
import { kernelMetrics, Registry } from '@kube-ovn/telemetry'
import { OvsdbClient } from 'ovsdb-client'
import {
  assembleController,
  controlFeatures,
  northboundTables,
  southboundTables,
  type AssembledController,
} from '@kube-ovn/assembly-controller'
import type { ControlFeature, ControlSettings, AllocatingWorld } from '@kube-ovn/domains-control'
import {
  MissingRightError,
  NotEqualToFullError,
  UnadoptableError,
  UndeclaredError,
  UnexplainedError,
} from './errors.ts'
import { FastClock } from './fast-clock.ts'
import { InsertingClient } from './inserting-client.ts'
import { LAG_SEED, laggingClient, laggingDatabase, lagsOf } from './lag.ts'
import { notedFeatures } from './noted-features.ts'
import { plainValue } from './plain-value.ts'
import { problemsOf } from './problems.ts'
import { tellingRefusals } from './refusals.ts'
import { controlSettings } from '@kube-ovn/domains-control/testing/settings'
import { unadoptable } from './unadoptable.ts'
import { unexplained, type RowOrigins } from './unexplained.ts'
import { WatchedObjects, type ResourceVersions } from './watched-objects.ts'

export interface ControllerOptions {
  readonly settings?: Partial<ControlSettings>
  /** Those of features that are other than by default. */
  readonly flags?: ControlSettings['flags']
  /** In the place of the one that is there for it. */
  readonly client?: KubeClient
  /** How much faster than real time its clock runs. */
  readonly timeFactor?: number
  /** In the place of the one that is there. */
  readonly southboundAddress?: string
  /** All of the controller's when absent. */
  readonly features?: readonly ControlFeature[]
  /** How it asks gateway nodes whether they are there; of those of a test nobody is, by default. */
  readonly askNode?: (address: string) => Promise<boolean>
}

export interface Surroundings {
  readonly northboundAddress: string
  /** Absent: it has none. */
  readonly southboundAddress: string | undefined
  /** Its writes are the controller's. */
  readonly client: KubeClient
  /** What the API server has. */
  readonly resourceVersions: ResourceVersions
  /** Keeps what the controller logs. */
  readonly logger: RecordingLogger
  /** The rights that the controller lacked so far. */
  readonly missingRights: () => Promise<readonly string[]>
  /** What controllers have inserted here, to which this one adds. */
  readonly origins: RowOrigins & { readonly inserted: Set<string> }
}

type Table = keyof OvnNorthbound

/** A timer of the controller's runs faster than this. */
const patienceMs = 2_000

/** The controller's features at work, in this process. */
export class Controller implements AsyncDisposable {
  readonly kernel: Kernel<AllocatingWorld>
  readonly world: AllocatingWorld
  readonly logger: RecordingLogger
  readonly #northbound: OvsdbClient<OvnNorthbound>
  readonly #objects: WatchedObjects
  readonly #deletion: AssembledController['deletion']
  readonly #recorder: EventRecorder
  readonly #clock: FastClock
  readonly #missingRights: () => Promise<readonly string[]>
  readonly #origins: RowOrigins
  readonly #undeclared: ReadonlySet<string>
  /** Rejects when the API server refuses what the controller asks for. */
  readonly #refused: Promise<never>
  readonly #stack: AsyncDisposableStack
  #changes = 0

  private constructor(parts: {
    readonly kernel: Kernel<AllocatingWorld>
    readonly world: AllocatingWorld
    readonly logger: RecordingLogger
    readonly northbound: OvsdbClient<OvnNorthbound>
    readonly objects: WatchedObjects
    readonly deletion: AssembledController['deletion']
    readonly recorder: EventRecorder
    readonly clock: FastClock
    readonly missingRights: () => Promise<readonly string[]>
    readonly origins: RowOrigins
    readonly undeclared: ReadonlySet<string>
    readonly refused: Promise<never>
    readonly stack: AsyncDisposableStack
  }) {
    this.kernel = parts.kernel
    this.world = parts.world
    this.logger = parts.logger
    this.#northbound = parts.northbound
    this.#objects = parts.objects
    this.#deletion = parts.deletion
    this.#recorder = parts.recorder
    this.#clock = parts.clock
    this.#missingRights = parts.missingRights
    this.#origins = parts.origins
    this.#undeclared = parts.undeclared
    this.#refused = parts.refused
    this.#stack = parts.stack
    this.#northbound.onChange(() => void this.#changes++)
  }

  /** Starts as the process does when it is elected; it has not settled yet when this resolves. */
  static async start(surroundings: Surroundings, options: ControllerOptions = {}): Promise<Controller> {
    const { resourceVersions, missingRights, origins } = surroundings
    await using stack = new AsyncDisposableStack()
    const { client, northboundAddress } = await asSeen(surroundings, stack)
    const refusal = Promise.withResolvers<never>()
    const refused = refusal.promise
    // Those who wait are told; when nobody does, `missingRights` tells.
    refused.catch(() => undefined)
    const logger = tellingRefusals(surroundings.logger, (answer) =>
      refusal.reject(new MissingRightError([answer])),
    )
    const northbound = stack.use(
      new InsertingClient(
        { endpoints: [northboundAddress], schema: ovnNorthboundSchema, tables: northboundTables() },
        (row) => void origins.inserted.add(row),
      ),
    )
    const { southboundAddress } = surroundings
    const southbound =
      southboundAddress === undefined
        ? undefined
        : stack.use(
            new OvsdbClient<OvnSouthbound>({
              endpoints: [southboundAddress],
              schema: ovnSouthboundSchema,
              tables: southboundTables,
            }),
          )
    const undeclared = new Set<string>()
    const clock = new FastClock(options.timeFactor ?? 20)
    const component = 'kube-ovn-controller'
    const recorder = stack.use(
      new EventRecorder({ client, clock: systemClock, logger, component, instance: 'test' }),
    )
    // Whoever waits for a start that can not come to its end is told why.
    const starting = new AbortController()
    let isStarted = false
    refused.catch((error: unknown) => isStarted || starting.abort(error))
    const { kernel, world, informers, deletion } = stack.use(
      await assembleController(
        {
          ...{ client, recorder, northbound, southbound, logger, clock: systemClock },
          settings: controlSettings({ ...options.settings, flags: { ...flagDefaults(), ...options.flags } }),
          kernelClock: clock,
          features: notedFeatures(options.features ?? controlFeatures, (what) => void undeclared.add(what)),
          askNode: options.askNode ?? (() => Promise.resolve(false)),
          metrics: kernelMetrics(new Registry()),
        },
        starting.signal,
      ),
    )
    isStarted = true
    const objects = new WatchedObjects(informers, resourceVersions)
    return new Controller({
      ...{
        kernel,
        world,
        logger: surroundings.logger,
        northbound,
        objects,
        deletion,
        recorder,
        clock,
        missingRights,
        origins,
        undeclared,
        refused,
      },
      stack: stack.move(),
    })
  }

  /**
   * Resolves when everything that happened so far was seen and dealt with.
   *
   * @throws NotEqualToFullError when a recomputation from scratch would change anything
   * @throws UnadoptableError when upstream's row in the place of one of the controller's would not be taken over
   * @throws UnexplainedError when `kubectl ko explain` could not say of a row which object it is of
   * @throws UndeclaredError when a feature has read what nothing would wake it for, or written what it gives no example of
   * @throws MissingRightError when the controller asked for what its ServiceAccount may not do
   */
  async settle(): Promise<void> {
    await Promise.race([this.#settled(), this.#refused])
    // At once, before anything else happens.
    let left = this.#leftToDo()
    // A time may have passed in between, which a timer is about to notice.
    if (left.length > 0 && (await this.#hasChangeWithin(patienceMs))) {
      await Promise.race([this.#settled(), this.#refused])
      left = this.#leftToDo()
    }
    const unknown = unadoptable(this.#northbound.cache)
    const missing = await this.#missingRights()
    if (missing.length > 0) throw new MissingRightError(missing)
    if (left.length > 0) throw new NotEqualToFullError(left)
    if (unknown.length > 0) throw new UnadoptableError(unknown)
    const lost = unexplained(this.#northbound.cache, this.#origins)
    if (lost.length > 0) throw new UnexplainedError(lost)
    if (this.#undeclared.size > 0) throw new UndeclaredError([...this.#undeclared])
  }

  /** Rows of a table as the controller sees them, by the given columns, in the order of their text. */
  rows<N extends Table, C extends keyof OvnNorthbound[N]>(
    table: N,
    ...columns: readonly C[]
  ): readonly Pick<OvnNorthbound[N], C>[] {
    const rows = [...this.#northbound.cache.scan(table)].map(
      (row) =>
        Object.fromEntries(columns.map((column) => [column, row[column]])) as Pick<OvnNorthbound[N], C>,
    )
    return rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }

  /** The rows of a table, by their names. */
  named<N extends Table>(table: N, name: string): OvnNorthbound[N] | undefined {
    return [...this.#northbound.cache.scan(table)].find((row) => 'name' in row && row.name === name)
  }

  /** Names of ports that are on a switch or in a port group, sorted. */
  portsOf(table: 'Logical_Switch' | 'Port_Group', name: string): readonly string[] {
    const ports = this.named(table, name)?.ports ?? []
    return ports.map((uuid) => this.#northbound.cache.get('Logical_Switch_Port', uuid)?.name ?? uuid).sort()
  }

  /** Lets time pass for it, as {@link FastClock.putForward} says. */
  putClockForward(ms: number): void {
    this.#clock.putForward(ms)
  }

  /** Calls at the next change of the Northbound, and at those after it. */
  onNorthboundChange(listener: () => void): Disposable {
    return this.#northbound.onChange(listener)
  }

  /** What was logged as a warning or an error, without what waited for something that came. */
  problems(): readonly string[] {
    return problemsOf(this.logger.lines)
  }

  /** Ends without finishing anything but requests that are under way. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  async #settled(): Promise<void> {
    for (;;) {
      const seen = this.#changes + this.#objects.changes
      await this.kernel.quiet()
      await this.#recorder.flushed()
      // It is told late of what is gone without a word, since its definition may be. What it then writes is seen below.
      await this.#deletion.settled()
      await this.kernel.quiet()
      await this.#overtakeNorthbound()
      await this.#objects.current()
      await this.kernel.quiet()
      if (seen === this.#changes + this.#objects.changes) return
    }
  }

  async #hasChangeWithin(timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    using _watching = this.onNorthboundChange(() => resolve(true))
    const timer = setTimeout(() => resolve(false), timeoutMs)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }

  /** The server sends what others changed before it answers this. */
  async #overtakeNorthbound(): Promise<void> {
    await this.#northbound.transact([{ op: 'select', table: 'NB_Global', where: [], columns: [] }])
  }

  /** What a recomputation of every key from scratch would change. */
  #leftToDo(): readonly string[] {
    const { steps, touched, writes, failed, decisions, outcomes } = this.kernel.recomputeAll()
    // Values in sets and maps of others are no rows.
    const members = new Set(touched).difference(new Set(outcomes.map(({ owner }) => owner)))
    if (steps.length + writes.length + failed.size + decisions.size === 0) return []
    return [
      ...outcomes.map(
        ({ owner, id, outcome, columns }) => `${owner}: ${outcome} ${id} ${columns?.join(' ') ?? ''}`,
      ),
      ...[...decisions].map((owner) => `${owner}: what it has decided`),
      ...[...members].map((owner) => `${owner}: values in rows of others`),
      ...writes.map(
        ({ owner, patch, write }) =>
          `${owner}: ${patch.resource.plural} ${JSON.stringify(write, plainValue)}`,
      ),
      ...[...failed].map(([owner, error]) => `${owner}: ${String(error)}`),
    ]
  }
}

/** The surroundings as they are, or, where there is a seed for that, lagging behind. */
async function asSeen(
  { client, northboundAddress, logger }: Surroundings,
  stack: AsyncDisposableStack,
): Promise<Pick<Surroundings, 'client' | 'northboundAddress'>> {
  const seed = process.env[LAG_SEED]
  if (seed === undefined) return { client, northboundAddress }
  logger.info('surroundings lag', { seed })
  const lag = lagsOf(Number(seed))
  const database = stack.use(await laggingDatabase(northboundAddress, lag))
  return { client: laggingClient(client, lag), northboundAddress: database.address }
}
