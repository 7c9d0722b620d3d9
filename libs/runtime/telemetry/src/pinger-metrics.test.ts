import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { pingerMetrics } from './pinger-metrics.ts'

const source = ['src_node_name', 'src_node_ip', 'src_pod_ip']
const ofPod = [...source, 'target_node_name', 'target_node_ip', 'target_pod_ip']
const ofNode = [...source, 'target_node_name', 'target_node_ip']
const answerMs = [2, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50]
const pingMs = [0.25, 0.5, 1, 2, 5, 10, 30]

type Family = readonly [
  name: string,
  type: string,
  labels: readonly string[],
  ...limits: (readonly number[])[],
]

/** Upstream's, and those of our own at the end: type, labels, and the limits of buckets. */
const families: readonly Family[] = [
  ...['ovs_up', 'ovs_down', 'ovn_controller_up', 'ovn_controller_down'].map(
    (name) => [name, 'gauge', ['nodeName']] as const,
  ),
  ...['apiserver', 'internal_dns', 'external_dns'].flatMap((name) => [
    [`${name}_healthy`, 'gauge', ['nodeName']] as const,
    [`${name}_unhealthy`, 'gauge', ['nodeName']] as const,
    [`${name}_latency_ms`, 'histogram', ['nodeName'], answerMs] as const,
  ]),
  ['inconsistent_port_binding', 'gauge', ['nodeName']],
  ['pod_ping_latency_ms', 'histogram', ofPod, pingMs],
  ['pod_ping_lost_total', 'counter', ofPod],
  ['pod_ping_count_total', 'counter', ofPod],
  ['node_ping_latency_ms', 'histogram', ofNode, pingMs],
  ['node_ping_lost_total', 'counter', ofNode],
  ['node_ping_count_total', 'counter', ofNode],
  ['external_ping_latency_ms', 'histogram', [...source, 'target_address'], [...pingMs, 50, 100]],
  ['external_ping_lost_total', 'counter', [...source, 'target_address']],
  ['external_ping_count_total', 'counter', [...source, 'target_address']],
  ['check_failed', 'gauge', ['nodeName', 'check']],
  ['port_up', 'gauge', ['nodeName', 'check', 'target', 'protocol', 'port']],
  ['port_latency_ms', 'gauge', ['nodeName', 'check', 'target', 'protocol', 'port']],
]

it('has names, types, labels and buckets of upstream', async () => {
  const registry = new Registry()
  const metrics = pingerMetrics(registry, { nodeName: 'n1', nodeIp: '192.0.2.1', podIp: '10.16.0.2' })
  for (const check of ['ovs', 'ovn_controller', 'apiserver', 'internal_dns', 'external_dns'] as const)
    metrics.health(check, true, 3)
  const node = { target_node_name: 'n2', target_node_ip: '192.0.2.2' }
  metrics.pinged({ kind: 'pod', labels: { ...node, target_pod_ip: '10.16.0.3' } }, 3, [0.3])
  metrics.pinged({ kind: 'node', labels: node }, 3, [0.3])
  metrics.pinged({ kind: 'external', labels: { target_address: '203.0.113.1' } }, 3, [0.3])
  metrics.inconsistentBindings(0)
  metrics.checked(new Map([['pod', true]]))
  metrics.ports([{ check: 'service', target: '10.96.0.9', protocol: 'tcp', port: 8080, tookMs: 1 }])
  const shown = (await registry.getMetricsAsJSON()).map(({ name, type, help, values }) => {
    const labels = new Set(values.flatMap((value) => Object.keys(value.labels)))
    const limits = new Set(values.flatMap(({ labels: { le } }) => (typeof le === 'number' ? [le] : [])))
    labels.delete('le')
    expect(help).not.toBe('')
    return [name, type, [...labels].toSorted(), ...(limits.size > 0 ? [[...limits]] : [])]
  })
  const wanted = families.map(([name, type, labels, ...limits]) => [
    `pinger_${name}`,
    type,
    labels.toSorted(),
    ...limits,
  ])
  expect(shown.toSorted()).toEqual(wanted.toSorted())
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
