import {
  addressAuditMetrics,
  agentMetrics,
  clientMetrics,
  databaseMetrics,
  fragmentMetrics,
  kernelMetrics,
  leaderMetrics,
  logMetrics,
  monitorMetrics,
  nodeParameterMetrics,
  pingerMetrics,
  Registry,
  speakerMetrics,
  subnetMetrics,
  vswitchMetrics,
} from '@kube-ovn/telemetry'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { upstreamMetrics, type UpstreamMetrics } from './upstream-metrics.ts'
import { repository } from './workspace.ts'

function unasked(): never {
  throw new Error('nobody looks at a value')
}

/** What each program registers. */
const registered: Readonly<
  Record<keyof typeof upstreamMetrics, readonly ((registry: Registry) => unknown)[]>
> = {
  controller: [
    ...[kernelMetrics, addressAuditMetrics, databaseMetrics, logMetrics, clientMetrics],
    (registry) => leaderMetrics(registry, 'test', () => true),
    (registry) => subnetMetrics(registry, unasked),
  ],
  agent: [
    ...[databaseMetrics, fragmentMetrics, logMetrics, clientMetrics],
    (registry) => agentMetrics(registry, 'n1'),
    (registry) => nodeParameterMetrics(registry, 'n1', unasked),
  ],
  pinger: [
    logMetrics,
    (registry) => pingerMetrics(registry, { nodeName: 'n1', nodeIp: '192.0.2.1', podIp: '10.16.0.2' }),
    (registry) => vswitchMetrics(registry, unasked),
  ],
  monitor: [(registry) => monitorMetrics(registry, 'n1', unasked)],
  speaker: [logMetrics, (registry) => speakerMetrics(registry, 'n1', unasked)],
}

const page = readFileSync(join(repository, 'docs/differences.md'), 'utf8')
/** By program, what is declared not to be there: the rows of a table with names in their first column. */
const absent = Map.groupBy(
  (page.split('\n## Metrics that are not there\n')[1]?.split('\n## ')[0] ?? '')
    .matchAll(/^\| (\w+) +\| ([^|]+)\|/gm)
    .flatMap(([, program = '', names = '']) =>
      names.matchAll(/`(\w+)`/g).map(([, name = '']) => ({ program, name })),
    ),
  ({ program }) => program,
)

function namesAbsentFrom(program: string): readonly string[] {
  return (absent.get(program) ?? []).map(({ name }) => name)
}

interface Registered {
  readonly type: string
  readonly labels: readonly string[]
}

function metricsOf(program: keyof typeof upstreamMetrics): ReadonlyMap<string, Registered> {
  const registry = new Registry()
  for (const register of registered[program]) register(registry)
  return new Map(
    registry.getMetricsAsArray().map((metric) => {
      const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: readonly string[] }
      return [
        name,
        { type: metric.constructor.name.toLowerCase().replace('showngauge', 'gauge'), labels: labelNames },
      ]
    }),
  )
}

describe.each(Object.keys(upstreamMetrics) as (keyof typeof upstreamMetrics)[])('%s', (program) => {
  const wanted: UpstreamMetrics = upstreamMetrics[program]
  const ours = metricsOf(program)

  it("has each of upstream's metrics, with its type and labels, or is declared not to have it", () => {
    const missing = namesAbsentFrom(program)
    const seen = Object.keys(wanted)
      .filter((name) => !missing.includes(name))
      .map((name) => [name, ours.get(name)?.type, ...(ours.get(name)?.labels.toSorted() ?? [])])
    const expected = Object.entries(wanted)
      .filter(([name]) => !missing.includes(name))
      .map(([name, [type, ...labels]]) => [name, type, ...[...new Set(labels)].sort()])
    expect(seen).toEqual(expected)
  })

  it('is declared not to have only what upstream has and it has not', () => {
    expect(namesAbsentFrom(program).filter((name) => ours.has(name) || wanted[name] === undefined)).toEqual(
      [],
    )
  })
})
