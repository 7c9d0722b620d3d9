import { Gauge, Histogram, type Registry } from 'prom-client'
import { PingFamilies } from './ping-families.ts'

/** Buckets of upstream, in ms. */
const answerMs = [2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
const pingMs = [0.25, 0.5, 1, 2, 5, 10, 30]
const externalPingMs = [...pingMs, 50, 100]

/** What a node's pinger finds either well or not. The name is the middle of upstream's metrics. */
export type PingerHealth = 'ovs' | 'ovn_controller' | 'apiserver' | 'internal_dns' | 'external_dns'

/** Whom it sends ICMP to. */
export type PingedKind = 'pod' | 'node' | 'external'

/** What was asked, by upstream's labels without the source's. */
export interface PingedTarget {
  readonly kind: PingedKind
  readonly labels: Readonly<Record<string, string>>
}

export interface PingerSource {
  readonly nodeName: string
  readonly nodeIp: string
  readonly podIp: string
}

const upDown: readonly PingerHealth[] = ['ovs', 'ovn_controller']
const withLatency: readonly PingerHealth[] = ['apiserver', 'internal_dns', 'external_dns']
const sourceLabels = ['src_node_name', 'src_node_ip', 'src_pod_ip']
const targetLabels: Readonly<Record<PingedKind, readonly string[]>> = {
  pod: ['target_node_name', 'target_node_ip', 'target_pod_ip'],
  node: ['target_node_name', 'target_node_ip'],
  external: ['target_address'],
}

/**
 * Metrics of the pinger's connectivity checks: names, labels and buckets are upstream's, but for `pinger_check_failed`, `pinger_port_*`
 * and `pinger_external_ping_count_total`, which it does not have.
 *
 * @see https://kubeovn.github.io/docs/stable/en/reference/metrics/
 */
export function pingerMetrics(registry: Registry, { nodeName, nodeIp, podIp }: PingerSource) {
  const registers = [registry]
  const source = { src_node_name: nodeName, src_node_ip: nodeIp, src_pod_ip: podIp }
  const gauge = (name: string, help: string, labelNames: readonly string[] = ['nodeName']) =>
    new Gauge({ name, help, labelNames, registers })
  const histogram = (name: string, help: string, labelNames: readonly string[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers })

  const health = new Map(
    [...upDown, ...withLatency].map((check) => {
      const [good, bad] = upDown.includes(check) ? ['up', 'down'] : ['healthy', 'unhealthy']
      const what = check.replace('_', ' ')
      return [
        check,
        {
          good: gauge(`pinger_${check}_${good}`, `1 when ${what} answers.`),
          bad: gauge(`pinger_${check}_${bad}`, `1 when ${what} does not answer.`),
          latency: withLatency.includes(check)
            ? histogram(
                `pinger_${check}_latency_ms`,
                `How long ${what} took to answer.`,
                ['nodeName'],
                answerMs,
              )
            : undefined,
        },
      ]
    }),
  )
  const pings = new Map(
    (['pod', 'node', 'external'] as const).map((kind) => {
      const labelNames = [...sourceLabels, ...targetLabels[kind]]
      const bucketsMs = kind === 'external' ? externalPingMs : pingMs
      return [kind, new PingFamilies({ registry, name: `pinger_${kind}`, labelNames, bucketsMs })]
    }),
  )
  const inconsistent = gauge(
    'pinger_inconsistent_port_binding',
    'Interfaces of the node that the Southbound does not bind to it.',
  )
  const failed = gauge('pinger_check_failed', 'Whether a check of the last round failed.', [
    'nodeName',
    'check',
  ])
  const portLabels = ['nodeName', 'check', 'target', 'protocol', 'port']
  const portUp = gauge('pinger_port_up', 'Whether a port that is tried answers.', portLabels)
  const portLatency = gauge(
    'pinger_port_latency_ms',
    'How long the port took to answer the last time.',
    portLabels,
  )

  return {
    health(check: PingerHealth, isGood: boolean, tookMs?: number): void {
      const metric = health.get(check)
      metric?.good.set({ nodeName }, isGood ? 1 : 0)
      metric?.bad.set({ nodeName }, isGood ? 0 : 1)
      if (isGood && tookMs !== undefined) metric?.latency?.observe({ nodeName }, tookMs)
    },
    pinged({ kind, labels }: PingedTarget, sent: number, roundTripMs: readonly number[]): void {
      pings.get(kind)?.pinged({ ...source, ...labels }, sent, roundTripMs)
    },
    /** Forgets who is not asked any more. */
    keepPinged(targets: readonly PingedTarget[]): void {
      for (const [kind, families] of pings) {
        const kept = targets.filter((one) => one.kind === kind)
        families.keep(kept.map(({ labels }) => ({ ...source, ...labels })))
      }
    },
    /** `undefined` when it could not be found out. */
    inconsistentBindings(count: number | undefined): void {
      if (count === undefined) inconsistent.remove({ nodeName })
      else inconsistent.set({ nodeName }, count)
    },
    /** All checks of a round, by name. */
    checked(checks: ReadonlyMap<string, boolean>): void {
      failed.reset()
      for (const [check, isGood] of checks) failed.set({ nodeName, check }, isGood ? 0 : 1)
    },
    /** All ports of a round. */
    ports(tried: readonly TriedPort[]): void {
      portUp.reset()
      portLatency.reset()
      for (const { check, target, protocol, port, tookMs } of tried) {
        const labels = { nodeName, check, target, protocol, port: String(port) }
        portUp.set(labels, tookMs === undefined ? 0 : 1)
        if (tookMs !== undefined) portLatency.set(labels, tookMs)
      }
    },
  }
}

/** A port that was tried. */
export interface TriedPort {
  readonly check: string
  readonly target: string
  readonly protocol: string
  readonly port: number
  /** Absent when it did not answer. */
  readonly tookMs: number | undefined
}

export type PingerMetrics = ReturnType<typeof pingerMetrics>
