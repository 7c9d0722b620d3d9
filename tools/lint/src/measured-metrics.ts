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
  speakerMetrics,
  subnetMetrics,
  vswitchMetrics,
  type DatabaseReading,
  type MonitorReading,
  type QueueMetrics,
  type Registry,
  type SpeakerPeer,
  type SwitchPortReading,
  type VswitchReading,
} from '@kube-ovn/telemetry'
import type { upstreamMetrics } from './upstream-metrics.ts'

export type Program = keyof typeof upstreamMetrics

/** What each program registers, by the function that does, with something measured for every metric. */
export const measured: Readonly<Record<Program, Readonly<Record<string, (registry: Registry) => void>>>> = {
  controller: {
    kernelMetrics(registry) {
      const metrics = kernelMetrics(registry)
      useQueue(metrics)
      metrics.transacted('committed', 1, 1)
      metrics.rowChanged('lsp', 'inserted')
      metrics.patched('pod-port', 'patch', 'ok')
      metrics.orphansHeld(new Map([['lsp', 51]]))
    },
    addressAuditMetrics(registry) {
      const outcome = { workMs: 5, longestSliceMs: 1, endedAtMs: 0 }
      addressAuditMetrics(registry).audited({ ...outcome, standing: new Map([['two-owners', 1]]) })
    },
    databaseMetrics: connectDatabase,
    logMetrics,
    clientMetrics: askApiServer,
    leaderMetrics: (registry) => leaderMetrics(registry, 'kube-ovn-controller', () => true),
    subnetMetrics: (registry) =>
      subnetMetrics(registry, () => [
        { name: 'blue', protocol: 'IPv4', cidr: '10.1.0.0/24', available: 9, used: 1 },
      ]),
  },
  agent: {
    databaseMetrics: connectDatabase,
    fragmentMetrics(registry) {
      const metrics = fragmentMetrics(registry)
      useQueue(metrics)
      metrics.written('link', 1)
      metrics.refused('host-firewall', 'nft', 1)
    },
    logMetrics,
    clientMetrics: askApiServer,
    agentMetrics(registry) {
      const metrics = agentMetrics(registry, 'n1')
      metrics.answered('/api/v1/add', 200, 1)
      metrics.added({ agentMs: 1, controllerWaitMs: 1, ovnWaitMs: 1 })
    },
    nodeParameterMetrics: (registry) =>
      nodeParameterMetrics(registry, 'n1', () => ({
        localPorts: { start: '32768', end: '60999' },
        ...{ udpChecksumErrors: 0, searchDomains: ['example.com'], tcpMemory: ['1', '2', '3'] },
        ...{ tcpTwRecycle: 0, tcpMtuProbing: 1, conntrackIsLiberal: 1 },
        ...{ bridgeCallsIptables: 1, ipv6Routes: 16_384 },
      })),
  },
  pinger: {
    logMetrics,
    pingerMetrics(registry) {
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
    },
    vswitchMetrics: (registry) => vswitchMetrics(registry, () => vswitchReading),
  },
  monitor: {
    logMetrics,
    monitorMetrics: (registry) =>
      monitorMetrics(
        registry,
        'n1',
        () => monitorReading,
        () => monitoredPorts,
      ),
  },
  speaker: {
    logMetrics,
    speakerMetrics: (registry) =>
      speakerMetrics(registry, 'n1', () => ({
        peers: [speakerPeer],
        problems: 0,
        bfd: { received: 1, dropped: 1, errors: 1, invalid: 1, unknown: 1 },
      })),
  },
}

function useQueue(metrics: QueueMetrics): void {
  metrics.observe({
    depth: () => new Map([['link', 1]]),
    working: () => new Map([['link', [1]]]),
    concurrency: 50,
  })
  metrics.added('link')
  metrics.retried('link')
  metrics.taken('link', 1)
  metrics.finished('link', 1)
  metrics.reconciled('link', 'error', 1)
  metrics.parked('link')
  metrics.driftFound('link')
  metrics.driftHealed('link')
}

function connectDatabase(registry: Registry): void {
  databaseMetrics(registry).connected('OVN_Northbound', true)
}

function askApiServer(registry: Registry): void {
  clientMetrics(registry)({ method: 'GET', path: '/version', host: '10.96.0.1:443', status: 200, ms: 1 })
}

