import { Registry, pingerMetrics } from '@kube-ovn/telemetry'
import { expect, it } from 'vitest'
import { drawLatencyMatrix, latenciesOf, measuredLatencies } from './latency-matrix.ts'

async function seenBy(from: string, seen: Readonly<Record<string, readonly number[]>>): Promise<string> {
  const registry = new Registry()
  const metrics = pingerMetrics(registry, { nodeName: from, nodeIp: '', podIp: '' })
  for (const [to, roundTripMs] of Object.entries(seen)) {
    const labels = { target_node_name: to, target_node_ip: '', target_pod_ip: '' }
    metrics.pinged({ kind: 'pod', labels }, 3, roundTripMs)
  }
  return registry.metrics()
}

it('reads what pingers show, and passes over what they do not', async () => {
  expect(latenciesOf(await seenBy('a', { a: [0.1, 0.1, 0.1], b: [1, 3], c: [] }))).toEqual([
    { from: 'a', to: 'a', ms: expect.closeTo(0.1), lossShare: 0 },
    { from: 'a', to: 'b', ms: 2, lossShare: expect.closeTo(1 / 3) },
    { from: 'a', to: 'c', ms: undefined, lossShare: 1 },
  ])
  expect(latenciesOf('<html>no metrics</html>\npinger_pod_ping_lost_total{} 1\n')).toEqual([])
})

it('makes a row of what was just measured, where others do not tell', () => {
  const to = (name: string, roundTripMs: readonly number[]) => {
    const labels = { target_node_name: name, target_node_ip: '', target_pod_ip: '' }
    return { kind: 'ping', target: { kind: 'pod', name, address: '', labels }, sent: 3, roundTripMs } as const
  }
  const health = { kind: 'health', check: 'ovs', isGood: true } as const
  expect(measuredLatencies('a', [to('b', [1, 3]), to('c', []), health])).toEqual([
    { from: 'a', to: 'b', ms: 2, lossShare: expect.closeTo(1 / 3) },
    { from: 'a', to: 'c', ms: undefined, lossShare: 1 },
  ])
})

it('draws a cell for each pair, with what is wrong with it', () => {
  const svg = drawLatencyMatrix([
    { from: 'a', to: 'b', ms: 0.42, lossShare: 0 },
    { from: 'b', to: 'a<&', ms: undefined, lossShare: 1 },
  ])
  expect(svg).toContain('<title>a to b: 0.42 ms</title>')
  expect(svg).toContain('<title>b to a&lt;&amp;: no answer, 100.0 % lost</title>')
  expect(svg.match(/<g>/g)).toHaveLength(2)
  expect(drawLatencyMatrix([])).toContain('</svg>')
})
