import { pause } from '@kube-ovn/time'
import { urlHost } from '@kube-ovn/ip'
import { KubeClient, loadAccess } from '@kube-ovn/kube'
import type { Logger } from '@kube-ovn/log'
import { answerPorts } from '@kube-ovn/probes'
import { bindAddresses, ConfigInvalidError, serveHealth, systemClock } from '@kube-ovn/process'
import { openSecureServing } from '@kube-ovn/serving'
import { pingerMetrics, Sources, vswitchMetrics, type Registry } from '@kube-ovn/telemetry'
import { Cluster } from './cluster.ts'
import type { PingerConfig } from './config.ts'
import { jittered } from './jitter.ts'
import { drawLatencyMatrix, latenciesOf, measuredLatencies } from './latency-matrix.ts'
import { checkOf, describeOutcome, isGood, measured, type Outcome } from './outcome.ts'
import { openVswitchAt, PortBindings } from './port-bindings.ts'
import { Record } from './record.ts'
import { runRound, type Asked, type RoundOptions } from './round.ts'
import { familyOf, parsePortTarget, targetsOf, type Targets, type TargetSelection } from './targets.ts'
import { Vswitch } from './vswitch.ts'

/** How long a server or a job waits for the first lists. */
const firstListMs = 10_000
const bindingsGoodForMs = 60_000
const bindingsSettleMs = 2000
/** Part of the interval over which a server spreads packets. */
const spreadShare = 0.8
const matrixTimeoutMs = 5000

interface Pinger extends AsyncDisposable {
  /** Whom it asks at present. */
  asked(): Asked
  round(asked: Asked | Promise<Asked>): Promise<readonly Outcome[]>
  settled(): Promise<void>
  /** Of the node; `undefined` where Open vSwitch is to be left unchecked. */
  readonly vswitch: Vswitch | undefined
}

/**
 * Checks again and again until the signal is aborted, and serves metrics.
 *
 * @param netns path of the network namespace that pings leave from; default is the own one
 */
export async function runServer(
  config: PingerConfig,
  log: Logger,
  registry: Registry,
  signal: AbortSignal,
  netns?: string,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const client = stack.use(await openClient(config))
  const secure = await openSecureServing({ config, hosts: config.podIps, client, log, clock: systemClock })
  if (secure !== undefined) stack.use(secure)
  const health = stack.use(
    await serveHealth({
      addresses: bindAddresses(config.enableBindLocalIp, config.podIps),
      port: config.port,
      secure,
      ...(config.enableMetrics ? { registry } : {}),
      liveness: () => [],
      readiness: () => [],
    }),
  )
  log.info('metrics served', { endpoints: health.endpoints })
  if (config.enableVerboseConnCheck) {
    for (const address of bindAddresses(config.enableBindLocalIp, config.podIps)) {
      const { tcpConnCheckPort: tcpPort, udpConnCheckPort: udpPort } = config
      stack.use(await answerPorts({ address, tcpPort, udpPort }))
    }
  }
  const intervalMs = Math.max(config.interval, 1) * 1000
  const pinger = stack.use(
    await openPinger(config, client, log, signal, { spreadMs: spreadShare * intervalMs, netns }),
  )
  const source = { nodeName: config.nodeName, nodeIp: config.hostIp, podIp: config.podIps[0] ?? '' }
  const record = new Record(pingerMetrics(registry, source), log)
  const { vswitch } = pinger
  if (vswitch !== undefined) vswitchMetrics(registry, () => vswitch.reading)
  await pinger.settled()
  // Those of other nodes were started at the same moment.
  await pause(systemClock, Math.random() * intervalMs, signal)
  while (!signal.aborted) {
    const asked = pinger.asked()
    const [outcomes] = await Promise.all([pinger.round(asked), vswitch?.look()])
    record.take(outcomes, asked.targets)
    await pause(systemClock, jittered(intervalMs), signal)
  }
}

/** Checks once and prints what came of it. Answers whether all was well. */
export async function runJob(
  config: PingerConfig,
  log: Logger,
  print: (text: string) => void,
  netns?: string,
): Promise<boolean> {
  const stop = new AbortController()
  await using client = await openClient(config)
  await using pinger = await openPinger(config, client, log, stop.signal, { netns })
  const asked = pinger.settled().then(() => pinger.asked())
  const outcomes = await pinger.round(asked)
  if (config.output === 'svg') {
    const { targets } = await asked
    const seen = (await metricsOf(targets, config.port)).flatMap(latenciesOf)
    // Others that serve by TLS do not tell a stranger: then there is what was just measured.
    const own = seen.some(({ from }) => from === config.nodeName)
      ? []
      : measuredLatencies(config.nodeName, outcomes)
    print(drawLatencyMatrix([...seen, ...own]))
  }
  if (config.output === 'json') print(`${JSON.stringify(outcomes.map(reported), undefined, 2)}\n`)
  if (config.output === 'text') for (const outcome of outcomes) print(`${lineOf(outcome)}\n`)
  stop.abort()
  return outcomes.every(isGood)
}

