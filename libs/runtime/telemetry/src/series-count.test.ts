import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { addressAuditMetrics } from './address-audit-metrics.ts'
import { agentMetrics } from './agent-metrics.ts'
import { clientMetrics } from './client-metrics.ts'
import { kernelMetrics } from './kernel-metrics.ts'
import { subnetMetrics } from './subnet-metrics.ts'
import { vswitchMetrics, type InterfaceReading } from './vswitch-metrics.ts'

async function seriesOf(registry: Registry): Promise<number> {
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
}

/** What a controller measures while pods come, are audited, and go. */
async function controllerSeries(pods: number, subnets: number): Promise<number> {
  const registry = new Registry()
  const kernel = kernelMetrics(registry)
  const audit = addressAuditMetrics(registry)
  const answered = clientMetrics(registry)
  subnetMetrics(registry, () =>
    Array.from({ length: subnets }, (_, index) => ({
      ...{ name: `subnet-${index}`, protocol: 'IPv4', cidr: `10.${index}.0.0/16` },
      ...{ available: 65_000, used: pods },
    })),
  )
  for (let index = 0; index < pods; index++) {
    const path = `/api/v1/namespaces/team-${index % 500}/pods/web-${index}`
    for (const feature of ['pod-port', 'ip']) {
      kernel.added(feature)
      kernel.retried(feature)
      kernel.taken(feature, index)
      kernel.finished(feature, index)
      kernel.reconciled(feature, 'success', index)
      kernel.driftFound(feature)
      kernel.driftHealed(feature)
    }
    kernel.transacted('committed', 1 + (index % 50), index)
    kernel.rowChanged('lsp', 'inserted')
    kernel.patched('pod-port', 'patch', 'ok')
    answered({ method: 'PATCH', path, host: '10.96.0.1:443', status: 200, ms: index })
    answered({ method: 'DELETE', path, host: '10.96.0.1:443', status: 404, ms: index })
  }
  const standing = new Map(['two-owners', 'lost-address'].map((rule) => [rule, pods]))
  audit.audited({ standing, workMs: 5, longestSliceMs: 1, endedAtMs: 0 })
  return seriesOf(registry)
}

it('has the same series of a controller with 5000 pods as with one, and two more for each subnet', async () => {
  const few = await controllerSeries(1, 1)
  expect(await controllerSeries(5000, 1)).toBe(few)
  expect(await controllerSeries(5000, 101)).toBe(few + 200)
})

it('has the same series of an agent that has attached 5000 pods as one', async () => {
  const seriesAfter = async (pods: number): Promise<number> => {
    const registry = new Registry()
    const agent = agentMetrics(registry, 'n1')
    const answered = clientMetrics(registry)
    for (let index = 0; index < pods; index++) {
      for (const path of ['/api/v1/add', '/api/v1/del']) agent.answered(path, 200, index)
      agent.added({ agentMs: index, controllerWaitMs: index, ovnWaitMs: index })
      agent.waitedForAddress(index)
      agent.waitedForRoute(index)
      agent.announceFailed()
      const path = `/api/v1/namespaces/team-${index % 500}/events/web-${index}`
      answered({ method: 'PATCH', path, host: '10.96.0.1:443', status: 200, ms: index })
    }
    return seriesOf(registry)
  }
  expect(await seriesAfter(5000)).toBe(await seriesAfter(1))
})

it('has 21 series of Open vSwitch for each NIC of its node, and none of what is gone', async () => {
  const registry = new Registry()
  const nics = (count: number): readonly InterfaceReading[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ uuid: String(index), name: `nic-${index}`, adminState: 'up', linkState: 'up', mtu: 1400 },
      ...{ mac: '0a:00:00:00:00:01', ofPort: index, ifIndex: index },
      pod: { name: `web-${index}`, namespace: 'shop' },
      statistics: everyStatistic,
    }))
  let interfaces = nics(0)
  vswitchMetrics(registry, () => ({
    ...{ hostname: 'n1', daemons: [], logs: [], databaseBytes: 1, failedRequests: 0, system: undefined },
    ...{ datapaths: [], coverage: new Map(), interfaces },
  }))
  const others = await seriesOf(registry)
  interfaces = nics(250)
  expect(await seriesOf(registry)).toBe(others + 21 * 250)
  interfaces = nics(1)
  expect(await seriesOf(registry)).toBe(others + 21)
})

const everyStatistic = Object.fromEntries(
  [
    ...[
      'tx_packets',
      'tx_bytes',
      'tx_dropped',
      'tx_errors',
      'rx_packets',
      'rx_bytes',
      'rx_dropped',
      'rx_errors',
    ],
    ...[
      'rx_crc_err',
      'rx_frame_err',
      'rx_missed_errors',
      'rx_over_err',
      'rx_multicast_packets',
      'collisions',
    ],
  ].map((name) => [name, 1]),
)