const vswitchReading: VswitchReading = {
  hostname: 'n1',
  daemons: [{ component: 'ovs-vswitchd', isUp: true, memory: new Map([['ports', 1]]) }],
  logs: [{ component: 'ovs-vswitchd', file: '/var/log/openvswitch/ovs-vswitchd.log', bytes: 1 }],
  databaseBytes: 1,
  failedRequests: 0,
  system: {
    ...{ systemId: 'c1', rundir: '/run/openvswitch', hostname: 'n1', systemType: 'debian' },
    ...{ systemVersion: '13', ovsVersion: '3.5.0', databaseVersion: '8.8.0' },
  },
  datapaths: [
    {
      ...{ name: 'ovs-system', type: 'system', flows: 3, lookups: { hit: 9, missed: 3, lost: 1 } },
      masks: { hit: 5, total: 2, hitsPerPacket: 1.5 },
      ports: [{ number: 1, name: 'p1', type: 'system' }],
    },
  ],
  interfaces: [
    {
      ...{ uuid: '1', name: 'p1', adminState: 'up', linkState: 'up', mac: '0a:00:00:00:00:01' },
      ...{ mtu: 1400, ofPort: 1, ifIndex: 7, pod: { name: 'web-0', namespace: 'shop' } },
      statistics: Object.fromEntries(
        [
          ...['tx_packets', 'tx_bytes', 'tx_dropped', 'tx_errors', 'rx_packets', 'rx_bytes', 'rx_dropped'],
          ...['rx_errors', 'rx_crc_err', 'rx_frame_err', 'rx_missed_errors', 'rx_over_err'],
          ...['rx_multicast_packets', 'collisions'],
        ].map((name) => [name, 1]),
      ),
    },
  ],
  coverage: new Map([['upcall_ukey_replace', 1]]),
}

const clusteredDatabase: DatabaseReading = {
  ...{ name: 'OVN_Northbound', component: 'ovsdb-server-northbound', isStorageOk: true, fileBytes: 1 },
  cluster: {
    ...{ clusterId: 'c', serverId: 'a', status: 'cluster member', role: 'leader', term: 1 },
    ...{
      isLeader: true,
      knowsLeader: true,
      hasOwnVote: true,
      electionTimerMs: 1000,
      log: { start: 1, next: 2 },
    },
    ...{ notCommitted: 0, notApplied: 0, disconnections: 0 },
    connections: [
      { isInbound: true, isConnected: true, peer: 'b' },
      { isInbound: false, isConnected: true, peer: 'b' },
    ],
    servers: [
      { id: 'a', address: 'tcp:192.0.2.1:6643', isSelf: true, nextIndex: 2, matchIndex: 1 },
      { id: 'b', address: 'tcp:192.0.2.2:6643', isSelf: false, nextIndex: 2, matchIndex: 1 },
    ],
  },
}

const monitorReading: MonitorReading = {
  daemons: [{ component: 'ovn-northd', status: 1, memory: new Map([['cells', 1]]) }],
  databases: [clusteredDatabase],
  logs: [{ component: 'ovn-northd', file: '/var/log/ovn/ovn-northd.log', bytes: 1 }],
  failedRequests: 0,
  sources: new Map([['northbound', true]]),
  northbound: {
    switches: [{ uuid: '1', name: 'blue', externalIds: { vendor: 'kube-ovn' }, ports: ['2'], tunnelKey: 1 }],
    rows: new Map([['Logical_Switch', 1]]),
    configurations: new Map([['nb', 1]]),
  },
  southbound: {
    chassis: [{ hostname: 'n1', uuid: '4', name: 'c1', ip: '192.0.2.1' }],
    rows: new Map([['Chassis', 1]]),
  },
  inconsistent: new Map([['port-without-binding', { count: 0, seconds: 0 }]]),
}

const monitoredPorts: readonly SwitchPortReading[] = [
  {
    ...{ uuid: '2', name: 'web.shop', switchUuid: '1', switchName: 'blue' },
    ...{ mac: '0a:00:00:00:00:01', ip: '10.16.0.2' },
    binding: { uuid: '3', chassis: '4', datapath: '5', tunnelKey: 1 },
  },
]

const speakerPeer: SpeakerPeer = {
  ...{ address: '192.0.2.9', as: 65_001, state: 'established', flaps: 0, queuedBytes: 0 },
  ...{ received: { update: 1 }, sent: { update: 1 }, wanted: 1, advertised: 1 },
  bfd: { state: 'up', remoteState: 'up', failures: 0, sent: 1, received: 1 },
}
