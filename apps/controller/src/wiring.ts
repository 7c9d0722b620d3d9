import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { EventRecorder, KubeClient, LeaderElector, loadAccess } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { bindAddresses, serveHealth, systemClock } from '@kube-ovn/process'
import { openSecureServing } from '@kube-ovn/serving'
import {
  addressAuditMetrics,
  clientMetrics,
  databaseMetrics,
  kernelMetrics,
  leaderMetrics,
  subnetMetrics,
} from '@kube-ovn/telemetry'
import type { Registry } from '@kube-ovn/telemetry'
import type { ControllerConfig } from './config.ts'
import { northboundEndpoints } from './endpoints.ts'
import { aborted, lead, type Work } from './leadership.ts'
import { createNorthbound } from './northbound.ts'
import { createSouthbound } from './southbound.ts'
import { servePlans } from './plan/serve.ts'
import { settingsOf, upstreamVersion } from './settings.ts'

const component = 'kube-ovn-controller'

/** Serves health checks, and leads whenever this process is elected, until the signal is aborted. */
export async function runController(
  config: ControllerConfig,
  log: Logger,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  const settings = settingsOf(config)
  const endpoints = northboundEndpoints(config)
  await using stack = new AsyncDisposableStack()
  const metrics = kernelMetrics(registry)
  const auditMetrics = addressAuditMetrics(registry)
  const auditIntervalMs = config.inspectInterval === 0 ? undefined : config.inspectInterval * 1000
  const connectionMetrics = databaseMetrics(registry)
  let work: Work = {}
  subnetMetrics(registry, () => work.subnets?.() ?? [])
  const client = stack.use(
    new KubeClient(await loadAccess(config.kubeconfig), {
      userAgent: `${component}/${upstreamVersion}`,
      onAnswer: clientMetrics(registry),
    }),
  )
  const secure = await openSecureServing({ config, hosts: config.podIps, client, log, clock: systemClock })
  if (secure !== undefined) stack.use(secure)
  const health = stack.use(
    await serveHealth({
      addresses: bindAddresses(config.enableBindLocalIp, config.podIps),
      port: config.pprofPort,
      secure,
      ...(config.enableMetrics ? { registry } : {}),
      liveness: () => [],
      // A candidate is ready to take over.
      readiness: () => problemsOf(work, config.unservedLimit),
    }),
  )
  log.info('health checks served', { endpoints: health.endpoints })
  if (config.planSocket !== '') {
    try {
      stack.use(await servePlans({ path: config.planSocket, planner: () => work.plan, log }))
    } catch (error) {
      // Without plans the network works all the same.
      log.warn('plans can not be asked for', { path: config.planSocket, reason: String(error) })
    }
  }
  const instance = config.podName === '' ? hostname() : config.podName
  const recorder = stack.use(
    new EventRecorder({ client, clock: systemClock, logger: log, component, instance }),
  )

  const failure = Promise.withResolvers<never>()
  const elector = new LeaderElector({
    client,
    clock: systemClock,
    logger: log,
    namespace: config.podNamespace,
    name: component,
    identity: `${instance}_${randomUUID()}`,
    leaseDurationMs: config.leaderElectLeaseDuration,
    renewDeadlineMs: config.leaderElectRenewDeadline,
    retryPeriodMs: config.leaderElectRetryPeriod,
    async onElected(leading) {
      try {
        await using northbound = createNorthbound(config, endpoints)
        await using southbound = createSouthbound(config)
        const measured = { metrics, auditMetrics, auditIntervalMs, databaseMetrics: connectionMetrics }
        const isLeader = () => elector.isLeader
        const options = { client, recorder, northbound, southbound, isLeader, settings, ...measured, log }
        await lead(options, leading, (current) => (work = current))
      } catch (error) {
        // A term may end while its leader still starts.
        if (error !== leading.reason) failure.reject(error)
      }
    },
    onLeader: (identity) => log.info('leader elected', { name: identity }),
  })
  stack.use(elector)
  leaderMetrics(registry, component, () => elector.isLeader)
  elector.start(signal)
  await Promise.race([aborted(signal), failure.promise])
}

/** What keeps a leader from its work. */
function problemsOf({ connections = [], start, kernel }: Work, unservedLimitMs: number): readonly string[] {
  const unserved =
    kernel === undefined || kernel.isReady(unservedLimitMs)
      ? undefined
      : `a key has not been served for ${Math.round(kernel.oldestUnservedMs / 1000)} s`
  const unconnected = connections.map(({ problem }) => problem)
  return [...unconnected, startProblem(start, unservedLimitMs), unserved].filter(
    (problem) => problem !== undefined,
  )
}

/** A leader that may not read something never begins, and keeps others from it. */
function startProblem(start: Work['start'], limitMs: number): string | undefined {
  const unknown = start?.unknown() ?? []
  if (start === undefined || unknown.length === 0) return undefined
  const sinceMs = systemClock.monotonic() - start.startedMs
  if (sinceMs <= limitMs) return undefined
  return `not known after ${Math.round(sinceMs / 1000)} s: ${unknown.join(' ')}; see the log, and what the account may list and watch`
}
