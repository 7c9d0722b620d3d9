import { BgpSpeaker, dialTcp, type Dial, type MessageCounters, type WatchedPeerStatus } from '@kube-ovn/bgp'
import { KubeClient, loadAccess } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { watchNetlink } from '@kube-ovn/netlink'
import { bindAddresses, serveHealth, systemClock } from '@kube-ovn/process'
import { openSecureServing } from '@kube-ovn/serving'
import { speakerMetrics, type Registry, type SpeakerPeer } from '@kube-ovn/telemetry'
import { Announcer } from './announcer.ts'
import { Cluster } from './cluster.ts'
import { speakerOptions, type SpeakerConfig } from './config.ts'
import { Gateway } from './gateway.ts'
import { OwnAddresses } from './own-addresses.ts'
import { PeerStatuses } from './peer-statuses.ts'
import type { Source } from './source.ts'

/** Changes that come together are announced together. */
const gatherMs = 20

/**
 * Announces until the signal is aborted. Neighbours then keep the routes if `--graceful-restart` says so, or else lose them at once.
 *
 * @param netns path of the network namespace to speak from; default is the own one
 * @throws ConfigInvalidError, BgpConfigInvalidError, BgpSocketError when it can not begin
 */
export async function runSpeaker(
  config: SpeakerConfig,
  log: Logger,
  registry: Registry,
  signal: AbortSignal,
  netns?: string,
): Promise<void> {
  const options = { ...speakerOptions(config), netns }
  warnOf(config, log)
  for (const problem of options.refusals) log.warn('a neighbour is passed over', { ...problem })
  await using stack = new AsyncDisposableStack()
  const own = new OwnAddresses(config, netns)
  const dial: Dial = (to, signal) => dialTcp({ ...to, source: own.sourceFor(to.address) }, signal)
  const speaker = new BgpSpeaker(options, {
    ...{ dial, clock: systemClock, log, random: Math.random },
    sourceFor: (neighbor) => own.sourceFor(neighbor),
    changed: (neighbor, change) => statuses?.changed(neighbor, change),
  })
  stack.defer(() => speaker.stop({ keepsRoutes: config.gracefulRestart }))

  const announcer = new Announcer({
    ...{ peers: options.peers, speaker, own, log },
    announced: () => (source.isSynced ? source.announced() : undefined),
  })
  const gathered = stack.use(
    new Gathered(() => {
      announcer.decide()
      if (source.isSynced) statuses?.follow()
    }),
  )

  const client = stack.use(
    new KubeClient(await loadAccess(config.kubeconfig), { userAgent: 'kube-ovn-speaker', connections: 4 }),
  )
  const neighbors = options.peers.map(({ address }) => address)
  const { source, statuses } = openSource({
    ...{ config, client, log, speaker, neighbors, changed: () => gathered.ask() },
  })
  stack.use(source)
  stack.use(statuses)
  const secure = await openSecureServing({ config, hosts: config.podIps, client, log, clock: systemClock })
  if (secure !== undefined) stack.use(secure)
  const health = stack.use(
    await serveHealth({
      addresses: bindAddresses(false, config.podIps),
      port: config.pprofPort,
      secure,
      ...(config.enableMetrics ? { registry } : {}),
      liveness: () => [],
      readiness: () => (source.isSynced ? [] : ['objects are not known yet']),
    }),
  )
  log.info('metrics served', { endpoints: health.endpoints })
  speakerMetrics(registry, config.nodeName, () => ({
    peers: speaker.statuses.map(shown),
    problems: announcer.problems.length,
    bfd: speaker.bfdCounters,
  }))

  const moved = stack.use(
    new Gathered(() => {
      announcer.tell()
      void speaker.follow()
    }),
  )
  stack.use(
    watchNetlink(
      { addresses: true, routes: true, rules: true, links: true },
      () => moved.ask(),
      netns === undefined ? {} : { netns },
    ),
  )
  source.start(signal)
  statuses?.start(signal)
  await speaker.start()
  source.synced().then(
    () => gathered.ask(),
    () => undefined,
  )
  await aborted(signal)
  statuses?.stop()
  await speaker.stop({ keepsRoutes: config.gracefulRestart })
  // Neighbours go on with the routes, and the next speaker with the sessions.
  if (!config.gracefulRestart) await statuses?.farewell()
}

/** Does something once for all that has asked for it lately. */
class Gathered implements Disposable {
  readonly #action: () => void
  #timer: Disposable | undefined

  constructor(action: () => void) {
    this.#action = action
  }

  ask(): void {
    this.#timer ??= systemClock.setTimer(gatherMs, () => {
      this.#timer = undefined
      this.#action()
    })
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]()
  }
}

interface SourceOptions {
  readonly config: SpeakerConfig
  readonly client: KubeClient
  readonly log: Logger
  readonly speaker: BgpSpeaker
  readonly neighbors: readonly string[]
  readonly changed: () => void
}

/** What is announced, and where sessions are shown: there is no object for those of a gateway, and it may write none. */
function openSource({ config, client, log, speaker, neighbors, changed }: SourceOptions): {
  readonly source: Source
  readonly statuses?: PeerStatuses
} {
  if (config.natGwMode)
    return { source: new Gateway({ client, log, gatewayName: config.gatewayName, changed }) }
  const cluster = new Cluster({ client, log, config, changed })
  const nodeName = config.nodeName.toLowerCase()
  const statuses = new PeerStatuses({ client, log, cluster, speaker, nodeName, neighbors })
  return { source: cluster, statuses }
}

function warnOf({ authPassword }: SpeakerConfig, log: Logger): void {
  if (authPassword !== '')
    log.warn('password can be read by everybody who may read the pod', { cure: 'use --auth-password-file' })
}

function shown({ sent, received, ...status }: WatchedPeerStatus): SpeakerPeer {
  return { ...status, sent: byType(sent), received: byType(received) }
}

/** With the names that upstream has. */
function byType(counters: Readonly<MessageCounters>): Readonly<Record<string, number>> {
  const { withdrawUpdate, withdrawPrefix, ...others } = counters
  return { ...others, withdraw_update: withdrawUpdate, withdraw_prefix: withdrawPrefix }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
