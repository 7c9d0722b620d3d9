import type { Registry } from 'prom-client'
import type { ClusterStatus } from '@kube-ovn/ovs'
import { oncePerTurn, ShownGauge, WrittenGauge, type Series } from './shown-gauge.ts'

/** What a scrape shows. What could not be found out is `undefined` or not listed: it has no series then. */
export interface MonitorReading {
  readonly daemons: readonly DaemonReading[]
  readonly databases: readonly DatabaseReading[]
  readonly logs: readonly { readonly component: string; readonly file: string; readonly bytes: number }[]
  readonly failedRequests: number
  /** Whom the monitor asks, and whether they answer. */
  readonly sources: ReadonlyMap<string, boolean>
  readonly northbound: NorthboundReading | undefined
  readonly southbound: SouthboundReading | undefined
  /** Objects that contradict what another database has, by kind. */
  readonly inconsistent: ReadonlyMap<string, Contradictions>
}

export interface Contradictions {
  readonly count: number
  /** Since the oldest of them has been seen. */
  readonly seconds: number
}

export interface DaemonReading {
  /** ovsdb-server-northbound, ovsdb-server-southbound, ovn-northd. */
  readonly component: string
  /** 1 leads or is active, 2 follows or stands by, 0 neither. */
  readonly status: 0 | 1 | 2
  readonly memory: ReadonlyMap<string, number>
}

export interface DatabaseReading {
  /** As in the schema. */
  readonly name: string
  readonly component: string
  readonly isStorageOk: boolean
  readonly fileBytes: number | undefined
  /** `undefined` when it does not answer. */
  readonly cluster: ClusterStatus | 'standalone' | undefined
}

export interface NorthboundReading {
  readonly switches: readonly SwitchReading[]
  /** Rows by table. */
  readonly rows: ReadonlyMap<string, number>
  /** How far a configuration has come, by place: nb, sb, hv. */
  readonly configurations: ReadonlyMap<string, number>
}

export interface SouthboundReading {
  readonly chassis: readonly {
    readonly hostname: string
    readonly uuid: string
    readonly name: string
    readonly ip: string
  }[]
  readonly rows: ReadonlyMap<string, number>
}

interface SwitchReading {
  readonly uuid: string
  readonly name: string
  readonly externalIds: Readonly<Record<string, string>>
  readonly ports: readonly string[]
  /** `undefined` as long as the Southbound does not tell. */
  readonly tunnelKey: number | undefined
}

export interface SwitchPortReading {
  readonly uuid: string
  readonly name: string
  readonly switchUuid: string
  readonly switchName: string
  readonly mac: string
  readonly ip: string
  readonly binding:
    | {
        readonly uuid: string
        readonly chassis: string
        readonly datapath: string
        readonly tunnelKey: number
      }
    | undefined
}

type Show = (reading: MonitorReading) => Iterable<Series>

/**
 * Metrics of the monitor: names, labels and help are upstream's, also of those that it declares and never fills. Ours say "New.".
 *
 * @param hostname the node
 * @param ports of all switches. They may be tens of thousands: asked for as often as they are gone through, and not kept. `undefined` when nobody
 *   wants them
 * @see https://kubeovn.github.io/docs/stable/en/reference/metrics/
 */
export function monitorMetrics(
  registry: Registry,
  hostname: string,
  read: () => MonitorReading,
  ports: (() => Iterable<SwitchPortReading>) | undefined,
): void {
  const reading = oncePerTurn(read)
  function gauge(name: string, help: string, labels: readonly string[], show: Show): void {
    const labelNames = ['hostname', ...labels]
    const configuration = { name: `kube_ovn_${name}`, help, labelNames, registers: [registry] }
    new ShownGauge(configuration, () =>
      Iterator.from(show(reading())).map(([own, value]): Series => [{ hostname, ...own }, value]),
    )
  }
  daemonMetrics(gauge)
  clusterMetrics(gauge)
  objectMetrics(gauge)
  if (ports !== undefined) portMetrics(registry, hostname, ports)
}

type AddGauge = (name: string, help: string, labels: readonly string[], show: Show) => void

