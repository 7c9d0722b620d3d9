import { recordingLogger } from '@kube-ovn/log'
import { pingerMetrics, Registry } from '@kube-ovn/telemetry'
import { expect, it } from 'vitest'
import type { Outcome } from './outcome.ts'
import { Record } from './record.ts'
import { targetsOf, type PingTarget, type Targets } from './targets.ts'

function start() {
  const [registry, log] = [new Registry(), recordingLogger()]
  const source = { nodeName: 'node-1', nodeIp: '172.18.0.1', podIp: '10.16.0.1' }
  return { registry, log, record: new Record(pingerMetrics(registry, source), log) }
}

function pod(n: number): PingTarget {
  const address = `10.16.${n >> 8}.${n & 0xff}`
  const labels = { target_node_name: `node-${n}`, target_node_ip: '', target_pod_ip: address }
  return { kind: 'pod', name: `pinger-${n}`, address, labels }
}

function pinged(target: PingTarget, ...roundTripMs: number[]): Outcome {
  return { kind: 'ping', target, sent: 3, roundTripMs }
}

function asking(...pings: PingTarget[]): Targets {
  return { pings, ports: [] }
}

it('shows upstream’s series, and none of who is gone', async () => {
  const { registry, record } = start()
  record.take([pinged(pod(1), 0.4, 0.6), pinged(pod(2), 1, 1, 1)], asking(pod(1), pod(2)))
  const labels =
    'src_node_name="node-1",src_node_ip="172.18.0.1",src_pod_ip="10.16.0.1",target_node_name="node-1",target_node_ip="",target_pod_ip="10.16.0.1"'
  const before = await registry.metrics()
  expect(before).toContain(`pinger_pod_ping_lost_total{${labels}} 1`)
  expect(before).toContain(`pinger_pod_ping_count_total{${labels}} 3`)
  expect(before).toContain(`pinger_pod_ping_latency_ms_sum{${labels}} 0.5`)
  expect(before).toContain('pinger_check_failed{nodeName="node-1",check="pod"} 1')
  record.take([pinged(pod(2), 1, 1, 1)], asking(pod(2)))
  const after = await registry.metrics()
  expect(after).not.toContain('target_node_name="node-1"')
  expect(after).toContain('target_node_name="node-2"')
  expect(after).toContain('pinger_check_failed{nodeName="node-1",check="pod"} 0')
})

it('takes a target to which nothing could be sent for neither well nor lossy', async () => {
  const { registry, record } = start()
  record.take([{ kind: 'ping', target: pod(1), sent: 0, roundTripMs: [], reason: 'EAGAIN' }], asking(pod(1)))
  const page = await registry.metrics()
  expect(page).toContain('pinger_check_failed{nodeName="node-1",check="pod"} 1')
  expect(page).toMatch(/pinger_pod_ping_lost_total\{.*\} 0\n/)
})

it('tells once that a check fails, and once that it is well again', () => {
  const { log, record } = start()
  const bad: Outcome = { kind: 'health', check: 'internal-dns', isGood: false, reason: 'ETIMEOUT' }
  for (const isGood of [false, false, false, true, true]) record.take([{ ...bad, isGood }], asking())
  expect(log.lines.map(({ message }) => message)).toEqual(['check failed', 'check is well again'])
  expect(log.lines[0]).toMatchObject({
    fields: { check: 'internal-dns', failed: ['internal-dns: ETIMEOUT'] },
  })
})

it('does not call interfaces consistent when the Southbound does not answer', async () => {
  const { registry, record } = start()
  record.take([{ kind: 'bindings', missing: ['web.shop'] }], asking())
  expect(await registry.metrics()).toContain('pinger_inconsistent_port_binding{nodeName="node-1"} 1')
  record.take([{ kind: 'bindings', missing: undefined, reason: 'no connection' }], asking())
  const text = await registry.metrics()
  expect(text).not.toContain('pinger_inconsistent_port_binding{')
  expect(text).toContain('pinger_check_failed{nodeName="node-1",check="port-bindings"} 1')
})

it('has 12 series for each of the 50 that it asks, among 5000 pods that come and go', async () => {
  const { registry, record } = start()
  const selection = {
    nodeName: 'node-1',
    families: ['ipv4'],
    sampleSize: 50,
    externalAddresses: [],
    ports: [],
    connCheckPorts: undefined,
  } as const
  for (let round = 0; round < 5; round++) {
    const pods = Array.from({ length: 5000 }, (_, index) => {
      const n = index + round * 1000
      const podIPs = [{ ip: pod(n).address }]
      return {
        metadata: { name: `pinger-${n}` },
        spec: { nodeName: `node-${n}`, containers: [] },
        status: { phase: 'Running' as const, podIPs },
      }
    })
    const targets = targetsOf({ pods, nodes: [], services: [] }, selection)
    record.take(
      targets.pings.map((target) => pinged(target, 1, 1, 1)),
      targets,
    )
  }
  const series = (await registry.metrics()).split('\n').filter((line) => line.startsWith('pinger_pod_'))
  expect(series).toHaveLength(50 * 12)
})
