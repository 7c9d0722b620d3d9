import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
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
