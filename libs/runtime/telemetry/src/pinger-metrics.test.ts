import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { pageOf } from './page.ts'
import { pingerMetrics } from './pinger-metrics.ts'

it('has metrics of its own beside those of upstream, which a test of the whole set holds', async () => {
  const registry = new Registry()
  const metrics = pingerMetrics(registry, { nodeName: 'n1', nodeIp: '192.0.2.1', podIp: '10.16.0.2' })
  metrics.pinged({ kind: 'external', labels: { target_address: '203.0.113.1' } }, 3, [0.3])
  metrics.checked(new Map([['pod', true]]))
  metrics.ports([{ check: 'service', target: '10.96.0.9', protocol: 'tcp', port: 8080, tookMs: 1 }])
  const shown = (await registry.getMetricsAsJSON()).map(({ name, type, values }) => {
    const labels = new Set(values.flatMap((value) => Object.keys(value.labels)))
    return [name, type, [...labels].toSorted()]
  })
  const port = ['check', 'nodeName', 'port', 'protocol', 'target']
  const source = ['src_node_ip', 'src_node_name', 'src_pod_ip']
  expect(shown).toEqual(
    expect.arrayContaining([
      ['pinger_external_ping_count_total', 'counter', [...source, 'target_address']],
      ['pinger_check_failed', 'gauge', ['check', 'nodeName']],
      ['pinger_port_up', 'gauge', port],
      ['pinger_port_latency_ms', 'gauge', port],
    ]),
  )
})

it('has no latency of what never answered, and no binding where none is known', async () => {
  const registry = new Registry()
  const metrics = pingerMetrics(registry, { nodeName: 'n1', nodeIp: '192.0.2.1', podIp: '10.16.0.2' })
  metrics.inconsistentBindings(2)
  metrics.inconsistentBindings(undefined)
  metrics.pinged({ kind: 'external', labels: { target_address: '203.0.113.1' } }, 3, [])
  const page = await registry.metrics()
  expect(page).not.toContain('pinger_inconsistent_port_binding{')
  expect(page).not.toContain('pinger_external_ping_latency_ms_count{')
  expect(page).toMatch(/pinger_external_ping_lost_total\{.*\} 3/)
})

it('sums up rounds of a target, counts what was sent and lost, and forgets who is not asked any more', async () => {
  const registry = new Registry()
  const metrics = pingerMetrics(registry, { nodeName: 'n1', nodeIp: '192.0.2.1', podIp: '10.16.0.2' })
  const [one, other] = ['n2', 'n"3\\'].map((name) => ({
    kind: 'node' as const,
    labels: { target_node_name: name, target_node_ip: '192.0.2.2' },
  }))
  if (one === undefined || other === undefined) throw new Error('no targets')
  metrics.pinged(one, 3, [0.2, 0.4])
  metrics.pinged(one, 3, [40, 40, 40])
  metrics.pinged(other, 3, [1, 1, 1])
  const source = 'src_node_name="n1",src_node_ip="192.0.2.1",src_pod_ip="10.16.0.2"'
  const labels = `${source},target_node_name="n2",target_node_ip="192.0.2.2"`
  const pageLines = async (): Promise<readonly string[]> =>
    (await Array.fromAsync(pageOf(registry))).join('').split('\n').filter(Boolean)
  expect(await pageLines()).toEqual(
    expect.arrayContaining([
      ...[`pinger_node_ping_lost_total{${labels}} 1`, `pinger_node_ping_count_total{${labels}} 6`],
      `pinger_node_ping_latency_ms_bucket{le="0.25",${labels}} 0`,
      `pinger_node_ping_latency_ms_bucket{le="0.5",${labels}} 1`,
      `pinger_node_ping_latency_ms_bucket{le="30",${labels}} 1`,
      `pinger_node_ping_latency_ms_bucket{le="+Inf",${labels}} 2`,
      `pinger_node_ping_latency_ms_count{${labels}} 2`,
      expect.stringMatching(/^pinger_node_ping_latency_ms_sum\{.*"n2".*\} 40\.3\d*$/),
      expect.stringContaining('target_node_name="n\\"3\\\\"'),
    ]),
  )
  // As prom-client would write it.
  const whole = (await registry.metrics()).split('\n').filter(Boolean)
  expect((await pageLines()).toSorted()).toEqual(whole.toSorted())
  metrics.keepPinged([other])
  expect((await pageLines()).filter((line) => line.includes('"n2"'))).toEqual([])
  metrics.keepPinged([])
  expect((await pageLines()).filter((line) => line.startsWith('pinger_node_ping'))).toEqual([])
})