function daemonMetrics(gauge: AddGauge): void {
  gauge(
    'ovn_status',
    'OVN Health Status. The values are:(2) for standby or follower, (1) for active or leader, (0) for unhealthy.',
    ['component'],
    ({ daemons }) => daemons.map(({ component, status }) => [{ component }, status]),
  )
  gauge(
    'ovn_status_content',
    'The servers of the cluster that a database knows. This metric is always up (1).',
    ['component', 'status'],
    ({ databases }) =>
      databases.flatMap(({ component, cluster }): readonly Series[] =>
        isClustered(cluster) ? [[{ component, status: serversOf(cluster) }, 1]] : [],
      ),
  )
  gauge('failed_req_count', 'The number of failed requests to OVN stack.', [], ({ failedRequests }) => [
    [{}, failedRequests],
  ])
  gauge(
    'log_file_size_bytes',
    'The size of a log file associated with an OVN component. The unit is Bytes.',
    ['component', 'filename'],
    ({ logs }) => logs.map(({ component, file, bytes }) => [{ component, filename: file }, bytes]),
  )
  gauge(
    'db_file_size_bytes',
    'The size of a database file associated with an OVN component. The unit is Bytes.',
    ['db_name'],
    ({ databases }) =>
      databases.flatMap(({ name, fileBytes }): readonly Series[] =>
        fileBytes === undefined ? [] : [[{ db_name: name }, fileBytes]],
      ),
  )
  gauge(
    'db_status',
    'The status of the storage of a database: (1) for ok, (0) for anything else.',
    ['db_name'],
    ({ databases }) => databases.map(({ name, isStorageOk }) => [{ db_name: name }, Number(isStorageOk)]),
  )
  gauge(
    'daemon_memory',
    'What a daemon says that it has in memory, by kind: atoms, cells, monitors, sessions, … New.',
    ['component', 'kind'],
    ({ daemons }) =>
      daemons.flatMap(({ component, memory }) =>
        Array.from(memory, ([kind, count]): Series => [{ component, kind }, count]),
      ),
  )
  gauge(
    'monitor_source_up',
    'Whether somebody whom the monitor asks answered the last time. New.',
    ['source'],
    ({ sources }) => Array.from(sources, ([source, isUp]): Series => [{ source }, Number(isUp)]),
  )
}

const ofServer = ['db_name', 'server_id', 'cluster_id']

