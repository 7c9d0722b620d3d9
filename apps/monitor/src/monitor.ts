import { ovnNorthboundSchema, ovnSouthboundSchema } from '@kube-ovn/ovsdb-schema'
import type { OvnNorthbound, OvnSouthbound } from '@kube-ovn/ovsdb-schema'
import { KubeClient, loadAccess } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { bindAddresses, serveHealth, systemClock } from '@kube-ovn/process'
import { openSecureServing } from '@kube-ovn/serving'
import {
  FileSizes,
  monitorMetrics,
  Sources,
  type MonitorReading,
  type Registry,
  type SwitchPortReading,
} from '@kube-ovn/telemetry'
import { pause } from '@kube-ovn/time'
import { OvsdbClient, type OvsdbClientOptions, type Tables } from 'ovsdb-client'
import type { MonitorConfig } from './config.ts'
import { SeenContradictions } from './contradictions.ts'
import { keepLeaderLabels } from './leader-labels.ts'
import { askDaemons, type DaemonAnswers, type WatchedServer } from './daemons.ts'
import {
  findInconsistencies,
  northboundTables,
  readNorthbound,
  readSouthbound,
  southboundTables,
  switchPorts,
} from './objects.ts'

/** Between two looks at the daemons, however often somebody ceases to answer and answers again. */
const earliestMs = 1000

/**
 * Serves metrics until the signal is aborted.
 *
 * A scrape shows what is known, and asks nobody: rows are followed, daemons are asked now and then, and
 * as soon as somebody ceases to answer. So nothing that hangs makes it wait.
 */
export async function runMonitor(
  config: MonitorConfig,
  log: Logger,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const sources = new Sources(log)
  const timeoutMs = Math.max(config.timeout, 1) * 1000
  const follow = <T extends Tables>(
    source: string,
    options: Pick<OvsdbClientOptions<T>, 'endpoints' | 'schema' | 'tables'>,
  ): OvsdbClient<T> => followDatabase(stack, sources, source, { ...options, inactivityProbeMs: timeoutMs })
  const northbound = follow<OvnNorthbound>('northbound', {
    endpoints: [config.northboundRemote],
    schema: ovnNorthboundSchema,
    tables: northboundTables,
  })
  const southbound = follow<OvnSouthbound>('southbound', {
    endpoints: [config.southboundRemote],
    schema: ovnSouthboundSchema,
    tables: southboundTables,
  })
  const { logs, files, servers } = watchedOf(config)
  const sizes = new FileSizes(
    [...logs, ...files].map(({ file }) => file),
    sources,
  )
  const contradictions = new SeenContradictions()
  let answers: DaemonAnswers | undefined

  const read = (): MonitorReading => {
    const nb = rowsOf(northbound)
    const sb = rowsOf(southbound)
    return {
      daemons: answers?.daemons ?? [],
      databases: (answers?.databases ?? []).map((database) => {
        const { file = '' } = files.find(({ component }) => component === database.component) ?? {}
        return { ...database, fileBytes: sizes.sizes.get(file) }
      }),
      logs: logs.flatMap(({ component, file }) => {
        const bytes = sizes.sizes.get(file)
        return bytes === undefined ? [] : [{ component, file, bytes }]
      }),
      failedRequests: sources.failures,
      sources: sources.states,
      northbound: nb && readNorthbound(nb, sb),
      southbound: sb && readSouthbound(sb),
      inconsistent:
        nb === undefined || sb === undefined
          ? new Map()
          : contradictions.look(findInconsistencies(nb, sb), performance.now()),
    }
  }
  const ports = (): Iterable<SwitchPortReading> => {
    const nb = rowsOf(northbound)
    return nb === undefined ? [] : switchPorts(nb, rowsOf(southbound))
  }
  monitorMetrics(registry, config.nodeName, read, config.enablePortMetrics ? ports : undefined)
  const client = await apiClient(config, stack)
  const secure = client && (await secureServing(config, log, client, stack))
  const health = stack.use(
    await serveHealth({
      addresses: bindAddresses(config.enableBindLocalIp, config.podIps),
      port: config.metricsPort,
      secure,
      ...(config.enableMetrics ? { registry } : {}),
      liveness: () => [],
      readiness: () => (answers === undefined ? ['daemons have not been asked yet'] : []),
    }),
  )
  log.info('metrics served', { endpoints: health.endpoints })
  const labelling =
    client &&
    config.labelLeaders &&
    keepLeaderLabels(
      {
        ...{ client, log, sources, timeoutMs, nodeName: config.nodeName, namespace: config.podNamespace },
        northdPid: config.northdPid,
        databases: [
          { role: 'nb', database: northbound },
          { role: 'sb', database: southbound },
        ],
      },
      signal,
    )
  while (!signal.aborted) {
    const changed = new AbortController()
    using _told = sources.onChange(() => changed.abort())
    sizes.look().catch((error: unknown) => log.error('sizes of files are not known', { err: error }))
    answers = await askDaemons({ servers, northdPid: config.northdPid, timeoutMs, sources })
    await pause(systemClock, earliestMs, signal)
    const leftMs = Math.max(config.pollInterval * 1000 - earliestMs, 0)
    await pause(systemClock, leftMs, AbortSignal.any([signal, changed.signal]))
  }
  await labelling
}