async function openClient({ kubeconfig }: PingerConfig): Promise<KubeClient> {
  return new KubeClient(await loadAccess(kubeconfig), { userAgent: 'kube-ovn-pinger', connections: 8 })
}

async function openPinger(
  config: PingerConfig,
  client: KubeClient,
  log: Logger,
  signal: AbortSignal,
  { spreadMs, netns }: Partial<Pick<RoundOptions, 'spreadMs' | 'netns'>>,
): Promise<Pinger> {
  const selection = selectionOf(config)
  await using stack = new AsyncDisposableStack()
  const { podNamespace: namespace, podSelector, services } = config
  const cluster = stack.use(new Cluster({ client, log, namespace, podSelector, services }))
  const isOvn = config.networkMode === 'kube-ovn'
  const timeoutMs = Math.max(config.ovsTimeout, 1) * 1000
  const local = isOvn ? stack.use(openVswitchAt(config.databaseRemote, timeoutMs)) : undefined
  const bindings =
    local &&
    stack.use(
      new PortBindings({ local, timeoutMs, goodForMs: bindingsGoodForMs, settleMs: bindingsSettleMs }),
    )
  cluster.start(signal)
  const options: RoundOptions = {
    client,
    families: selection.families,
    daemons: isOvn
      ? { ovs: [config.databasePid, config.vswitchdPid], ovnController: config.controllerPid }
      : undefined,
    ...{ bindings, spreadMs, netns },
    internalDns: config.internalDns,
    externalDns: config.externalDns,
  }
  const owned = stack.move()
  return {
    asked: () => ({ view: cluster.view, targets: targetsOf(cluster.view, selection) }),
    round: (asked) => runRound(options, asked),
    settled: () => cluster.settled(firstListMs),
    vswitch:
      local &&
      new Vswitch({
        nodeName: config.nodeName,
        local,
        timeoutMs,
        sources: new Sources(log),
        server: { pid: config.databasePid, log: config.databaseLog },
        vswitchd: { pid: config.vswitchdPid, log: config.vswitchdLog },
        databaseFile: config.databaseFile,
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** @throws ConfigInvalidError */
function selectionOf(config: PingerConfig): TargetSelection {
  const families = [...new Set(config.podIps.map((ip) => familyOf(ip)))].filter(
    (family) => family !== undefined,
  )
  if (families.length === 0) {
    const cure = 'set POD_IPS to the addresses of the pod: only their families are checked'
    throw new ConfigInvalidError({ field: 'POD_IPS', value: config.podIps.join(), cure })
  }
  const stray = config.externalAddress.find((address) => familyOf(address) === undefined)
  if (stray !== undefined) {
    const cure = 'write IP addresses separated by commas; names are for --external-dns'
    throw new ConfigInvalidError({ field: '--external-address', value: stray, cure })
  }
  const badService = config.services.find((name) => !/^[^/]+\/[^/]+$/.test(name))
  if (badService !== undefined)
    throw new ConfigInvalidError({ field: '--services', value: badService, cure: 'write NAMESPACE/NAME' })
  return {
    nodeName: config.nodeName,
    families,
    sampleSize: config.sampleSize,
    externalAddresses: config.externalAddress,
    ports: config.targetIpPorts.map(parsePortTarget),
    connCheckPorts: config.enableVerboseConnCheck
      ? { tcp: config.tcpConnCheckPort, udp: config.udpConnCheckPort }
      : undefined,
  }
}

/** What the pingers of all nodes that answer show. */
async function metricsOf({ pings }: Targets, port: number): Promise<readonly string[]> {
  const addresses = new Map(
    pings.filter(({ kind }) => kind === 'pod').map(({ name, address }) => [name, address]),
  )
  const pages = await Promise.allSettled(
    [...addresses.values()].map(async (address) => {
      const url = `http://${urlHost(address)}:${port}/metrics`
      const response = await fetch(url, { signal: AbortSignal.timeout(matrixTimeoutMs) })
      return response.text()
    }),
  )
  return pages.flatMap((page) => (page.status === 'fulfilled' ? [page.value] : []))
}

function reported(outcome: Outcome): object {
  return { check: checkOf(outcome), ok: isGood(outcome), ...describeOutcome(outcome), ...measured(outcome) }
}

function lineOf(outcome: Outcome): string {
  const { subject, result } = describeOutcome(outcome)
  return `${isGood(outcome) ? 'ok    ' : 'FAILED'}  ${checkOf(outcome)}  ${subject}: ${result}`
}