function clusterMetrics(gauge: AddGauge): void {
  function clusters(
    { databases }: MonitorReading,
    show: (cluster: ClusterStatus) => readonly Series[],
  ): readonly Series[] {
    return databases.flatMap(({ name, cluster }): readonly Series[] => {
      if (!isClustered(cluster)) return []
      const own = { db_name: name, server_id: cluster.serverId, cluster_id: cluster.clusterId }
      return show(cluster).map(([labels, value]) => [{ ...own, ...labels }, value])
    })
  }
  const one = (name: string, help: string, value: (cluster: ClusterStatus) => number | undefined): void =>
    gauge(`cluster_${name}`, help, ofServer, (reading) =>
      clusters(reading, (cluster) => {
        const shown = value(cluster)
        return shown === undefined ? [] : [[{}, shown]]
      }),
    )
  const labelled = (
    name: string,
    help: string,
    labels: readonly string[],
    show: (cluster: ClusterStatus) => readonly Series[],
  ): void => gauge(`cluster_${name}`, help, [...ofServer, ...labels], (reading) => clusters(reading, show))

  gauge('cluster_enabled', 'Is OVN clustering enabled (1) or not (0).', ['db_name'], ({ databases }) =>
    databases.flatMap(({ name, cluster }): readonly Series[] =>
      cluster === undefined ? [] : [[{ db_name: name }, Number(isClustered(cluster))]],
    ),
  )
  labelled(
    'role',
    "A metric with a constant '1' value labeled by server role.",
    ['server_role'],
    ({ role }) => [[{ server_role: role }, 1]],
  )
  labelled(
    'status',
    "A metric with a constant '1' value labeled by server status.",
    ['server_status'],
    ({ status }) => [[{ server_status: status }, 1]],
  )
  one('term', 'The current raft term known by this server.', ({ term }) => term)
  one('leader_self', 'Is this server consider itself a leader (1) or not (0).', ({ isLeader }) =>
    Number(isLeader),
  )
  one('leader_known', 'Whether this server knows who leads (1) or not (0). New.', ({ knowsLeader }) =>
    Number(knowsLeader),
  )
  one('vote_self', 'Is this server voted itself as a leader (1) or not (0).', ({ hasOwnVote }) =>
    Number(hasOwnVote),
  )
  one('election_timer', 'The current election timer value.', ({ electionTimerMs }) => electionTimerMs)
  one(
    'log_not_committed',
    'The number of log entries not yet committed by this server.',
    ({ notCommitted }) => notCommitted,
  )
  one(
    'log_not_applied',
    'The number of log entries not yet applied by this server.',
    ({ notApplied }) => notApplied,
  )
  one(
    'log_index_start',
    'The log entry index start value associated with this server.',
    ({ log }) => log.start,
  )
  one('log_index_next', 'The log entry index next value associated with this server.', ({ log }) => log.next)
  for (const [isInbound, word, way] of [
    [true, 'inbound', 'inbound connections to'],
    [false, 'outbound', 'outbound connections from'],
  ] as const) {
    const count = ({ connections }: ClusterStatus, isConnected: boolean): number =>
      connections.filter((one) => one.isInbound === isInbound && one.isConnected === isConnected).length
    one(`${word}_connections_total`, `The total number of ${way} the server.`, (cluster) =>
      count(cluster, true),
    )
    one(`${word}_connections_error_total`, `The total number of failed ${way} the server.`, (cluster) =>
      count(cluster, false),
    )
    labelled(
      `${word}_peer_connected`,
      isInbound
        ? 'This metric appears when a cluster peer is connected to this server. This metric is always 1.'
        : 'This metric appears when this server connects to a cluster peer. This metric is always 1.',
      ['peer_id', 'peer_address'],
      ({ connections, servers }) =>
        peersOf(servers)
          .filter(({ id }) =>
            connections.some((to) => to.isInbound === isInbound && to.isConnected && to.peer === id),
          )
          .map(({ id, address }) => [{ peer_id: id, peer_address: address }, 1]),
    )
  }
  one(
    'disconnections',
    'How often connections to peers were lost since the server started. New.',
    ({ disconnections }) => disconnections,
  )
  one(
    'peer_count',
    "The total number of peers in this server's cluster.",
    ({ servers }) => peersOf(servers).length,
  )
  for (const [field, word] of [
    ['nextIndex', 'next'],
    ['matchIndex', 'match'],
  ] as const) {
    one(
      `${word}_index`,
      `The raft's ${word} index associated with this server.`,
      ({ servers }) => servers.find(({ isSelf }) => isSelf)?.[field],
    )
    labelled(
      `peer_${word}_index`,
      `The raft's ${word} index associated with this cluster peer.`,
      ['peer_id'],
      ({ servers }) =>
        peersOf(servers).flatMap(({ id, [field]: index }): readonly Series[] =>
          index === undefined ? [] : [[{ peer_id: id }, index]],
        ),
    )
  }
}