/** Without secure serving and labels, a monitor asks the API server nothing. */
async function apiClient(
  { secureServing: isSecure, labelLeaders: labels, kubeconfig }: MonitorConfig,
  stack: AsyncDisposableStack,
): Promise<KubeClient | undefined> {
  if (!isSecure && !labels) return undefined
  const access = await loadAccess(kubeconfig)
  return stack.use(new KubeClient(access, { userAgent: 'kube-ovn-monitor', connections: 3 }))
}

async function secureServing(
  config: MonitorConfig,
  log: Logger,
  client: KubeClient,
  stack: AsyncDisposableStack,
) {
  if (!config.secureServing) return undefined
  const secure = await openSecureServing({ config, hosts: config.podIps, client, log, clock: systemClock })
  return secure && stack.use(secure)
}

/** Keeps the rows of a database, and tells whether it is there. */
function followDatabase<T extends Tables>(
  stack: AsyncDisposableStack,
  sources: Sources,
  source: string,
  options: OvsdbClientOptions<T>,
): OvsdbClient<T> {
  const client = stack.use(new OvsdbClient<T>(options))
  stack.use(
    client.onState((state) => {
      if (state.phase === 'connected') sources.answered(source)
      else if (state.phase === 'waiting') sources.failed(source, state.cause)
    }),
  )
  // It goes on by itself, and ends with the process.
  client.connect().catch(() => undefined)
  return client
}

/** The rows, as long as they are up to date. */
function rowsOf<T extends Tables>({ state, cache }: OvsdbClient<T>): OvsdbClient<T>['cache'] | undefined {
  return state.phase === 'connected' ? cache : undefined
}

interface WatchedFile {
  readonly component: string
  readonly file: string
}

function watchedOf(config: MonitorConfig): {
  readonly servers: readonly WatchedServer[]
  readonly logs: readonly WatchedFile[]
  readonly files: readonly WatchedFile[]
} {
  const [nb, sb, northd] = ['ovsdb-server-northbound', 'ovsdb-server-southbound', 'ovn-northd'] as const
  const path = (socket: string): string => socket.replace(/^unix:/, '')
  return {
    servers: [
      { database: ovnNorthboundSchema.name, component: nb, control: path(config.northboundControl) },
      { database: ovnSouthboundSchema.name, component: sb, control: path(config.southboundControl) },
    ],
    logs: [
      { component: nb, file: config.northboundLog },
      { component: sb, file: config.southboundLog },
      { component: northd, file: config.northdLog },
    ],
    files: [
      { component: nb, file: config.northboundFile },
      { component: sb, file: config.southboundFile },
    ],
  }
}
