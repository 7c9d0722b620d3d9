import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { EventRecorder, KubeClient, LeaderElector, loadAccess } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { bindAddresses, serveHealth, systemClock } from '@kube-ovn/process'
import type { Kernel } from '@kube-ovn/reconcile'
import { addressAuditMetrics, kernelMetrics, leaderMetrics } from '@kube-ovn/telemetry'
import type { Registry } from '@kube-ovn/telemetry'
import type { ControllerConfig } from './config.ts'
import { aborted, lead } from './leadership.ts'
import { createNorthbound } from './northbound.ts'
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
  await using stack = new AsyncDisposableStack()
  const metrics = kernelMetrics(registry)
  const auditMetrics = addressAuditMetrics(registry)
  const auditIntervalMs = config.inspectInterval === 0 ? undefined : config.inspectInterval * 1000
  let kernel: Kernel<unknown> | undefined
  const health = stack.use(
    await serveHealth({
      addresses: bindAddresses(config.enableBindLocalIp, config.podIps),
      port: config.pprofPort,
      ...(config.enableMetrics ? { registry } : {}),
      liveness: () => [],
      // A candidate is ready to take over.
      readiness: () =>
        kernel === undefined || kernel.isReady(config.unservedLimit)
          ? []
          : [`a key has not been served for ${Math.round(kernel.oldestUnservedMs / 1000)} s`],
    }),
  )
  log.info('health checks served', { endpoints: health.endpoints })
  const instance = config.podName === '' ? hostname() : config.podName
  const client = stack.use(
    new KubeClient(await loadAccess(config.kubeconfig), { userAgent: `${component}/${upstreamVersion}` }),
  )
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
        await using northbound = createNorthbound(config)
        const audit = { auditMetrics, auditIntervalMs }
        const options = { client, recorder, northbound, settings, metrics, ...audit, log }
        await lead(options, leading, (current) => (kernel = current))
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
