import { BgpSpeaker, dialTcp, type Dial, type MessageCounters, type WatchedPeerStatus } from '@kube-ovn/bgp'
import { desiredPrefixes, desiredRoutes, type Announced } from '@kube-ovn/features-speaker'
import { bgpPeerLabels } from '@kube-ovn/annotations'
import { Informer, KubeClient, loadAccess } from '@kube-ovn/kube'
import { bgpPeerResource } from '@kube-ovn/kube-api'
import type { Logger } from '@kube-ovn/log'
import { watchNetlink } from '@kube-ovn/netlink'
import { bindAddresses, serveHealth, systemClock } from '@kube-ovn/process'
import { openSecureServing } from '@kube-ovn/serving'
import { speakerMetrics, type Registry, type SpeakerPeer } from '@kube-ovn/telemetry'
import { BgpPeers } from './bgp-peers.ts'
import { Cluster } from './cluster.ts'
import { speakerOptions, type SpeakerConfig } from './config.ts'
import { warningOnce } from './once-logger.ts'
import { OwnAddresses } from './own-addresses.ts'
import { ToldProblems } from './told-problems.ts'

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
  await using stack = new AsyncDisposableStack()
  const own = new OwnAddresses(config, netns)
  const dial: Dial = (to, signal) => dialTcp({ ...to, source: own.sourceFor(to.address) }, signal)
  const speaker = new BgpSpeaker(options, {
    ...{ dial, clock: systemClock, log, random: Math.random },
    sourceFor: (neighbor) => own.sourceFor(neighbor),
    changed: (neighbor, change) => peers.changed(neighbor, change),
  })
  stack.defer(() => speaker.stop({ keepsRoutes: config.gracefulRestart }))

  const nodeName = config.nodeName.toLowerCase()
  let nodeBefore: string | undefined
  const problems = new ToldProblems(log)
  let announced: Announced = { prefixes: new Set(), problems: [] }
  /** What neighbours were told last. */
  const told = new Map<
    string,
    { readonly prefixes: Announced['prefixes']; readonly nextHop: string | undefined }
  >()
  const tell = (): void => {
    // Until everything is known, neighbours keep what they know of a speaker before this one.
    if (!cluster.isSynced) return
    for (const { address, extendedNextHop, attributes } of options.peers) {
      const nextHop = own.nextHopFor(address)
      const { prefixes } = announced
      const before = told.get(address)
      if (before?.prefixes === prefixes && before.nextHop === nextHop) continue
      told.set(address, { prefixes, nextHop })
      speaker.announce(address, desiredRoutes(prefixes, { address, extendedNextHop, nextHop, attributes }))
    }
  }
  const gathered = stack.use(
    new Gathered(() => {
      announced = desiredPrefixes(cluster.snapshot(config))
      problems.tell(announced.problems)
      tell()
      if (!cluster.isSynced) return
      peers.begin()
      const node = cluster.node(nodeName)?.metadata.uid
      if (node !== nodeBefore) peers.askAll()
      nodeBefore = node
    }),
  )

  const client = stack.use(
    new KubeClient(await loadAccess(config.kubeconfig), { userAgent: 'kube-ovn-speaker', connections: 4 }),
  )
  const withServices = config.announceClusterIp
  const cluster = stack.use(new Cluster({ client, log, withServices, changed: () => gathered.ask() }))
  const objects = stack.use(
    new Informer({
      ...{ client, resource: bgpPeerResource, clock: systemClock, mayBeAbsent: true },
      logger: warningOnce(log),
      labelSelector: selectorOf(bgpPeerLabels(nodeName)),
    }),
  )
  const peers = stack.use(
    new BgpPeers({
      ...{ client, informer: objects, nodeName, clock: systemClock, log, random: Math.random },
      node: () => cluster.node(nodeName),
      neighbors: options.peers.map(({ address }) => address),
      statusOf: (neighbor) => speaker.statusOf(neighbor),
    }),
  )
  const secure = await openSecureServing({ config, hosts: config.podIps, client, log, clock: systemClock })
  if (secure !== undefined) stack.use(secure)
  const health = stack.use(
    await serveHealth({
      addresses: bindAddresses(false, config.podIps),
      port: config.pprofPort,
      secure,
      ...(config.enableMetrics ? { registry } : {}),
      liveness: () => [],
      readiness: () => (cluster.isSynced ? [] : ['objects are not known yet']),
    }),
  )
  log.info('metrics served', { endpoints: health.endpoints })
  speakerMetrics(registry, config.nodeName, () => ({
    peers: speaker.statuses.map(shown),
    problems: announced.problems.length,
    bfd: speaker.bfdCounters,
  }))

  const moved = stack.use(
    new Gathered(() => {
      tell()
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
  cluster.start(signal)
  objects.start(signal)
  objects.synced.then(
    () => peers.askAll(),
    () => undefined,
  )
  await speaker.start()
  cluster.synced().then(
    () => gathered.ask(),
    () => undefined,
  )
  await aborted(signal)
  peers.stop()
  await speaker.stop({ keepsRoutes: config.gracefulRestart })
  // Neighbours go on with the routes, and the next speaker with the sessions.
  if (!config.gracefulRestart) await peers.farewell()
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

function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
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
