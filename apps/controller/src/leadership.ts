import { randomBytes } from 'node:crypto'
import {
  AddressAudit,
  auditSteps,
  controlFeatures,
  createWorld,
  forkWorld,
  OrphanConfirmation,
  restoreWorld,
  watchedInformers,
  watchedStores,
} from '@kube-ovn/features-control'
import type { ControlSettings } from '@kube-ovn/features-control'
import { Informer } from '@kube-ovn/kube'
import type { EventRecorder, KubeClient } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { systemClock } from '@kube-ovn/process'
import { Kernel, kubeObjects, Signals } from '@kube-ovn/reconcile'
import type { AddressAuditMetrics, KernelMetrics } from '@kube-ovn/telemetry'
import type { OvsdbClient } from 'ovsdb-client'

export interface LeadershipOptions {
  readonly client: KubeClient
  readonly recorder: EventRecorder
  readonly northbound: OvsdbClient<OvnNorthbound>
  readonly settings: ControlSettings
  readonly metrics: KernelMetrics
  readonly auditMetrics: AddressAuditMetrics
  /** From the end of one audit of addresses to the next; without it there are none. */
  readonly auditIntervalMs: number | undefined
  readonly log: Logger
}

/** Every transaction asserts this lock of the Northbound. A lock's name has no dashes (RFC 7047, section 3.1, <id>). */
const lockName = 'kube_ovn_controller'

/**
 * Does the work of the leader until the signal is aborted.
 *
 * Everything is read anew: what the leader before wrote last must be known before an address is given out.
 */
export async function lead(
  options: LeadershipOptions,
  signal: AbortSignal,
  onKernel: (kernel: Kernel<unknown> | undefined) => void,
): Promise<void> {
  const { client, northbound, settings, log } = options
  // The election has decided: a leader before, which may be cut off, must not write any more.
  const lock = northbound.lock(lockName, { steal: true })
  await using stack = new AsyncDisposableStack()
  const startedMs = systemClock.monotonic()
  const informers = watchedInformers(
    (_name, watch) => new Informer({ client, clock: systemClock, logger: log, ...watch }),
  )
  for (const informer of Object.values(informers)) {
    stack.use(informer)
    informer.start(signal)
  }
  await Promise.all([
    northbound.connect(signal),
    options.recorder.recall(),
    ...Object.values(informers).map((informer) => informer.synced),
  ])

  const signals = new Signals()
  const world = createWorld({
    settings,
    stores: watchedStores((name) => informers[name].store),
    northbound: northbound.cache,
    signals,
    clock: systemClock,
    randomBytes,
  })
  restoreWorld(world, log)
  const confirmation = stack.use(
    new OrphanConfirmation({
      vpc: settings.clusterRouter,
      vpcs: informers.vpcs,
      record: (event) => record(options.recorder, event),
      confirm: (token) => kernel.confirmOrphans(token),
    }),
  )
  const kernel = new Kernel({
    features: controlFeatures,
    world,
    forkWorld,
    database: northbound,
    schema: ovnNorthboundSchema,
    lock: lock.name,
    objects: kubeObjects({
      client,
      informers: Object.values(informers),
      record: (event) => record(options.recorder, event),
    }),
    signals,
    clock: systemClock,
    logger: log,
    metrics: options.metrics,
    onOrphansHeld: (held) => confirmation.held(held),
  })
  stack.use(kernel)
  kernel.start()
  confirmation.start()
  const { auditMetrics, auditIntervalMs } = options
  if (auditIntervalMs !== undefined) {
    const audit = new AddressAudit({
      steps: () => auditSteps(world),
      clock: systemClock,
      log,
      metrics: auditMetrics,
      intervalMs: auditIntervalMs,
    })
    stack.use(audit)
    audit.start()
  }
  onKernel(kernel)
  stack.defer(() => onKernel(undefined))
  log.info('leading', { ms: Math.round(systemClock.monotonic() - startedMs) })
  await aborted(signal)
}

function record(recorder: EventRecorder, event: Parameters<EventRecorder['record']>[0]): void {
  recorder.record(event)
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
