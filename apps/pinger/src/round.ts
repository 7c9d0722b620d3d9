import type { KubeClient } from '@kube-ovn/kube'
import { askDaemon, controlSocketOf } from '@kube-ovn/ovs'
import { EchoSocket, lookUp, readResolverConfiguration, type EchoFamily } from '@kube-ovn/probes'
import { systemClock } from '@kube-ovn/process'
import type { PingerHealth } from '@kube-ovn/telemetry'
import { reasonOf, type Outcome } from './outcome.ts'
import type { PortBindings } from './port-bindings.ts'
import { familyOf, type ClusterView, type PingTarget, type Targets } from './targets.ts'
import { tryPorts } from './try-ports.ts'

export interface RoundOptions {
  readonly client: KubeClient
  readonly families: readonly EchoFamily[]
  /** Files with the process ids of the daemons; `undefined` leaves Open vSwitch and OVN unchecked. */
  readonly daemons: { readonly ovs: readonly string[]; readonly ovnController: string } | undefined
  readonly bindings: PortBindings | undefined
  readonly internalDns: string
  readonly externalDns: string
  /** Over which the packets of a round are spread, so that they come in no burst; a moment for each by default. */
  readonly spreadMs?: number | undefined
  /** Path of the network namespace that pings leave from; default is the own one. */
  readonly netns?: string | undefined
}

/** Whom a round asks, and what it goes by. */
export interface Asked {
  readonly view: ClusterView
  readonly targets: Targets
}

const daemonTimeoutMs = 1000
const apiTimeoutMs = 15_000
const nameTimeoutMs = 10_000
const ports = { timeoutMs: 3000, atATime: 100 }
const echo = { count: 3, intervalMs: 100 }
/** An address outside may be far. */
const echoTimeoutMs = { pod: 1000, node: 1000, external: 5000 } as const
/** Between two packets to different addresses that nothing else spreads. */
const spacingMs = 2

/**
 * Does all checks once, at the same time. It never rejects: a check that cannot be done is one that failed.
 *
 * @param asked which nobody else has to wait for
 */
export async function runRound(
  options: RoundOptions,
  asked: Asked | Promise<Asked>,
): Promise<readonly Outcome[]> {
  const { daemons, bindings, internalDns, externalDns } = options
  const known = Promise.resolve(asked)
  const outcomes = await Promise.all<Outcome | readonly Outcome[]>([
    known.then(({ view }) => unknownOf(view)),
    ...(daemons === undefined
      ? []
      : [
          checkDaemons('ovs', 'ovs', daemons.ovs),
          checkDaemons('ovn-controller', 'ovn_controller', [daemons.ovnController]),
        ]),
    bindings?.check() ?? Promise.resolve([]),
    checkApiServer(options.client),
    internalDns === ''
      ? Promise.resolve([])
      : checkName(options, 'internal-dns', 'internal_dns', internalDns),
    externalDns === ''
      ? Promise.resolve([])
      : checkName(options, 'external-dns', 'external_dns', externalDns),
    known.then(({ targets }) => pingAll(options, targets.pings)),
    known.then(({ targets }) => tryPorts(targets.ports, ports)),
  ])
  return outcomes.flat()
}

async function checkDaemons(
  check: string,
  metric: PingerHealth,
  pidFiles: readonly string[],
): Promise<Outcome> {
  try {
    const question = { method: 'version', timeoutMs: daemonTimeoutMs }
    await Promise.all(
      pidFiles.map(async (file) => askDaemon({ ...question, path: await controlSocketOf(file) })),
    )
    return { kind: 'health', check, metric, isGood: true }
  } catch (error) {
    return { kind: 'health', check, metric, isGood: false, reason: reasonOf(error) }
  }
}

async function checkApiServer(client: KubeClient): Promise<Outcome> {
  const common = { kind: 'health', check: 'apiserver', metric: 'apiserver' } as const
  const startedMs = performance.now()
  try {
    await client.read('/version', { signal: AbortSignal.timeout(apiTimeoutMs) })
    return { ...common, isGood: true, tookMs: performance.now() - startedMs }
  } catch (error) {
    return { ...common, isGood: false, reason: reasonOf(error) }
  }
}

async function checkName(
  { families }: RoundOptions,
  check: string,
  metric: PingerHealth,
  name: string,
): Promise<Outcome> {
  const common = { kind: 'health', check, metric } as const
  try {
    const configuration = await readResolverConfiguration()
    const result = await lookUp(name, { configuration, families, timeoutMs: nameTimeoutMs })
    if (result.isFound) return { ...common, isGood: true, tookMs: result.tookMs }
    return { ...common, isGood: false, reason: `${name}: ${result.error}` }
  } catch (error) {
    return { ...common, isGood: false, reason: reasonOf(error) }
  }
}

/** That nobody is asked because nobody is known must not look well. */
function unknownOf({ pods, nodes, services }: ClusterView): Outcome {
  const unknown = Object.entries({ pods, nodes, services })
    .filter(([, objects]) => objects === undefined)
    .map(([name]) => name)
  const reason = `not listed yet: ${unknown.join(', ')}`
  return {
    kind: 'health',
    check: 'targets',
    isGood: unknown.length === 0,
    ...(unknown.length > 0 && { reason }),
  }
}

async function pingAll(options: RoundOptions, targets: readonly PingTarget[]): Promise<readonly Outcome[]> {
  const outcomes = (['ipv4', 'ipv6'] as const).map((family) =>
    pingFamily(
      options,
      family,
      targets.filter(({ address }) => familyOf(address) === family),
    ),
  )
  return (await Promise.all(outcomes)).flat()
}

async function pingFamily(
  { spreadMs, netns }: RoundOptions,
  family: EchoFamily,
  targets: readonly PingTarget[],
): Promise<readonly Outcome[]> {
  if (targets.length === 0) return []
  const betweenMs = spreadMs === undefined ? spacingMs : spreadMs / targets.length
  try {
    using socket = new EchoSocket({ family, clock: systemClock, netns })
    const asked = targets.map(({ address, kind }) => ({ address, timeoutMs: echoTimeoutMs[kind] }))
    const results = await socket.ping(asked, { ...echo, betweenMs })
    return targets.flatMap((target, index): readonly Outcome[] => {
      const result = results[index]
      if (result === undefined) return []
      const { sent, roundTripMs, errno } = result
      return [{ kind: 'ping', target, sent, roundTripMs, ...(errno !== undefined && { reason: errno }) }]
    })
  } catch (error) {
    // Nothing was sent, so nothing was lost.
    return [{ kind: 'health', check: `echo-socket-${family}`, isGood: false, reason: reasonOf(error) }]
  }
}