function objectMetrics(gauge: AddGauge): void {
  gauge(
    'chassis_info',
    'The information about the chassis. This metric is always up (1).',
    ['uuid', 'name', 'ip'],
    // The label is the host of the chassis, as upstream has it.
    ({ southbound }) => (southbound?.chassis ?? []).map((chassis): Series => [{ ...chassis }, 1]),
  )
  gauge(
    'logical_switch_info',
    'The information about OVN logical switch. This metric is always up (1).',
    ['uuid', 'name'],
    (reading) => switches(reading, ({ uuid, name }) => [[{ uuid, name }, 1]]),
  )
  gauge(
    'logical_switch_external_id',
    'Provides the external IDs and values associated with OVN logical switches. This metric is always up (1).',
    ['uuid', 'key', 'value', 'logical_switch_name'],
    (reading) =>
      switches(reading, ({ uuid, name, externalIds }) =>
        Object.entries(externalIds).map(([key, value]) => [
          { uuid, key, value, logical_switch_name: name },
          1,
        ]),
      ),
  )
  gauge(
    'logical_switch_tunnel_key',
    'The value of the tunnel key associated with the logical switch.',
    ['uuid', 'logical_switch_name'],
    (reading) =>
      switches(reading, ({ uuid, name, tunnelKey }) =>
        tunnelKey === undefined ? [] : [[{ uuid, logical_switch_name: name }, tunnelKey]],
      ),
  )
  gauge(
    'logical_switch_ports_num',
    'The number of logical switch ports connected to the OVN logical switch.',
    ['uuid', 'logical_switch_name'],
    (reading) =>
      switches(reading, ({ uuid, name, ports }) => [[{ uuid, logical_switch_name: name }, ports.length]]),
  )
  gauge(
    'logical_objects',
    'Rows of a table of the Northbound or the Southbound. New.',
    ['db_name', 'table'],
    ({ northbound, southbound }) =>
      Object.entries({ OVN_Northbound: northbound, OVN_Southbound: southbound }).flatMap(([database, has]) =>
        Array.from(has?.rows ?? [], ([table, count]): Series => [{ db_name: database, table }, count]),
      ),
  )
  gauge(
    'inconsistent_objects',
    'Objects that contradict what another database has, by kind. New.',
    ['kind'],
    ({ inconsistent }) => Array.from(inconsistent, ([kind, { count }]): Series => [{ kind }, count]),
  )
  gauge(
    'inconsistent_seconds',
    'How long one and the same object has contradicted what another database has: that of the oldest, by kind. New.',
    ['kind'],
    ({ inconsistent }) => Array.from(inconsistent, ([kind, { seconds }]): Series => [{ kind }, seconds]),
  )
  gauge(
    'configuration_sequence',
    'How far a configuration that somebody waits for has come: nb asked, sb done by ovn-northd, hv done by all chassis. New.',
    ['place'],
    ({ northbound }) =>
      Array.from(northbound?.configurations ?? [], ([place, sequence]): Series => [{ place }, sequence]),
  )
}

function portMetrics(registry: Registry, hostname: string, ports: () => Iterable<SwitchPortReading>): void {
  function gauge(
    name: string,
    help: string,
    labels: readonly string[],
    show: (port: SwitchPortReading) => Series | undefined,
  ): void {
    const labelNames = ['hostname', ...labels]
    const configuration = {
      name: `kube_ovn_logical_switch_port_${name}`,
      help,
      labelNames,
      registers: [registry],
    }
    new WrittenGauge(configuration, function* (): Generator<Series> {
      for (const port of ports()) {
        const series = show(port)
        if (series !== undefined) yield series
      }
    })
  }
  gauge(
    'binding',
    'Provides the association between a logical switch and a logical switch port. This metric is always up (1).',
    ['uuid', 'port', 'logical_switch_name'],
    ({ uuid, switchUuid, switchName }) => [
      { hostname, uuid: switchUuid, port: uuid, logical_switch_name: switchName },
      1,
    ],
  )
  gauge(
    'info',
    'The information about OVN logical switch port. This metric is always up (1).',
    [
      'uuid',
      'name',
      'chassis',
      'logical_switch_name',
      'datapath',
      'port_binding',
      'mac_address',
      'ip_address',
    ],
    ({ uuid, name, switchName, mac, ip, binding }) => [
      {
        ...{ hostname, uuid, name, chassis: binding?.chassis ?? '', logical_switch_name: switchName },
        ...{ datapath: binding?.datapath ?? '', port_binding: binding?.uuid ?? '' },
        ...{ mac_address: mac, ip_address: ip },
      },
      1,
    ],
  )
  gauge(
    'tunnel_key',
    'The value of the tunnel key associated with the logical switch port.',
    ['uuid', 'logical_switch_name', 'port_name'],
    ({ uuid, name, switchName, binding }) =>
      binding && [{ hostname, uuid, logical_switch_name: switchName, port_name: name }, binding.tunnelKey],
  )
}

function* switches(
  { northbound }: MonitorReading,
  show: (one: SwitchReading) => readonly Series[],
): Generator<Series> {
  for (const one of northbound?.switches ?? []) yield* show(one)
}

function isClustered(cluster: DatabaseReading['cluster']): cluster is ClusterStatus {
  return cluster !== undefined && cluster !== 'standalone'
}

function peersOf(servers: ClusterStatus['servers']): ClusterStatus['servers'] {
  return servers.filter(({ isSelf }) => !isSelf)
}

/** Without what changes from one moment to the next: each of these would be a series of its own. */
function serversOf({ servers }: ClusterStatus): string {
  return servers.map(({ id, address, isSelf }) => `${id} at ${address}${isSelf ? ' (self)' : ''}`).join('; ')
}
