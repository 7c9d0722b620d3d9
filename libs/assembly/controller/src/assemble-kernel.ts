import { randomBytes } from 'node:crypto'
import { createWorld, deriveTables, forkWorld } from '@kube-ovn/domains-control'
import type {
  ControlFeature,
  ControlSettings,
  AllocatingWorld,
  Definitions,
  Stores,
} from '@kube-ovn/domains-control'
import { restoreWorld } from '@kube-ovn/domains-control/restore'
import type { Logger } from '@kube-ovn/log'
import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { Kernel, Signals } from '@kube-ovn/reconcile'
import type { Database, KernelOptions, Objects } from '@kube-ovn/reconcile'
import type { Clock } from '@kube-ovn/time'
import type { Cache } from 'ovsdb-client'
import { ChassisKeeper, type ChassisKeeperOptions } from './chassis/keeper.ts'
import { declarationsOf } from './declarations-of.ts'
import { controlFeatures } from './features.ts'
import { GatewayProbe, type GatewayProbeOptions } from './gateway-probe.ts'

export interface ControlKernelOptions extends Pick<
  KernelOptions<AllocatingWorld>,
  'lock' | 'metrics' | 'onOrphansHeld'
> {
  readonly settings: ControlSettings
  /** Complete, as is the database's cache. */
  readonly stores: Stores
  readonly definitions: Definitions
  readonly database: Database & { readonly cache: Cache<OvnNorthbound> }
  readonly objects: Objects
  /** Paces, back-offs and times in objects go by it. */
  readonly clock: Clock
  readonly logger: Logger
  /** All of the controller's when absent. */
  readonly features?: readonly ControlFeature[]
  /** Gateway nodes are asked whether they are there. Absent: what the cluster says of them is believed. */
  readonly gateways?: Pick<GatewayProbeOptions, 'ask' | 'record'>
  /** Absent: chassis in the Southbound are let alone. */
  readonly chassis?: Pick<ChassisKeeperOptions, 'southbound' | 'lock' | 'record' | 'onHeld'> | undefined
}

export interface ControlKernel {
  /** Not started: {@link ControlKernel.start} does that. */
  readonly kernel: Kernel<AllocatingWorld>
  readonly world: AllocatingWorld
  readonly signals: Signals
  /** Not started. */
  readonly gatewayProbe: GatewayProbe | undefined
  /** Not started. */
  readonly chassisKeeper: ChassisKeeper | undefined
  /** Finds out what there is while the process goes on with other things, and sets the kernel to work, unless the signal was aborted meanwhile. */
  start(signal?: AbortSignal): Promise<void>
}

/** Joins the controller's features, the world that they look at, and a kernel. */
export function assembleKernel(options: ControlKernelOptions): ControlKernel {
  const {
    settings,
    stores,
    definitions,
    database,
    clock,
    logger,
    features = controlFeatures,
    gateways,
    chassis,
    ...others
  } = options
  const northbound = database.cache
  const signals = new Signals()
  const { tables } = declarationsOf(features)
  const derived = deriveTables({ settings, stores, tables, northbound, logger, clock })
  const parts = { settings, stores, definitions, northbound, derived, signals, clock, randomBytes }
  const world = createWorld(parts)
  const kernel = new Kernel<AllocatingWorld>({
    ...others,
    ...{ features, world, forkWorld, database, signals, derived, clock, logger },
    schema: ovnNorthboundSchema,
  })
  const gatewayProbe =
    gateways === undefined ? undefined : new GatewayProbe({ ...gateways, derived, world, clock, log: logger })
  const { metrics } = others
  const chassisKeeper =
    chassis === undefined
      ? undefined
      : new ChassisKeeper({ ...chassis, derived, world, metrics, clock, log: logger })
  async function start(signal?: AbortSignal): Promise<void> {
    // Until the kernel follows them itself.
    using _rows = database.onChange((changes) => derived.rowsChanged(changes))
    using _objects = others.objects.onChange((resource, change) => derived.objectChanged(resource, change))
    await derived.prepare()
    signal?.throwIfAborted()
    restoreWorld(world, derived, logger)
    kernel.start()
  }
  return { kernel, world, signals, gatewayProbe, chassisKeeper, start }
}
