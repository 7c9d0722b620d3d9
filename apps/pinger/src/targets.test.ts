import type { Node, Pod, Service } from '@kube-ovn/kube'
import { expect, it } from 'vitest'
import { parsePortTarget, targetsOf, type TargetSelection } from './targets.ts'

const both: TargetSelection = {
  nodeName: 'node-1',
  families: ['ipv4', 'ipv6'],
  sampleSize: 50,
  externalAddresses: [],
  ports: [],
  connCheckPorts: undefined,
}

function pinger(n: number, phase: 'Running' | 'Pending' = 'Running'): Pod {
  const podIPs = [{ ip: `10.16.0.${n}` }, { ip: `fd00::${n}` }]
  return {
    metadata: { name: `pinger-${n}`, namespace: 'kube-system' },
    spec: { nodeName: `node-${n}`, containers: [] },
    status: { phase, hostIP: `172.18.0.${n}`, podIPs },
  }
}

function node(n: number): Node {
  return {
    metadata: { name: `node-${n}` },
    status: {
      addresses: [
        { type: 'InternalIP', address: `172.18.0.${n}` },
        { type: 'Hostname', address: `node-${n}` },
      ],
    },
  }
}

const service: Service = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: { clusterIPs: ['10.96.0.7', 'fd00:96::7'], ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }] },
}

it('asks running pingers and nodes, by the families that the own pod has', () => {
  const view = { pods: [pinger(1), pinger(2, 'Pending')], nodes: [node(1)], services: [service] }
  const addresses = (selection: TargetSelection) => {
    const { pings, ports } = targetsOf(view, selection)
    return [...pings, ...ports].map(({ address }) => address)
  }
  expect(addresses(both)).toEqual(['10.16.0.1', 'fd00::1', '172.18.0.1', '10.96.0.7', 'fd00:96::7'])
  expect(addresses({ ...both, families: ['ipv6'] })).toEqual(['fd00::1', 'fd00:96::7'])
  expect(targetsOf(view, both).pings[0]?.labels).toEqual({
    target_node_name: 'node-1',
    target_node_ip: '172.18.0.1',
    target_pod_ip: '10.16.0.1',
  })
})

it('asks nobody outside that it was not told, and nobody at all when it knows nobody', () => {
  const nothing = { pods: undefined, nodes: undefined, services: undefined }
  expect(targetsOf(nothing, both)).toEqual({ pings: [], ports: [] })
  const told = { ...both, externalAddresses: ['192.0.2.1', '2001:db8::1', 'no address'] }
  expect(targetsOf(nothing, told).pings.map(({ address }) => address)).toEqual(['192.0.2.1', '2001:db8::1'])
})

it('tries no port that it is told of by a family that the own pod has not', () => {
  const nothing = { pods: [], nodes: [], services: [] }
  const ports = ['tcp-192.0.2.1-80', 'udp-2001:db8::1-53'].map(parsePortTarget)
  const tried = (families: TargetSelection['families']) =>
    targetsOf(nothing, { ...both, families, ports }).ports.map(({ address }) => address)
  expect(tried(['ipv4', 'ipv6'])).toEqual(['192.0.2.1', '2001:db8::1'])
  expect(tried(['ipv4'])).toEqual(['192.0.2.1'])
})

it('tries both protocols of pods and nodes when it is told to', () => {
  const view = { pods: [pinger(1)], nodes: [node(1)], services: [] }
  const selection = { ...both, families: ['ipv4'] as const, connCheckPorts: { tcp: 8100, udp: 8101 } }
  expect(targetsOf(view, selection).ports.map(({ check, address, port }) => [check, address, port])).toEqual([
    ['pod-tcp', '10.16.0.1', 8100],
    ['pod-udp', '10.16.0.1', 8101],
    ['node-tcp', '172.18.0.1', 8100],
    ['node-udp', '172.18.0.1', 8101],
  ])
})

it('reads ports as upstream does, and refuses what is none', () => {
  expect(parsePortTarget('tcp-10.0.0.1-80')).toEqual({ protocol: 'tcp', address: '10.0.0.1', port: 80 })
  expect(parsePortTarget('udp-fd00::1-53')).toEqual({ protocol: 'udp', address: 'fd00::1', port: 53 })
  for (const bad of [
    'sctp-10.0.0.1-80',
    'tcp-10.0.0.1',
    'tcp-name-80',
    'tcp-10.0.0.1-70000',
    'tcp-10.0.0.1-0',
  ])
    expect(() => parsePortTarget(bad)).toThrow(expect.objectContaining({ code: 'config-invalid' }))
})
