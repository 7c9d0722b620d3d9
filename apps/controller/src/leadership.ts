import {
  answerPlan,
  assembleController,
  type AssembledController,
  type PlanAnswer,
  type PlanRequest,
} from '@kube-ovn/assembly-controller'
import type { ControlSettings } from '@kube-ovn/domains-control'
import { AddressAudit, auditSteps } from '@kube-ovn/domains-control/address-audit'
import { vpcResource } from '@kube-ovn/kube-api'
import { LeadershipLostError, type EventRecorder, type KubeClient } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import type { OvnNorthbound, OvnSouthbound } from '@kube-ovn/ovsdb-schema'
import { giveHeapBack, systemClock } from '@kube-ovn/process'
import type { DatabaseConnection } from '@kube-ovn/process'
import type { KubeEvent } from '@kube-ovn/reconcile'
import type { AddressAuditMetrics, DatabaseMetrics, KernelMetrics, SubnetReading } from '@kube-ovn/telemetry'
import type { OvsdbClient } from 'ovsdb-client'
import { followNorthbound } from './northbound.ts'
import { followSouthbound } from './southbound.ts'
import { readSubnets } from './subnets.ts'

export interface LeadershipOptions {
  readonly client: KubeClient
  readonly recorder: EventRecorder
  readonly northbound: OvsdbClient<OvnNorthbound>
  readonly southbound: OvsdbClient<OvnSouthbound> | undefined
  /** Whether this process is the leader by right, at this very moment. */
  readonly isLeader: () => boolean
  readonly settings: ControlSettings
  readonly metrics: KernelMetrics
  readonly auditMetrics: AddressAuditMetrics
  readonly databaseMetrics: DatabaseMetrics
  /** From the end of one audit of addresses to the next; without it there are none. */
  readonly auditIntervalMs: number | undefined
  readonly log: Logger
}

/** Every transaction asserts this lock of its database. A lock's name has no dashes (RFC 7047, section 3.1, <id>). */
const lockName = 'kube_ovn_controller'

/**
 * Does the work of the leader until the signal is aborted.
 *
 * Everything is read anew: what the leader before wrote last must be known before an address is given out.
 */
export async function lead(
  options: LeadershipOptions,
  signal: AbortSignal,
  onWork: (work: Work) => void,
): Promise<void> {
  const { client, northbound, southbound, settings, log } = options
  // The election decides: a leader before, which may be cut off, must not write any more, and neither must a connection of our
  // own that is dead without a word keep us from it.
  const steal = () => options.isLeader() && !signal.aborted
  const lock = northbound.lock(lockName, { steal })
  southbound?.lock(lockName, { steal })
  await using stack = new AsyncDisposableStack()
  let lastWords: Disposable | undefined
  stack.defer(() => lastWords?.[Symbol.dispose]())
  stack.defer(() => onWork({}))
  let onReplaced: (how: string) => void = () => undefined
  const followed = { log, metrics: options.databaseMetrics }
  const connections = [
    stack.use(followNorthbound(northbound, { ...followed, onReplaced: (how) => onReplaced(how) })),
    ...(southbound === undefined ? [] : [stack.use(followSouthbound(southbound, followed))]),
  ]
  if (southbound === undefined)
    log.warn('chassis of nodes that are gone stay: nobody says where the Southbound is', {
      cure: 'set OVN_DB_IPS to the addresses of the database servers, or OVN_SB_ADDR to the Southbound',
    })
  onWork({ connections })
  const startedMs = systemClock.monotonic()
  const { kernel, world } = stack.use(
    await assembleController(
      {
        ...{ client, recorder: options.recorder, northbound, southbound, settings, lock: lock.name },
        ...{ clock: systemClock, logger: log, metrics: options.metrics },
        onReading: (unknown) => onWork({ connections, start: { startedMs, unknown } }),
      },
      signal,
    ),
  )
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
  onWork({
    connections,
    kernel,
    subnets: () => readSubnets(world.subnets.values()),
    plan: (request) => answerPlan(kernel, world, request),
  })
  onReplaced = (how) => {
    kernel.takeAll()
    const uid = world.vpcs.get(settings.clusterRouter)?.metadata.uid
    if (uid !== undefined) options.recorder.record(replacedEvent(settings.clusterRouter, uid, how))
  }
  log.info('leading', { ms: Math.round(systemClock.monotonic() - startedMs) })
  await Promise.race([kernel.quiet(), aborted(signal)])
  if (!signal.aborted) endStart(log)
  await aborted(signal)
  // A process that ends has the Lease for a while, and hands it on when it is done.
  if (signal.reason instanceof LeadershipLostError) kernel.yield()
  else lastWords = systemClock.setTimer(lastWordsMs, () => kernel.yield())
}

/** Less than what is left of a Lease that a process which ends renews no more: with the times that are usual, 5 s at least. */
const lastWordsMs = 4_000

/** What there is of a leader's work. */
export interface Work {
  /** To the databases. */
  readonly connections?: readonly DatabaseConnection[]
  /** Until there is a kernel. */
  readonly start?: {
    /** Of the monotonic clock. */
    readonly startedMs: number
    /** Resources of which it is not known yet what there is. */
    readonly unknown: () => readonly string[]
  }
  readonly kernel?: AssembledController['kernel']
  /** Tells what changes would come to. */
  readonly plan?: (request: PlanRequest) => PlanAnswer
  /** Of subnets that have addresses. */
  readonly subnets?: () => Iterable<SubnetReading>
}

function replacedEvent(vpc: string, uid: string, how: string): KubeEvent {
  return {
    regarding: { resource: vpcResource, name: vpc, uid },
    type: 'Warning',
    reason: 'NorthboundReplaced',
    message: `the Northbound database is another one than before (${how}): every row is written again`,
  }
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

/** When all that there was at the start is done, what that took is needed no more. */
function endStart(log: Logger): void {
  const startedMs = systemClock.monotonic()
  const given = giveHeapBack()
  if (given === undefined) return
  const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024)
  log.info('memory of the start given back', {
    beforeMib: mib(given.before),
    afterMib: mib(given.after),
    ms: Math.round(systemClock.monotonic() - startedMs),
  })
}
